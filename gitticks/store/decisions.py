"""Applies several wishes about a task's state in order: status, awaiting, verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import reduce
from typing import NamedTuple

from gitticks.document.entries import escape
from gitticks.document.merging.task import is_conflicted
from gitticks.document.taskfile import TaskFile, new_task_file
from gitticks.errors import GitticksError, RefusedError
from gitticks.model.checkpoint import Cause
from gitticks.model.event import ENGINE, Actor, Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.notes import ReviewOutcome, Section, open_questions, with_unasked
from gitticks.model.queries import TaskGraph
from gitticks.model.settings import Settings
from gitticks.model.spending import Spent, total_of
from gitticks.model.status import ActorKind, Awaiting, Status, Verdict
from gitticks.model.task import Task
from gitticks.store import layout
from gitticks.store.checkpoints import put
from gitticks.store.task_ids import free_id
from gitticks.store.transaction import Transaction
from gitticks.workflow import budget, merging
from gitticks.workflow.approvals import last_approval
from gitticks.workflow.artifacts import (
    Artifacts,
    awaits_grant,
    count_since_last_word,
    left_on_epic,
    with_checks,
    with_grant,
)
from gitticks.workflow.decide import decide, policy_for
from gitticks.workflow.decision import Decision, Turn, whose_turn
from gitticks.workflow.triggers import (
    AwaitingSet,
    ChildrenChanged,
    Reopened,
    Requested,
    Seen,
    Told,
    Trigger,
    VerdictGiven,
)

_ROUND_FILES = {Section.HANDOFF: "handoff", Section.REVIEW: "review"}


class Circumstances(NamedTuple):
    """What a decision depends on besides the files.

    `head` is the work branch's commit, `checks_failure` the first quality gate that failed, `checks` what all that ran
    came to, `review_waiver` why no agent reviews. `random_number` makes the id of a child that an epic needs.
    `in_base` says whether the base has what was handed off, where that matters and is known.
    """

    at: datetime
    settings: Settings
    random_number: Callable[[int], int]
    head: str | None = None
    checks_failure: str | None = None
    review_waiver: str | None = None
    checks: str = ""
    in_base: bool | None = None


def carry_out(
    transaction: Transaction, task_id: TaskId, trigger: Trigger, circumstances: Circumstances
) -> Decision:
    """Decides about a trigger and writes what the decision says.

    Raises:
        RefusedError: the decision is no; the transaction is to be given up.
        DocumentError: the task's file cannot be read.
    """
    file = transaction.task_file(task_id)
    history = transaction.history(task_id)
    policy = policy_for(file.task, circumstances.settings, review_waiver=circumstances.review_waiver)
    children = open_children(transaction, file.task)
    try:
        decision = decide(
            file.task,
            trigger,
            at=circumstances.at,
            artifacts=read_artifacts(
                file, head=circumstances.head, checks_failure=circumstances.checks_failure
            )._replace(
                open_children=children,
                left_epic=_left_epic(transaction, file.task),
                in_base=circumstances.in_base,
                approved=last_approval(history),
            ),
            counts=count_since_last_word(history),
            policy=policy,
        )
    except RefusedError as error:
        if not is_conflicted(file):
            raise
        why = "its file has both versions of a conflict, so no gate reads it"
        hint = f"`gt edit {file.task.id}`: keep what is right"
        raise RefusedError(f"{error.message}; {why}", hint=hint) from None
    if circumstances.checks:
        events = with_checks(decision.events, circumstances.checks, decision.task.end_sha)
        decision = decision._replace(events=events)
    if file.task.is_epic and trigger.actor.is_human and awaits_grant(history):
        total = total_of(spent_by_task(transaction, task_id).values())
        decision = decision._replace(events=with_grant(decision.events, total))
    if isinstance(trigger, Reopened):
        _keep_merged(transaction, file.task, circumstances.at)
    write(transaction, file, decision, trigger.actor, circumstances.at)
    head = decision.task.end_sha
    if decision.task.is_merging and decision.task.approval != file.task.approval and head is not None:
        put(transaction, decision.task, Cause.MERGE, at=circumstances.at, head=head, commit=head)
    if decision.rework is not None:
        _add_rework(transaction, decision.task, decision.rework, circumstances)
    follows = whose_turn(decision.task) is Turn.CHILDREN or (children and decision.task.is_open)
    if follows and not isinstance(trigger, ChildrenChanged):
        _follow_children(transaction, decision.task, circumstances)
    if decision.steps and decision.task.parent is not None:
        follow_parent(transaction, decision.task, circumstances)
    return decision


def keep_writers(transaction: Transaction, left: Task, at: datetime) -> None:
    """Notes with an open epic who made the commits that a task, or one below it, leaves on its branch."""
    tasks = transaction.all_tasks()
    graph = TaskGraph.of(tasks.values())
    for one in (left, *(tasks[below] for below in sorted(graph.below(left.id)))):
        epic = tasks.get(one.sharing_epic) if one.sharing_epic is not None else None
        leaves = one.is_cancelled or (one.is_open and _left_epic(transaction, one) is not None)
        if epic is None or not epic.is_open or not leaves or _has_no_commit(transaction, one):
            continue
        event = left_on_epic(one.id, transaction.history(one.id), at)
        told = [before.data for before in transaction.history(epic.id)]
        if event is not None and event.data not in told:
            transaction.append_events(epic.id, (event,))


def _has_no_commit(transaction: Transaction, task: Task) -> bool:
    """True if the branch of a begun task stands where its work began, so that nobody left a commit on it."""
    return task.branch is not None and task.start_sha == transaction.tip_of(task.branch)


def _left_epic(transaction: Transaction, task: Task) -> TaskId | None:
    if task.sharing_epic is None:
        return None
    return merging.left_epic(task, TaskGraph.of(transaction.all_tasks().values()).ancestors(task))


def spent_by_task(
    source: Transaction, epic_id: TaskId, graph: TaskGraph | None = None
) -> dict[TaskId, Spent]:
    """Returns what an epic and all below it ever took, by task."""
    graph = graph or TaskGraph.of(source.all_tasks().values())
    return {one: budget.spent_in(source.history(one)) for one in (epic_id, *sorted(graph.below(epic_id)))}


def read_artifacts(
    file: TaskFile, *, head: str | None = None, checks_failure: str | None = None
) -> Artifacts:
    """Returns what a task's text offers to the gates; a review counts only while the task is in agent-review.

    A file in conflict offers nothing, as long as nobody has settled which of its texts holds.
    """
    if is_conflicted(file):
        return Artifacts(checks_failure=checks_failure, head=head, told=told_by(file))
    in_review = file.task.status is Status.AGENT_REVIEW
    return Artifacts(
        handoff=file.section(Section.HANDOFF) is not None,
        review=file.review_outcome if in_review else ReviewOutcome.MISSING,
        open_question=bool(open_questions(file.entries(Section.QUESTIONS))),
        checks_failure=checks_failure,
        head=head,
        told=told_by(file),
    )


def open_children(transaction: Transaction, task: Task) -> tuple[TaskId, ...]:
    """Returns the open children of an epic; of another task none."""
    if not task.is_epic:
        return ()
    children = TaskGraph.of(transaction.all_tasks().values()).children(task.id)
    return tuple(child.id for child in children if child.is_open)


def told_by(file: TaskFile) -> Told:
    """Returns what people wrote of a task and what it asks; the engine and agents write beside it while a person decides."""
    questions = file.entries(Section.QUESTIONS)
    notes = with_unasked(file.entries(Section.NOTES), questions)
    people = tuple(one for one in notes if one.kind is ActorKind.HUMAN)
    criteria = file.section(Section.ACCEPTANCE) or ""
    return Told(file.task.title, file.summary, criteria, people, open_questions(questions))


def write(transaction: Transaction, file: TaskFile, decision: Decision, actor: Actor, at: datetime) -> None:
    """Writes a decision into the transaction; a decision that changes nothing writes nothing."""
    task = decision.task
    for section in decision.archived:
        text = file.all_text(section)  # all sections of that name leave the file
        if text is not None:
            names = transaction.list(layout.rounds_folder(task.id))
            path = layout.next_round_path(names, task.id, _ROUND_FILES[section])
            transaction.write(path, text.encode())
            file = file.without_section(section)
    for section, entry in decision.entries:
        file = file.with_entry(section, entry)
    if not (decision.steps or decision.events or decision.entries) and task == file.task:
        return
    transaction.put_task(file.with_task(replace(task, updated=at)))
    transaction.append_events(task.id, decision.events)
    describe(transaction, task.id, decision.events, actor)


def describe(transaction: Transaction, task_id: TaskId, events: tuple[Event, ...], actor: Actor) -> None:
    """Sets the commit's subject and trailers: the task's first and last status."""
    moves = [event for event in events if event.to_status is not None]
    if moves:
        subject = f"{moves[0].from_status} → {moves[-1].to_status}"
    else:
        subject = _words(events[-1]) if events else "updated"
    transaction.describe_change(task_id, subject, actor, events)


def _words(event: Event) -> str:
    verdict = event.data.get("verdict")
    if event.type is EventType.VERDICT and verdict:
        return str(verdict)
    if event.type is EventType.AWAITING_SET:
        return f"awaits {event.data.get('awaiting') or 'nobody'}"
    if event.type is EventType.TEXT_CHANGED and event.data.get("sections") == [Section.HANDOFF.value]:
        return "hand-off written"
    return event.type.value.replace(".", " ").replace("-", " ")


def follow_parent(transaction: Transaction, child: Task, circumstances: Circumstances) -> None:
    """Lets the epic above a changed task follow its children, within the same commit."""
    if child.is_cancelled:
        keep_writers(transaction, child, circumstances.at)
    if child.parent is None:
        return
    try:
        epic = transaction.task_file(child.parent).task
    except GitticksError:  # it is missing, or cannot be read
        return
    is_open_in_it = child.is_open and transaction.task_file(child.id).task.parent == epic.id
    is_bound = epic.start_sha is not None or child.sharing_epic != epic.id
    if is_open_in_it and epic.status is Status.WORKING and is_bound:
        return  # nothing changes for it, and all tasks need not be read
    if epic.is_epic and epic.is_open:
        _follow_children(transaction, epic, circumstances)


def _follow_children(transaction: Transaction, epic: Task, circumstances: Circumstances) -> None:
    """Asks what an epic's children mean for it; that all are closed is a condition, so it is asked at every turn."""
    graph = TaskGraph.of(transaction.all_tasks().values())
    children = graph.children(epic.id)
    if epic.start_sha is None:
        epic = _bind_epic(transaction, epic, children)
    trigger = _change_of(children)
    decision = carry_out(
        transaction,
        epic.id,
        trigger,
        circumstances._replace(
            head=_epic_head(transaction, epic), checks_failure=None, checks="", review_waiver=None
        ),
    )
    if any(step.to_status is Status.AGENT_REVIEW for step in decision.steps):
        file = transaction.task_file(epic.id)
        transaction.put_task(file.with_section(Section.HANDOFF, _epic_handoff(transaction, children)))


def _change_of(children: tuple[Task, ...]) -> ChildrenChanged:
    return ChildrenChanged(
        any_started=any(one.status is not Status.PENDING for one in children),
        all_closed=bool(children) and not any(one.is_open for one in children),
    )


def follow_epics(transaction: Transaction, circumstances: Circumstances) -> None:
    """Lets the epics follow their children that lag behind them, as the last two may be closed in two clones."""
    tasks = transaction.all_tasks()
    graph = TaskGraph.of(tasks.values())
    for epic in [one for one in tasks.values() if one.is_epic and one.is_open]:
        children = graph.children(epic.id)
        if children and merging.lags_behind(epic, _change_of(children)):
            _follow_children(transaction, epic, circumstances)


def _bind_epic(transaction: Transaction, epic: Task, children: tuple[Task, ...]) -> Task:
    """Gives an epic the branch that its tasks work on, if they share one."""
    file = transaction.task_file(epic.id)
    bound = next(filter(None, (merging.bind_epic(file.task, child) for child in children)), None)
    if bound is None:
        return epic
    transaction.put_task(file.with_task(bound))
    return bound


def _keep_merged(transaction: Transaction, epic: Task, at: datetime) -> None:
    """Notes with the tasks whose code was merged with an epic that it was, before the epic is reopened and forgets it."""
    for task in transaction.all_tasks().values() if epic.merged_sha is not None else ():
        merged = merging.merged_with(epic, task)
        if merged is None:
            continue
        event = Event(EventType.MERGED, at, ENGINE, reason=f"with {epic.id}", data={"sha": merged.merged_sha})
        transaction.put_task(transaction.task_file(task.id).with_task(replace(merged, updated=at)))
        transaction.append_events(task.id, (event,))


def _epic_head(transaction: Transaction, epic: Task) -> str | None:
    """Returns the head of an epic's branch as far as hand-offs tell, or what this clone has on top of them.

    What a child committed that was cancelled is there too; what was merged before the epic was reopened is not. Where
    commits are not here, as in another clone, it is that of the child closed last.
    """
    if epic.branch is None:
        return None
    on_branch = (one for one in transaction.all_tasks().values() if one.branch == epic.branch)
    closed = [one for one in on_branch if one.status is Status.DONE and one.merged_sha is None]
    closed.sort(key=lambda one: one.closed.isoformat() if one.closed else "", reverse=True)
    heads = [one.end_sha for one in closed if one.end_sha]
    tip = transaction.tip_of(epic.branch)
    if tip is not None and tip != epic.start_sha:
        heads.append(tip)
    return reduce(lambda old, new: new if transaction.is_on_top(new, old) else old, heads) if heads else None


def _epic_handoff(transaction: Transaction, children: tuple[Task, ...]) -> str:
    lines = []
    for child in children:
        try:
            text = transaction.task_file(child.id).section(Section.HANDOFF) or ""
        except GitticksError:
            text = ""
        told = (line.strip().removeprefix("- ") for line in text.splitlines())
        first = next(filter(None, told), child.closed_reason)
        lines.append(f"- {child.id} {child.title} ({child.status}){f': {first}' if first else ''}")
    return "\n".join(lines)


def rework_title(epic: Task) -> str:
    """Returns the title of a child that carries the feedback on an epic that was sent back."""
    return f"Rework: {epic.title}"


def _add_rework(transaction: Transaction, epic: Task, feedback: str, circumstances: Circumstances) -> None:
    task = Task(
        id=free_id(transaction, circumstances.at, circumstances.random_number),
        title=rework_title(epic),
        priority=epic.priority,
        parent=epic.id,
        created=circumstances.at,
        created_by=ENGINE.name,
        updated=circumstances.at,
    )
    transaction.put_task(new_task_file(task, escape(feedback)))
    created = Event(EventType.CREATED, circumstances.at, ENGINE, reason=f"{epic.id} was sent back")
    transaction.append_events(task.id, (created,))


class WantedState(NamedTuple):
    """What is asked for, each part None if it is not; `sets_awaiting` tells `awaiting: null` from no wish.

    `note` goes with the verdict, `reason` with the status.
    """

    status: Status | None = None
    awaiting: Awaiting | None = None
    sets_awaiting: bool = False
    verdict: Verdict | None = None
    note: str | None = None
    reason: str | None = None
    seen: Seen | None = None


def apply_state(
    transaction: Transaction,
    task_id: TaskId,
    wanted: WantedState,
    actor: Actor,
    circumstances: Circumstances,
) -> tuple[Decision, ...]:
    """Decides about a status, then whose turn it is, then a verdict, as far as they are asked for."""
    decisions = []
    if wanted.status is not None:
        trigger = Requested(actor, wanted.status, wanted.reason)
        decisions.append(carry_out(transaction, task_id, trigger, circumstances))
    task = transaction.task_file(task_id).task
    if wanted.sets_awaiting and (task.awaiting is not wanted.awaiting or task.is_merging or task.claim):
        decisions.append(carry_out(transaction, task_id, AwaitingSet(actor, wanted.awaiting), circumstances))
    if wanted.verdict is not None:
        given = VerdictGiven(actor, wanted.verdict, wanted.note, seen=wanted.seen)
        decisions.append(carry_out(transaction, task_id, given, circumstances))
    return tuple(decisions)
