"""What people ask for, and what agents ask for by command: requests, verdicts, awaiting, closing, reopening, resuming."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gitticks.errors import RefusedError
from gitticks.model.approval import WORDS, is_enough
from gitticks.model.event import Actor, Data, EventType
from gitticks.model.ids import TaskId
from gitticks.model.notes import Section
from gitticks.model.status import Awaiting, Status, Verdict
from gitticks.model.task import Approval, Task
from gitticks.workflow import gates, merging, pull_requests, reviews
from gitticks.workflow.approvals import own_name
from gitticks.workflow.bundle import BUNDLE_FIELDS
from gitticks.workflow.decision import Draft
from gitticks.workflow.transitions import VERDICTS, Asker, Gate, Outcome, Row, asker_of, find_row, targets
from gitticks.workflow.triggers import AwaitingSet, Closed, Requested, Resumed, Seen, VerdictGiven


def ask_again(draft: Draft, asked: Requested) -> None:
    """Lets a task that waits for answers wait for one more, from now on, so that whoever knows of fewer is told."""
    draft.set_awaiting(draft.task.awaiting)
    if asked.reason:
        draft.log(EventType.ASKED, asked.reason)


def request(draft: Draft, asked: Requested) -> None:
    """Moves a task along a row of the table that its asker may use and whose gate is open."""
    task, actor = draft.task, asked.actor
    _check_seen(draft, asked.seen)
    row = _find_allowed_row(task, asked)
    if not actor.is_human and task.awaiting is not None and task.status is not Status.STUCK:
        raise _refusal(task, asked.to, f"it awaits a person ({task.awaiting})", hint=f"`gt show {task.id}`")
    if actor.is_agent and task.is_epic and asked.to is Status.AGENT_REVIEW:
        raise _refusal(task, asked.to, "an epic is handed off when all its children are closed")
    lacking = gates.missing(row.gate, task, draft.artifacts, draft.policy, actor)
    if lacking is not None:
        raise _refusal(task, asked.to, lacking, hint=gates.hint_for(task, asked.to, draft.artifacts))
    if asked.to is Status.AGENT_REVIEW:
        gates.check_branch(task, draft.artifacts)
    merging.refuse_merged(draft)
    if task.status is Status.AGENT_REVIEW and asked.to is Status.REVIEWING:
        reviews.pass_review(draft, EventType.MOVED)
        return
    if not actor.is_human and row.gate in (Gate.REVIEW_FAIL, Gate.REVIEW_FAIL_AT_LIMIT):
        reviews.fail_review(draft, EventType.MOVED)
        return
    if actor.is_human:
        draft.task = replace(draft.task, failed_reviews=0)
    draft.enter(asked.to, EventType.MOVED, asked.reason)
    if asked.to is Status.AGENT_REVIEW:
        draft.run_on()
    elif asked.to is Status.WORKING:
        merging.ask_for_rework(draft, task.status, asked.reason)


def _find_allowed_row(task: Task, asked: Requested) -> Row:
    row = find_row(task.status, asked.to)
    if row is None:
        allowed = ", ".join(targets(task.status))
        rest = f"from there it can go to {allowed}" if allowed else "it is closed"
        if task.status is asked.to:
            rest = f"it is {task.status} already" + (f"; {rest}" if allowed else "")
        hint = f"`gt reopen {task.id}`" if task.status.is_terminal else f"`gt show {task.id}`"
        raise _refusal(task, asked.to, rest, hint=hint)
    asker = asker_of(asked.actor)
    if asker in row.askers:
        return row
    mine = ", ".join(targets(task.status, asker)) or "nothing"
    if asker is Asker.HUMAN and Asker.BY_VERDICT in row.askers:
        raise _refusal(
            task,
            asked.to,
            f"here a person's verdict decides (by command: {mine})",
            hint=f"`gt close {task.id}`, or `gt update {task.id} --awaiting=null` gives it back to the agent"
            if task.awaiting is Awaiting.WORK
            else f'`gt approve {task.id}` or `gt reject {task.id} "…"`',
        )
    who = "a person" if Asker.HUMAN in row.askers else "gitticks"
    why = f"only {who} can ask for that; from there the {asker.value} can ask for {mine}"
    closes = asker is Asker.HUMAN and asked.to is Status.DONE
    raise _refusal(task, asked.to, why, hint=f"`gt {'close' if closes else 'show'} {task.id}`")


def _refusal(task: Task, to: Status, why: str, *, hint: str | None = None) -> RefusedError:
    return RefusedError(f"`{task.id}` cannot go from {task.status} to {to}: {why}", hint=hint)


def outcome_of(task: Task, verdict: Verdict, children: Iterable[TaskId] = ()) -> Outcome:
    """Returns where a verdict on a task leads.

    Raises:
        RefusedError: it does not wait for one, or not for this one.
    """
    if not task.is_open:
        raise RefusedError(f"`{task.id}` is {task.status} already", hint=f"`gt reopen {task.id}`")
    if task.awaiting is None:
        words, hint = f"`{task.id}` is not waiting for anyone: it is {task.status}", f"`gt show {task.id}`"
        if task.status is Status.AGENT_REVIEW:
            words += ", and its reviewers have not decided"
            hint = (
                f'`gt review {task.id}` shows the work, `gt review {task.id} --reject "…"` sends it back now'
            )
        elif lacking := gates.open_children(children):
            words, hint = f"{words}, and {lacking}", gates.after_children(task.id)
        raise RefusedError(words, hint=hint)
    outcome = VERDICTS[task.awaiting, verdict]
    if outcome is Outcome.REFUSE:
        raise RefusedError(
            f"`{task.id}` awaits work by a person, so there is nothing to reject",
            hint=f"`gt update {task.id} --awaiting=null` gives it back to the agent, `gt cancel {task.id}` drops it",
        )
    return outcome


def give_verdict(draft: Draft, given: VerdictGiven, *, closes: bool = False) -> None:
    """Applies a person's answer to what the task awaits; `closes` if they say that they did what is left."""
    task = draft.task
    _need_person(given.actor, "give a verdict")
    _check_seen(draft, given.seen)
    if given.verdict is Verdict.REJECTED:
        merging.refuse_merged(draft)
        if task.is_merging:
            merging.ask_again(draft, "a person sent it back before its merge")
            task = draft.task
    outcome = outcome_of(task, given.verdict, draft.artifacts.open_children)
    if task.is_offered and task.awaiting is Awaiting.WORK and not closes:
        raise RefusedError(
            f"`{task.id}` is approved, and its pull request has to be merged: {task.pr}",
            hint=f"merge it there, then run `gt sync`; `gt close {task.id}` closes the task without it",
        )
    _check_answer(draft, given, outcome)
    if outcome is Outcome.CLOSE:
        gates.check_branch(task, draft.artifacts)
        if not (closes and given.note):
            merging.refuse_unmerged(draft)
        _check_children(draft)
        _check_strength(draft, given, "close" if closes else "approve")
    draft.log(
        EventType.VERDICT,
        given.note,
        data={
            "verdict": given.verdict.value,
            "awaiting": str(task.awaiting),
            "strength": given.proof.strength,
            **given.proof.data,
        },
    )
    _keep_note(draft, given)
    draft.task = replace(task, failed_reviews=0, responded_at=draft.at)
    _carry_out(draft, given, outcome)


def _carry_out(draft: Draft, given: VerdictGiven, outcome: Outcome) -> None:
    match outcome:
        case Outcome.CLOSE:
            _approve(draft, given)
        case Outcome.CANCEL:
            draft.enter(Status.CANCELLED, EventType.VERDICT, given.note)
        case Outcome.RETURN | Outcome.REFUSE:
            was = draft.task.status
            draft.give_back(EventType.VERDICT, given.note or given.verdict.value)
            merging.ask_for_rework(draft, was, given.note)


def _approve(draft: Draft, given: VerdictGiven) -> None:
    reason = f"{draft.task.awaiting} approved"
    merged_by_person = merging.is_merged_by_person(draft.task, draft.policy.merge_mode)
    owns_branch = gates.owns_branch(draft.task, draft.policy)
    if draft.task.awaiting is Awaiting.WORK and owns_branch:
        draft.task = replace(draft.task, end_sha=draft.artifacts.head or draft.task.end_sha)
    merging.walk_to_reviewing(draft, reason)
    head = draft.task.end_sha
    if owns_branch and given.proof.data.get("head") not in (None, head or ""):
        raise _changed(draft.task, _moved_to(head))
    approval = Approval(given.actor.name, draft.at, head, given.proof.strength)
    if merged_by_person:
        draft.enter(Status.DONE, EventType.VERDICT, "done by a person")
    elif draft.task.is_offered:
        draft.task = replace(draft.task, approval=approval)
        pull_requests.await_merge(draft)
    elif draft.needs_merge:
        draft.close_or_merge(approval, reason)
    else:
        draft.enter(Status.DONE, EventType.VERDICT, reason)


_TOLD = ("its title", "its text", "its acceptance criteria", "its notes", "its questions")


def _need_person(
    actor: Actor, what: str, hint: str = "`gt complete` hands off your work, `gt ask` asks a person"
) -> None:
    if not actor.is_human:
        raise RefusedError(f"only a person can {what}, and this is an agent's session", hint=hint)


def _check_seen(draft: Draft, seen: Seen | None) -> None:
    task, told = draft.task, draft.artifacts.told
    if seen is None:
        return
    if seen.awaiting is not task.awaiting:
        now = (
            f"it awaits {task.awaiting} now"
            if task.awaiting
            else f"it is {task.status} and is not waiting for anyone now"
        )
        what = f"{now}, not {seen.awaiting}" if seen.awaiting else now
    elif seen.head != task.end_sha:
        what = _moved_to(task.end_sha)
    elif seen.asked_at != task.asked_at:
        what = f"it asked again for {task.awaiting}"
    elif seen.told is not None and told is not None and seen.told != told:
        names = [name for name, was, now in zip(_TOLD, seen.told, told, strict=True) if was != now]
        what = f"{' and '.join(names)} changed"
    else:
        return
    raise _changed(task, what)


def _moved_to(head: str | None) -> str:
    return f"its head is {(head or 'gone')[:7]} now"


def _changed(task: Task, what: str) -> RefusedError:
    return RefusedError(f"`{task.id}` changed since you looked: {what}", hint=f"`gt show {task.id}`")


def _check_answer(draft: Draft, given: VerdictGiven, outcome: Outcome) -> None:
    task, artifacts = draft.task, draft.artifacts
    if outcome is Outcome.RETURN and task.awaiting is Awaiting.INPUT:
        if artifacts.open_question and not (given.note or "").strip():
            raise RefusedError(
                f"`{task.id}` asks a question that has no answer", hint=f'`gt respond {task.id} "…"`'
            )
    elif outcome is Outcome.CLOSE:
        gates.check_code(task, artifacts, draft.policy)


def _check_children(draft: Draft) -> None:
    lacking = gates.open_children(draft.artifacts.open_children)
    if lacking is not None:
        child = draft.artifacts.open_children[0]
        raise RefusedError(
            f"`{draft.task.id}` cannot be closed: {lacking}", hint=f"close them first: `gt close {child}`"
        )


def _check_strength(draft: Draft, given: VerdictGiven, command: str) -> None:
    """Refuses an approval that policy finds too weak, or that comes from who brought the work about."""
    task, policy = draft.task, draft.policy
    if not is_enough(given.proof.strength, policy.minimum_approval):
        minimum = policy.minimum_approval
        raise RefusedError(
            f"`{task.id}` needs an approval of strength {minimum} ({WORDS[minimum]}), and this one has "
            f"{given.proof.strength} ({WORDS[given.proof.strength]})",
            hint=f"`gt {command} {task.id}` on a terminal asks for what is needed",
        )
    name = own_name(task, {given.actor.name, *given.proof.names}, draft.counts.hands)
    if not policy.four_eyes or name is None:
        return
    why = f"was worked on by {name}, or by an agent that {name} started"
    if name == task.created_by:
        why = f"was created by {name}"
    if name != given.actor.name:
        why += f", and {given.actor.name} has the same address or key"
    raise RefusedError(
        f"`{task.id}` {why}, so somebody else has to approve it",
        hint="`gt config --explain approvals.four_eyes`",
    )


def _keep_note(draft: Draft, given: VerdictGiven) -> None:
    note = (given.note or "").strip()
    if not note:
        return
    if draft.artifacts.open_question:
        draft.add_entry(Section.QUESTIONS, note)
        draft.log(EventType.ANSWERED, note)
    if not given.is_response or not draft.artifacts.open_question:
        draft.add_entry(Section.NOTES, note)


def close(draft: Draft, closed: Closed) -> None:
    """Closes a task that a person did: awaiting work and approved in one."""
    _need_person(closed.actor, "close a task")
    if draft.task.is_merging:
        raise RefusedError(f"`{draft.task.id}` is approved and merging", hint=f"`gt merge {draft.task.id}`")
    _check_seen(draft, closed.seen)
    if draft.task.is_open:
        draft.set_awaiting(Awaiting.WORK)
    given = VerdictGiven(closed.actor, Verdict.APPROVED, closed.reason, proof=closed.proof)
    give_verdict(draft, given, closes=True)
    if closed.reason and not draft.task.is_open:
        draft.task = replace(draft.task, closed_reason=closed.reason)


def set_awaiting(draft: Draft, asked: AwaitingSet) -> None:
    """Makes it a person's turn, or gives the task back to the agent."""
    task = draft.task
    _need_person(asked.actor, "say whose turn it is")
    if not task.is_open:
        raise RefusedError(f"`{task.id}` is {task.status} already", hint=f"`gt reopen {task.id}`")
    is_back = asked.awaiting is None and (task.is_merging or task.claim is not None)
    if asked.awaiting is task.awaiting and not is_back:
        return
    merging.refuse_merged(draft)
    draft.log(EventType.AWAITING_SET, data={"awaiting": asked.awaiting.value if asked.awaiting else None})
    if asked.awaiting is None:
        task = draft.task = replace(task, claim=None)
    if asked.awaiting is not None:
        if task.approval is not None or merging.is_merged_by_person(task, draft.policy.merge_mode):
            draft.log(EventType.VOIDED, "a person took the task back before its merge")
            draft.task = replace(task, approval=None)
        draft.set_awaiting(asked.awaiting)
    elif task.is_merging:
        raise RefusedError(
            f"`{task.id}` is approved and its merge has begun",
            hint=f'`gt reject {task.id} "…"` sends it back, `gt update {task.id} --awaiting review` withdraws the '
            "approval",
        )
    elif task.status in (Status.CLARIFICATION, Status.STUCK, Status.REVIEWING):
        draft.task = replace(task, failed_reviews=0, responded_at=draft.at)
        draft.give_back(EventType.MOVED, "given back to the agent")
        merging.ask_for_rework(draft, task.status, None)
    elif task.status is Status.AGENT_REVIEW:
        draft.set_awaiting(None)
    else:
        draft.give_back(EventType.MOVED, None)


def reopen(draft: Draft) -> None:
    """Takes a closed task up again as if it were new; what agents wrote is archived, what people wrote stays."""
    task = draft.task
    _need_person(draft.actor, "reopen a task")
    if task.is_open:
        raise RefusedError(f"`{task.id}` is open: it is {task.status}", hint=f"`gt show {task.id}`")
    draft.enter(Status.PENDING, EventType.REOPENED)
    draft.archive(Section.HANDOFF)
    draft.archive(Section.REVIEW)
    fresh = Task(task.id, task.title)
    draft.task = replace(draft.task, **{name: getattr(fresh, name) for name in BUNDLE_FIELDS})


def resume(draft: Draft, resumed: Resumed) -> None:
    """Gives a task back to its agent as it stood at a checkpoint; a fresh allowance comes with it."""
    task = draft.task
    _need_person(resumed.actor, "resume a task", "`gt ask` asks a person")
    if not task.is_open:
        raise RefusedError(
            f"`{task.id}` is {task.status}",
            hint=f"`gt reopen {task.id}`, then `gt resume {resumed.checkpoint}`",
        )
    if task.is_merging:
        raise RefusedError(
            f"`{task.id}` is approved and its merge has begun",
            hint=f"`gt update {task.id} --awaiting review` withdraws the approval",
        )
    if task.is_epic and task.status not in (Status.PENDING, Status.WORKING):
        raise RefusedError(
            f"the epic `{task.id}` is {task.status}: all its tasks are closed",
            hint=f"`gt reopen` the task to continue with (`gt tree {task.id}`), then `gt resume {resumed.checkpoint}`",
        )
    if task.is_epic and task.awaiting is not None:
        raise RefusedError(f"the epic `{task.id}` awaits {task.awaiting}", hint=f"`gt show {task.id}`")
    reason = f"went back to checkpoint {resumed.checkpoint}"
    data: Data = {
        "checkpoint": resumed.checkpoint,
        "head": resumed.head,
        "iteration": resumed.usage.iterations,
    }
    draft.log(EventType.RESUMED, reason, data=data)
    draft.task = replace(
        task,
        usage=resumed.usage,
        start_sha=resumed.start_sha,
        agent_sessions={},
        failed_reviews=0,
        responded_at=draft.at,
    )
    if not task.is_epic:
        draft.add_entry(
            Section.NOTES,
            f"The work went back to checkpoint {resumed.checkpoint}. What later iterations did is not in the workspace.",
        )
        draft.give_back(EventType.MOVED, None)
