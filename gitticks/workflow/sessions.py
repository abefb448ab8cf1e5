"""What the start and the end of an agent's process mean for its task, and what a spent budget means."""

from __future__ import annotations

from dataclasses import replace

from gitticks.errors import RefusedError
from gitticks.model.event import ENGINE, EventType
from gitticks.model.notes import ReviewOutcome, Section
from gitticks.model.spending import Level, Metric, Scope, Spent, in_words
from gitticks.model.status import BUDGET_SPENT, REVIEWER_CRASHED, Awaiting, Role, Status
from gitticks.model.task import KEPT_FROM_WORK, Ending, Task
from gitticks.workflow import budget, gates, merging, reviews
from gitticks.workflow.approvals import WAIVED
from gitticks.workflow.artifacts import strangers_that_count
from gitticks.workflow.decision import Draft, Turn, awaits_hands, is_turn_of, whose_turn
from gitticks.workflow.signals import ASKED, Signal, SignalKind
from gitticks.workflow.transitions import Gate
from gitticks.workflow.triggers import BudgetCounted, SessionEnded, SessionStarted

MOST_CRASHES = 2
MOST_REFUSALS = 2
MOST_OVERFLOWS = 3
MOST_INTERRUPTIONS = 10
"""A machine that goes down at night is no reason to give a task up; one that takes its runner down each time is."""
MOST_DENIED = 10
FEEDBACKS_BEFORE_CRASH = 2

_CUT_OFF = KEPT_FROM_WORK | {Ending.INTERRUPTED}
"""Endings that are not the agent's fault: what was finished before advances, what is missing is never counted."""

_SAME = {
    Status.AGENT_REVIEW: {SignalKind.COMPLETE},
    Status.REVIEWING: {SignalKind.COMPLETE},
    Status.CLARIFICATION: {SignalKind.INPUT_NEEDED, SignalKind.ESCALATE},
}
"""What a worker's signal may repeat of the request by which it moved its task."""

_QUESTIONS = (SignalKind.INPUT_NEEDED, SignalKind.ESCALATE)

_PERSON_FOR = {
    **{kind: asked.awaiting for kind, asked in ASKED.items()},
    SignalKind.INPUT_NEEDED: Awaiting.INPUT,
    SignalKind.ESCALATE: Awaiting.ESCALATION,
    SignalKind.CHECKPOINT: Awaiting.CHECKPOINT,
    SignalKind.EJECT: Awaiting.WORK,
}
"""What a person is asked for by a worker's signal."""


def current_round(task: Task, role: Role) -> int:
    """Returns the round that a session of this role started now belongs to; rounds count from 1."""
    return task.review_round if role is Role.REVIEWER else task.review_round + 1


def _next_step(task: Task, *, is_parted: bool) -> str:
    if is_parted:
        return f"`gt tree {task.id}`"
    return f'`gt respond {task.id} "…"`' if task.status is Status.CLARIFICATION else f"`gt show {task.id}`"


def start(draft: Draft, started: SessionStarted) -> None:
    """Puts a pending task to work and binds it to the commit that work begins at.

    What awaits a person's work is started by people alone, and keeps awaiting it: no agent takes it over from them.
    """
    task = draft.task
    by_person = started.actor.is_human and started.role is Role.WORKER and awaits_hands(task)
    if not by_person and not is_turn_of(task, started.role):
        is_parted = task.is_epic and task.is_open
        raise RefusedError(
            f"no {started.role} can start on `{task.id}`: it is {task.status.words}"
            + (f" and awaits {task.awaiting}" if task.awaiting else "")
            + ("; an epic is worked on through its children" if is_parted else ""),
            hint=_next_step(task, is_parted=is_parted),
        )
    is_given_branch = task.branch is None and started.branch is not None
    has_left_epic = task.sharing_epic is not None and started.branch not in (None, task.branch)
    if (task.start_sha is None or is_given_branch or has_left_epic) and started.role is Role.WORKER:
        draft.task = replace(
            # Both are of the work on the epic's branch.
            replace(task, end_sha=None, agent_sessions={}) if has_left_epic else task,
            base=started.base or task.base,
            branch=started.branch or task.branch,
            start_sha=started.start_sha,
        )
    if task.status is Status.PENDING:
        cause = EventType.MOVED if started.actor.is_human else EventType.ADVANCED
        origin = draft.task.origin
        where = f", {origin}@{started.start_sha[:7]}" if origin and started.start_sha else ""
        starter = started.actor if started.actor.is_human else ENGINE
        draft.enter(Status.WORKING, cause, f"{started.actor.name}{where}", actor=starter)
        if by_person:
            draft.await_person(Awaiting.WORK, "a person does the work")
    data: dict[str, str | list[str]] = {"role": started.role.value, "agent": started.actor.name}
    if started.started_by:
        data["by"] = started.started_by
    if strangers := strangers_that_count(task, started.strangers):
        data["strangers"] = list(strangers)
    draft.log(EventType.SESSION_STARTED, data=data)


def end(draft: Draft, ended: SessionEnded) -> None:
    """Applies the signal, else the artifacts, of an agent whose process ended."""
    for warning in ended.warnings:
        draft.log(EventType.WARNED, warning)
    before = draft.task.status
    counts = _apply_end(draft, ended) and ended.role is Role.WORKER
    if counts and draft.task.status is before and draft.task.awaiting is None:
        _limit_iterations(draft, ended)
    _limit_spending(draft, ended)
    told = {
        # A task's `usage` tells only of all sessions together.
        **ended.spent._replace(iterations=0)._asdict(),
        "estimated": ended.is_estimate,
        "cost_source": ended.cost_source,
        "blocking": list(ended.blocking),
        "denied": list(dict.fromkeys(ended.denied))[:MOST_DENIED],
    }
    draft.log(
        EventType.SESSION_ENDED,
        ended.detail,
        data={
            "role": ended.role.value,
            "round": ended.round,
            "ending": ended.ending.value,
            "iteration": counts and draft.task.status is before,
            **_resumable(ended),
            **{name: value for name, value in told.items() if value},
        },
    )


def _resumable(ended: SessionEnded) -> dict[str, str | int]:
    """Returns what has to be known of the agent's own session if it is to continue later."""
    found: dict[str, str | int] = {}
    if ended.session_id is not None:
        found["session"] = ended.session_id
    if ended.counted is not None:
        found["counted_in"], found["counted_out"] = ended.counted
    return found


def _apply_end(draft: Draft, ended: SessionEnded) -> bool:
    """Returns whether this end counts at all."""
    unfinished = ended.ending is Ending.STOPPED or (
        ended.ending in _CUT_OFF and not _has_result(draft, ended)
    )
    if unfinished or not _is_current(draft.task, ended):
        if not _ask_after_all(draft, ended):
            _keep_words(draft, ended.signal)
            _warn_if_late(draft, ended)
        is_interrupted = ended.ending is Ending.INTERRUPTED and _is_current(draft.task, ended)
        if is_interrupted and draft.counts.interruptions + 1 >= MOST_INTERRUPTIONS:
            draft.give_up(
                f"{_who(ended)} was interrupted {MOST_INTERRUPTIONS} times in a row: its runner died"
            )
        return False
    if ended.ending in (Ending.REFUSED, Ending.START_FAILED):
        _refuse(draft, ended)
    elif ended.role is Role.REVIEWER:
        _end_review(draft, ended)
    elif ended.signal is not None:
        _obey(draft, ended.signal)
    elif draft.artifacts.handoff:
        _hand_off(draft)
    elif ended.ending is Ending.CONTEXT_FULL:
        _overflow(draft, ended)
    elif ended.ending is not Ending.CLEAN:
        _crash(draft, ended.detail or ended.ending.value)
    return True


def _is_current(task: Task, ended: SessionEnded) -> bool:
    """True if it is still this session's turn; only a start can have failed while the task is pending."""
    begun = task.status is not Status.PENDING or ended.ending is Ending.START_FAILED
    return (
        begun
        and ended.role is not Role.CLARIFIER
        and is_turn_of(task, ended.role)
        and ended.round == current_round(task, ended.role)
    )


def _has_result(draft: Draft, ended: SessionEnded) -> bool:
    """True if an aborted session had already produced everything its end needs."""
    if ended.role is Role.REVIEWER:
        return draft.artifacts.review in (ReviewOutcome.PASS, ReviewOutcome.FAIL)
    signal = ended.signal
    if signal is None or signal.kind.asks_for_review:
        return _missing_handoff(draft) is None
    if signal.kind in _QUESTIONS:
        return bool(signal.text) or draft.artifacts.open_question
    return signal.kind in (SignalKind.CHECKPOINT, SignalKind.EJECT)


def _keep_words(draft: Draft, signal: Signal | None) -> None:
    if signal is not None and signal.text:
        draft.add_entry(Section.NOTES, signal.text)
    if signal is not None and signal.issues:
        draft.add_entry(Section.NOTES, "\n".join(f"- {issue}" for issue in signal.issues))


def _ask_after_all(draft: Draft, ended: SessionEnded) -> bool:
    """Asks the person for whom a worker's last words ask, though it had handed off by command; True if that is still of use.

    Where a person is asked already, or has answered, nothing is left to do.
    """
    task, signal = draft.task, ended.signal
    awaiting = signal and _PERSON_FOR.get(signal.kind)
    is_of_this_round = ended.role is Role.WORKER and ended.round == task.review_round
    is_waived = task.is_merging and task.approval is not None and task.approval.strength == WAIVED
    is_in_review = task.status is Status.AGENT_REVIEW and task.awaiting is None
    if signal is None or awaiting is None or not is_of_this_round or not (is_waived or is_in_review):
        return False
    kind = signal.kind
    draft.log(EventType.WARNED, f"the signal `{kind}` came after the hand-off: a person is asked")
    if kind in _QUESTIONS:
        _write_question(draft, signal)
    else:
        _keep_words(draft, signal)
    if kind.asked:
        draft.task = replace(task, asked=kind.asked, pr=signal.url or task.pr)
    if is_waived:
        merging.ask_again(draft, f"the agent said {kind} after its hand-off")
    elif not kind.asked:
        draft.await_person(awaiting, signal.text or None)
    return True


def _warn_if_late(draft: Draft, ended: SessionEnded) -> None:
    """Warns of a signal that differs from the request by which the task had moved on before."""
    status, signal = draft.task.status, ended.signal
    if ended.role is Role.WORKER and signal is not None and signal.kind not in _SAME.get(status, SignalKind):
        draft.log(EventType.WARNED, f"the signal `{signal.kind}` came too late: the task was {status.words}")


def _refuse(draft: Draft, ended: SessionEnded) -> None:
    kind = EventType.REFUSED if ended.ending is Ending.REFUSED else EventType.START_FAILED
    reason = ended.detail or ended.ending.value
    draft.log(kind, reason)
    if not ended.has_fallback and draft.counts.refusals + 1 >= MOST_REFUSALS:
        what = "refused" if ended.ending is Ending.REFUSED else "could not be started"
        draft.give_up(f"{_who(ended)} {what}: {reason}" if ended.role is Role.REVIEWER else reason)


def _who(ended: SessionEnded) -> str:
    """Returns how a reason begins; by a reviewer's, people are told how to ask for another review."""
    return f"{REVIEWER_CRASHED}`{ended.actor.name}`" if ended.role is Role.REVIEWER else "the agent"


def _obey(draft: Draft, signal: Signal) -> None:
    kind = signal.kind
    if kind in _QUESTIONS:
        _ask(draft, signal)
        return
    if kind is SignalKind.FAILED:
        _keep_words(draft, signal)
        _crash(draft, signal.text or "the agent reported a failure")
        return
    _keep_words(draft, signal)
    if kind.asks_for_review:
        draft.task = replace(
            draft.task, asked=kind.asked, pr=signal.url if kind.asked and signal.url else draft.task.pr
        )
        _hand_off(draft)
    elif kind is not SignalKind.CONTINUE:
        draft.await_person(_PERSON_FOR[kind], signal.text or None)


def _ask(draft: Draft, signal: Signal) -> None:
    if not (signal.text or signal.context or draft.artifacts.open_question):
        _fail_gate(draft, "question", f"`{signal.kind}` came without a question")
        return
    _write_question(draft, signal)
    awaiting, reason = _PERSON_FOR[signal.kind], signal.text or None
    draft.enter(Status.CLARIFICATION, EventType.ADVANCED, reason, awaiting=awaiting, actor=ENGINE)


def _write_question(draft: Draft, signal: Signal) -> None:
    question = "\n\n".join(part for part in (signal.text, signal.context) if part)
    if question:
        draft.add_entry(Section.QUESTIONS, question)
        draft.log(EventType.ASKED, signal.text or None)
    _keep_words(draft, signal._replace(text=""))


def _hand_off(draft: Draft) -> None:
    lacking = _missing_handoff(draft)
    if lacking is None:
        draft.enter(Status.AGENT_REVIEW, EventType.ADVANCED, "hand-off", actor=ENGINE)
        draft.run_on()
        return
    draft.task = replace(draft.task, asked=None)
    _fail_gate(draft, "checks" if draft.artifacts.handoff else "handoff", lacking)


def _missing_handoff(draft: Draft) -> str | None:
    return gates.missing(Gate.HANDOFF, draft.task, draft.artifacts, draft.policy, draft.actor)


def _fail_gate(draft: Draft, gate: str, reason: str) -> None:
    draft.log(EventType.GATE_FAILED, reason, actor=ENGINE, data={"gate": gate})
    if gate == "checks" and draft.counts.failed_checks >= FEEDBACKS_BEFORE_CRASH:
        _crash(draft, reason, f"checks failed {draft.counts.failed_checks + 1} times")


def _limit_iterations(draft: Draft, ended: SessionEnded) -> None:
    """Leaves the task to the next iteration, if the limit allows one."""
    used = draft.counts.iterations + 1
    if used >= draft.policy.iterations:
        failure = draft.artifacts.checks_failure
        lacking = f", the last hand-off refused: {failure}" if failure else " without a hand-off"
        last = (
            f"; the last session: {ended.detail}" if ended.detail and ended.ending is not Ending.CLEAN else ""
        )
        draft.give_up(f"{used} iteration{'' if used == 1 else 's'}{lacking}{last}")


def _overflow(draft: Draft, ended: SessionEnded) -> None:
    """Leaves the task to another session, whose prompt is shorter, unless that has not helped before."""
    if draft.counts.overflows + 1 >= MOST_OVERFLOWS:
        draft.give_up(f"{_who(ended)}'s context window was full {MOST_OVERFLOWS} times in a row")


def _crash(draft: Draft, reason: str, what: str = "crashed") -> None:
    task = draft.task = replace(draft.task, crash_count=draft.task.crash_count + 1)
    draft.log(EventType.CRASHED, reason, data={"status": task.status.value, "crash_count": task.crash_count})
    if task.crash_count >= MOST_CRASHES:
        draft.enter(Status.STUCK, EventType.ADVANCED, f"{what}: {reason}", actor=ENGINE)


def _end_review(draft: Draft, ended: SessionEnded) -> None:
    _keep_words(draft, ended.signal)
    if draft.head_moved:
        merging.void(draft, str(draft.artifacts.head))
    elif draft.artifacts.review is ReviewOutcome.PASS:
        reviews.pass_review(draft, EventType.ADVANCED)
    elif draft.artifacts.review is ReviewOutcome.FAIL:
        reviews.fail_review(draft, EventType.ADVANCED)
    elif ended.ending is Ending.CONTEXT_FULL:
        _overflow(draft, ended)
    else:
        _crash(draft, ended.detail or "the review has no verdict", f"{_who(ended)} crashed")


def count_budget(draft: Draft, counted: BudgetCounted) -> None:
    """Stops what has spent its budget: a task is stuck, an epic awaits a person, who grants as much again."""
    turn = whose_turn(draft.task)
    goes_on = draft.task.status in (Status.PENDING, Status.WORKING) and turn in (Turn.WORKER, Turn.CHILDREN)
    stopped = budget.stopping(counted.readings, Role.WORKER) if goes_on else None
    # An epic that waits for a person already is stopped later, by a stop of its own: only that lets a person grant more.
    reached = [
        one
        for one in counted.reached
        if stopped is not None or not draft.task.is_epic or one.level is not Level.SPENT
    ]
    if stopped is not None and stopped not in reached:
        reached.append(stopped)
    for one in reached:
        draft.log(
            EventType.BUDGET,
            f"{one.percent} % of `budget.{one.scope}.{one.metric}`: {one.words}",
            actor=ENGINE,
            data=budget.reached_data(one, counted.total),
        )
    if stopped is None:
        return
    on = counted.on or _other_figures(counted.total, stopped.metric)
    reason = f"{BUDGET_SPENT}{stopped.scope}.{stopped.metric}` is spent: {stopped.words}, {on}"
    if turn is Turn.WORKER:
        draft.give_up(reason)
        return
    draft.await_person(Awaiting.ESCALATION, reason, actor=ENGINE)


def _limit_spending(draft: Draft, ended: SessionEnded) -> None:
    """Counts a session into its task's budget; one that is spent makes the task stuck once more work is needed."""
    limits = draft.policy.budget
    before = draft.counts.spent
    after = before.plus(budget.spent_of(ended.spent, ended.role, ended.ending.value))
    readings = budget.read(Scope.TASK, after, limits)
    reached = budget.newly_reached(budget.read(Scope.TASK, before, limits), readings)
    count_budget(draft, BudgetCounted(readings, after, reached=reached))


def _other_figures(spent: Spent, named: Metric) -> str:
    parts = [
        in_words(metric, spent.of(metric))
        for metric in (Metric.ITERATIONS, Metric.TOKENS, Metric.COST)
        if metric is not named and spent.of(metric)
    ]
    return ", ".join([*parts, f"{in_words(Metric.DURATION, spent.seconds)} of agent time"])


def wants_checks(task: Task, ended: SessionEnded, *, handoff: bool) -> bool:
    """True if this end of a session asks for the hand-off, so that the quality gates are worth running."""
    if ended.role is not Role.WORKER or not _is_current(task, ended):
        return False
    if ended.ending in (Ending.STOPPED, Ending.REFUSED, Ending.START_FAILED):
        return False
    return handoff and (ended.signal is None or ended.signal.kind.asks_for_review)
