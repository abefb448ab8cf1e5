"""The end of a session, live or of a dead runner: read, check, decide, write in one commit."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import datetime

from gitticks.agents.base import AgentReport
from gitticks.agents.process import StopRequest
from gitticks.bugs import failure_of_task
from gitticks.document.taskfile import TaskFile
from gitticks.errors import GitticksError, NotFoundError, RefusedError
from gitticks.git.refs import is_object_id
from gitticks.model.event import Actor, Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.notes import Section
from gitticks.model.status import ActorKind, Role, Status
from gitticks.model.task import Ending, SessionRecord, Task
from gitticks.runner import mailbox
from gitticks.runner.budgets import count_into_epics, reached_in, with_spending
from gitticks.runner.checkpoints import Capture, capture_if_due
from gitticks.runner.commit_checks import find_moved_base
from gitticks.runner.context import RunContext
from gitticks.runner.events import BudgetReached, ChecksEnded, TaskMoved, Warned
from gitticks.runner.mailbox import Delivery
from gitticks.runner.outbox import Request
from gitticks.runner.permissions import refusals
from gitticks.runner.places.place import SessionResult, Work
from gitticks.runner.renamed_work import present_id
from gitticks.runner.scratchpad import add_entry, add_failure
from gitticks.runner.verifiers import ChecksReport
from gitticks.runner.worklog import WorklogEntry, append_entry
from gitticks.sandbox.client_files import put_back_noted
from gitticks.store import layout
from gitticks.store.audit import PendingAudit
from gitticks.store.branch import Store
from gitticks.store.decisions import Circumstances, carry_out
from gitticks.store.left_behind import end_watch
from gitticks.store.transaction import Transaction
from gitticks.workflow.budget import iteration_number, iterations_of, spent_of
from gitticks.workflow.council import blocking_in
from gitticks.workflow.decision import Decision, is_turn_of
from gitticks.workflow.sessions import MOST_DENIED, wants_checks
from gitticks.workflow.signals import read_signal
from gitticks.workflow.triggers import CouncilUndecided, Requested, SessionEnded

TAKEN = "taken"
"""In an event: the digest of the section that was taken from an agent before its session ended."""


def _write_end(
    transaction: Transaction,
    task_id: TaskId,
    ended: SessionEnded,
    report: AgentReport,
    work: Work,
    *,
    capture: Capture | None,
    audit: PendingAudit,
    circumstances: Circumstances,
) -> tuple[Decision, ...]:
    """Writes what a session left and what follows from it, for the task and then for the epics that it counts into."""
    audit.write(transaction)
    name, warnings = ended.actor.name, (*work.delivery.warnings, *report.warnings)
    delivery = replace(work.delivery, warnings=warnings)
    take_delivery(transaction, task_id, ended.actor, delivery, circumstances)
    for reviewer, text in delivery.answers.items():  # a council's, with their round
        names = transaction.list(layout.rounds_folder(task_id))
        path = layout.next_round_path(names, task_id, f"review-{reviewer}")
        transaction.write(path, f"{text.strip()}\n".encode())
    left = None
    if delivery.undecided and is_turn_of(transaction.task_file(task_id).task, Role.REVIEWER):
        left = carry_out(transaction, task_id, CouncilUndecided(delivery.undecided), circumstances)
    # First, since a checkpoint that the decision may ask for records the usage.
    file = transaction.task_file(task_id)
    sessions = dict(file.task.agent_sessions)
    if report.session_id is not None and ended.role is Role.WORKER:
        sessions[name] = report.session_id
    iteration = iteration_number(file.task.usage, ended.role)
    counted = iterations_of(ended.role, ended.ending.value)
    usage = file.task.usage.plus(report.spent._replace(iterations=counted))
    transaction.put_task(file.with_task(replace(file.task, usage=usage, agent_sessions=sessions)))
    _learn(transaction, task_id, circumstances, delivery.learnings, name)
    decision = carry_out(transaction, task_id, ended, circumstances)
    if left is not None:
        decision = decision._replace(events=(*left.events, *decision.events))
    entry = WorklogEntry(circumstances.at, iteration, ended.role, name, report, ended.signal, work.checks)
    path = layout.worklog_path(task_id)
    before = (transaction.read(path) or b"").decode("utf-8", "replace")
    transaction.write(path, append_entry(before, entry).encode())
    if capture is not None:
        capture.write(transaction, decision.task, circumstances.at)
    spent = spent_of(ended.spent, ended.role, ended.ending.value)
    return decision, *count_into_epics(transaction, task_id, spent, circumstances)


def write_request(
    transaction: Transaction,
    task_id: TaskId,
    requested: Requested,
    delivery: Delivery,
    circumstances: Circumstances,
) -> Decision:
    """Writes what an agent has done so far and what it asks for by command."""
    take_delivery(transaction, task_id, requested.actor, delivery, circumstances)
    _learn(transaction, task_id, circumstances)
    return carry_out(transaction, task_id, requested, circumstances)


def take_delivery(
    transaction: Transaction,
    task_id: TaskId,
    actor: Actor,
    delivery: Delivery,
    circumstances: Circumstances,
) -> None:
    """Takes the sections and entries that an agent may write into the task's file."""
    file = transaction.task_file(task_id)
    role = actor.role or Role.WORKER
    is_persons = _is_persons(file, delivery, role, transaction.history(task_id))
    taken, odd = mailbox.take(file, delivery, role, circumstances.at, actor.name, is_persons=is_persons)
    if taken.data != file.data:
        transaction.put_task(taken)
    warnings = (*delivery.warnings, *odd)
    events = [
        Event(EventType.WARNED, circumstances.at, actor, reason=warning)
        for warning in dict.fromkeys(warnings)
    ]
    transaction.append_events(task_id, events)


def _is_persons(file: TaskFile, delivery: Delivery, role: Role, history: tuple[Event, ...]) -> bool:
    """True if the role's own section was written since its session began, and not at the agent's own request."""
    own = mailbox.OWN_SECTION.get(role)
    present = None if own is None else file.section(own)
    if own is None or present is None:
        return False
    begun = max((index for index, event in enumerate(history) if event.begins(role)), default=0)
    since = history[begun:]
    if any(event.data.get(TAKEN) == digest_of(present) for event in since):
        return False
    return present != delivery.given or any(event.is_edit_of(own) for event in since)


def digest_of(text: str) -> str:
    """Returns what tells a text from others, for an event's `TAKEN`."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _learn(
    transaction: Transaction, task_id: TaskId, circumstances: Circumstances, learnings: str = "", by: str = ""
) -> None:
    """Adds what an agent learned, and the check that failed, to the scratchpad, which the tasks of an epic share."""
    failure = circumstances.checks_failure or ""
    if not learnings.strip() and not failure:
        return
    task = transaction.task_file(task_id).task
    path = layout.scratchpad_path(task.parent or task.id)
    before = (transaction.read(path) or b"").decode("utf-8", "replace")
    after = add_entry(before, learnings, at=circumstances.at, source=f"{task.id} · {by}")
    after = add_failure(after, failure, at=circumstances.at, source=f"{task.id} · checks")
    if after != before:
        transaction.write(path, after.encode())


def session_ended(
    actor: Actor, role: Role, number: int, report: AgentReport, *, has_fallback: bool = False
) -> SessionEnded:
    """Returns the end of a session of round `number`, with the signal of its agent that counts."""
    total = report.total_usage
    reading = read_signal(report.text, on_own_lines=report.signals_on_own_lines)
    return SessionEnded(
        actor,
        role,
        number,
        report.ending,
        reading.signal,
        reading.warnings,
        report.detail or None,
        report.session_id,
        None if total is None else (total.tokens_in, total.tokens_out),
        report.spent,
        report.is_estimate,
        report.denied,
        report.cost_source,
        has_fallback,
    )


def with_stop(report: AgentReport, work: Work) -> AgentReport:
    """Returns a report as it counts: who stopped the checks stopped the session, neither its hand-off nor a failure counts."""
    is_stopped = work.checks is not None and work.checks.is_stopped
    return replace(report, ending=Ending.STOPPED) if is_stopped else report


def finish_session(
    run: RunContext,
    store: Store,
    task_id: TaskId,
    ended: SessionEnded,
    report: AgentReport,
    *,
    result: SessionResult,
) -> tuple[Decision, tuple[BudgetReached, ...]]:
    """Judges what an agent left and writes it, whatever the state has become meanwhile.

    Returns the decision, and the budget levels that were reached by it.
    """
    work, checks = result.work, result.work.checks
    file = store.task_file(task_id)
    before = file.task
    tell_checks(run, task_id, checks)
    capture = capture_if_due(run, store, before, ended, result)
    for warning in (*work.warnings, *report.warnings):
        run.emit(Warned(task_id, warning))
    waiver = run.staff.waiver(file)
    circumstances = run.circumstances(head=work.head, review_waiver=waiver, checks=checks)
    audit = PendingAudit(run.repository.own_dir, task_id)
    by_client, by_us = refusals(ended.denied, audit.entries())
    ended = ended._replace(denied=(*by_client, *by_us), blocking=blocking_in(work.delivery.review))
    decision, *of_epics = run.transact(
        lambda transaction: _write_end(
            transaction,
            task_id,
            ended,
            report,
            work,
            capture=capture,
            audit=audit,
            circumstances=circumstances,
        ),
        store,
    )
    audit.forget()
    if audit.torn:
        run.emit(Warned(task_id, "a line of its audit was cut off by a crash and is ignored"))
    run.sessions.note_left(task_id, ended.ending if is_turn_of(decision.task, ended.role) else None)
    if capture is not None:
        capture.settle()
        run.tell_checkpoint(capture.written)
    if result.workspace is not None:
        try:
            run.place.settle(result.workspace, decision.task)
        except GitticksError as error:
            kept = f"its uncommitted work stays in {result.workspace.path}: {error.message}"
            run.emit(Warned(task_id, kept))
    if by_client:  # the others were told when they were refused
        shown = ", ".join(f"`{one}`" for one in dict.fromkeys(by_client[:MOST_DENIED]))
        run.emit(Warned(task_id, f"`{ended.actor.name}` was not allowed: {shown}"))
    if ended.ending is not Ending.STOPPED or is_turn_of(before, ended.role):
        # A session that was stopped since its task had moved on: that move was told when it was made.
        run.tell(before, decision)
    elif before.is_cancelled:  # which no agent asks for, so that nobody has told it
        _tell_cancelled(run, before, store.history(task_id))
    return decision, reached_in((decision, *of_epics))


def _tell_cancelled(run: RunContext, task: Task, history: tuple[Event, ...]) -> None:
    for event in reversed(history):
        if event.to_status is Status.CANCELLED and event.from_status is not None:
            moved = (event.from_status, Status.CANCELLED, None, event.reason, event.actor.name)
            run.emit(TaskMoved(task.id, task.title, *moved))
            return


def look_for_left_behind(
    run: RunContext, actor: Actor, task: Task, since: datetime, base_began_at: str | None = None
) -> None:
    """Tells, and writes into the history, what a session changed in the repository's own folder, or of the task's base."""
    others = [str(one) for one in run.sessions.live() if one != task.id]
    found = end_watch(run.repository, task.id, others)
    reasons = [one.words for one in found]
    for words in reasons:
        run.emit(Warned(task.id, f"{words}: nothing of it runs as you until `gt trust`"))
    # Where there is no workspace, the base is not known, and an agent may well commit to it.
    moved = task.base and find_moved_base(run.repository, task.base, since, base_began_at)
    # A session that is recovered may have told of it already.
    if moved and moved not in {event.reason for event in run.open_store().history(task.id)}:
        run.emit(Warned(task.id, moved))
        reasons.append(moved)
    if not reasons:
        return
    events = [Event(EventType.WARNED, run.now, actor, reason=words) for words in reasons]
    run.transact(lambda transaction: transaction.append_events(task.id, events))


def has_handoff(present: TaskFile, delivery: Delivery) -> bool:
    """True if there is a hand-off; a person may have written it while the agent worked."""
    return delivery.handoff is not None or present.section(Section.HANDOFF) is not None


def tell_checks(run: RunContext, task_id: TaskId, checks: ChecksReport | None) -> None:
    """Reports what the gates found, if they ran to their end."""
    if checks is None:
        return
    if not checks.is_stopped:
        run.emit(ChecksEnded(task_id, checks.words, checks.failure))
    if checks.left:
        run.emit(Warned(task_id, f"the checks left files behind: {', '.join(checks.left[:5])}"))


def recover(run: RunContext) -> list[TaskId]:
    """Finishes every dead session of this clone and returns their tasks, oldest session first."""
    return [record.task for record in run.sessions.dead() if _try_to_recover(run, record)]


def _try_to_recover(run: RunContext, record: SessionRecord) -> bool:
    """Finishes a dead session; one that cannot be finished now stays, and does not keep the others from it."""
    try:
        return recover_session(run, record, StopRequest()) is not None
    except Exception as error:  # noqa: BLE001 - a bug with one session is reported, and keeps no other from its end
        why = failure_of_task(error, f"gt run {record.task}").in_one_line
        run.emit(Warned(record.task, f"its interrupted session could not be processed: {why}"))
        return False


def recover_session(run: RunContext, record: SessionRecord, stop: StopRequest) -> AgentReport | None:
    """Finishes a dead session and returns what counts of it; None if somebody else does, or if there is nothing to finish.

    `stop` ends the checks that its end may ask for.
    """
    with run.sessions.adopt(record) as is_ours:
        if not is_ours:
            return None
        for note in run.sessions.links_notes(record.task):
            put_back_noted(note, lambda said: run.emit(Warned(record.task, said)))
        return _finish(run, record, stop)


def _finish(run: RunContext, record: SessionRecord, stop: StopRequest) -> AgentReport | None:
    store = run.open_store()
    try:
        file = store.task_file(record.task)
    except NotFoundError:
        return None
    given = _given(store, record, file)
    task_id = present_id(store, given)
    file = store.task_file(task_id)
    of_role = (
        one for one in reversed(store.history(task_id)) if one.begins(record.role) or one.ends(record.role)
    )
    if not next((one.begins(record.role) for one in of_role), False):
        return None  # the runner died before the start, or after the end
    actor = Actor(ActorKind.AGENT, record.agent, record.role)
    look_for_left_behind(run, actor, file.task, record.started)

    def ended(report: AgentReport) -> SessionEnded:
        return session_ended(actor, record.role, record.round, report)

    def is_to_check(end: AgentReport | Request, delivery: Delivery) -> bool:
        if not isinstance(end, AgentReport):
            return False
        present = store.task_file(task_id)
        return wants_checks(present.task, ended(end), handoff=has_handoff(present, delivery))

    result = run.place.recover(record, given, stop, is_to_check)
    task_id, report = run.as_claimed(store, given, record.role, result.report)
    report = with_spending(run, record, file.task, store.history(task_id), with_stop(report, result.work))
    try:
        _, reached = finish_session(run, store, task_id, ended(report), report, result=result)
        for one in reached:
            run.emit(one)
    except RefusedError as error:
        run.emit(Warned(task_id, f"its interrupted session no longer counts: {error.message}"))
    return report


def _given(store: Store, record: SessionRecord, present: TaskFile) -> TaskFile:
    """Returns the file that a session was given, which what it returned is compared with; else the present one."""
    if record.given is None or not is_object_id(record.given):
        return present
    try:
        return TaskFile.parse(store.objects.read_blob(record.given), present.path)
    except GitticksError:  # the record is damaged
        return present
