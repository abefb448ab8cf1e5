"""Judges a change that has already been made: whether tables, gates and rights allow it.

Commits also reach the state branch by ways that ask nobody: past the hooks, from clones without them, by tools that
know no tables. What `decide` would have refused is found here afterwards, in the task before and after and in the
events that were written with it. What only the settings of that day could tell, such as limits, is not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from typing import NamedTuple

from gitticks.model.event import Event, EventType
from gitticks.model.notes import ReviewOutcome
from gitticks.model.settings import Policy
from gitticks.model.status import Awaiting, Status
from gitticks.model.task import HUMAN_FIELDS, Task
from gitticks.workflow import gates
from gitticks.workflow.approvals import gives_approval
from gitticks.workflow.artifacts import PERSONS_WORD, Artifacts
from gitticks.workflow.bundle import Side, may_stand
from gitticks.workflow.merging import bind_epic
from gitticks.workflow.transitions import Asker, Gate, Row, asker_of, rows_between

_BORN_WITH = ("id", "created", "created_by")
# `updated` only says whose text is the later one, and git moves it too: in a revert, or a rebase that meets a conflict.
_NOT_JUDGED = {*HUMAN_FIELDS, *_BORN_WITH, "status", "updated"}
_ENGINE_FIELDS = tuple(field.name for field in fields(Task) if field.name not in _NOT_JUDGED)
_BUNDLE = (
    "status", "awaiting", "verdict", "approval", "asked", "end_sha", "review_round", "failed_reviews", "crash_count",
)  # fmt: skip
"""What a merge takes from one side whole."""

_PERSONS_ALONE = frozenset({EventType.VERDICT, EventType.REOPENED, EventType.RESUMED})
_TURN_CHANGES = frozenset({EventType.VERDICT, EventType.REOPENED, EventType.RESUMED, EventType.AWAITING_SET})
_WAIVER_OF = {Gate.HANDOFF: "handoff", Gate.REVIEW_PASS: "review"}
_SHOWN_BY_TEXT = frozenset({Gate.HANDOFF, Gate.QUESTION, Gate.REVIEW_PASS})


class PastChange(NamedTuple):
    """A task before (None if it was new) and after a change, and the events that were added with it.

    `artifacts` is what the task's text offered to the gates; it is called only where a gate asks. `is_replayed` if the
    commit says that git made it of another one. `children` are the task's after the change, called as rarely.
    """

    before: Task | None
    after: Task
    events: tuple[Event, ...]
    artifacts: Callable[[], Artifacts]
    is_replayed: bool = False
    children: Callable[[], Iterable[Task]] = tuple


def problems_of(change: PastChange) -> tuple[str, ...]:
    """Returns what was illegal about a change, in words that can follow the task's name; empty if nothing was."""
    found = _problems(change)
    first = _first_made(change) if found else None
    return () if first is not None and not _problems(first) else found


def _problems(change: PastChange) -> tuple[str, ...]:
    return (*_origin(change), *_walk(change), *_turn(change), *_fields(change))


def _first_made(change: PastChange) -> PastChange | None:
    """Returns a change as it was before git replayed it upon another version of its task; None if it was not.

    `git rebase` and `git cherry-pick` merge without a commit that has two parents: the events come along, and the state
    is that of the side which stands. Of two tasks that were born with one id, either may stand.
    """
    before, after = change.before, change.after
    if before is not None and any(event.type is EventType.CREATED for event in change.events):
        return change._replace(before=None)
    moves = [(event.from_status, event.to_status) for event in change.events if event.to_status is not None]
    start, end = (moves[0][0], moves[-1][1]) if moves else (None, None)
    if before is None or start is None or end is None or (start is before.status and not change.is_replayed):
        return None
    begun = replace(before, status=start)
    if _bundle(before) == _bundle(after):
        ended = replace(after, status=end)
        return change._replace(before=begun, after=ended, artifacts=_everything)
    if may_stand(Side(after), Side(before)):
        return change._replace(before=begun)
    return None


def _everything() -> Artifacts:
    """Returns what opens every gate of text: the texts of a side that does not stand are not in its file."""
    return Artifacts(handoff=True, review=ReviewOutcome.PASS, open_question=True)


def merge_problems(sides: Sequence[Task], merged: Task) -> tuple[str, ...]:
    """Returns what is wrong with the state that a merge gave a task: it is to be that of one of the sides, whole."""
    if any(_bundle(side) == _bundle(merged) for side in sides):
        return ()
    statuses = " and ".join(side.status.value for side in sides)
    return (f"was merged from {statuses} into a {merged.status} that neither side had",)


def is_persons_word(events: Iterable[Event]) -> bool:
    """True if a person decided about the task's state among these events."""
    return any(event.actor.is_human and event.type in PERSONS_WORD for event in events)


def impossible(task: Task) -> str | None:
    """Returns why a task's state is one that no decision leads to, in words that follow its id; None if it is not."""
    if not task.is_open:
        return f"is {task.status} but awaits {task.awaiting}" if task.awaiting is not None else None
    waits = task.status in (Status.CLARIFICATION, Status.STUCK, Status.REVIEWING)
    if waits and task.awaiting is None and not task.is_merging:
        return f"is in {task.status} but is not waiting for anyone"
    # What a pull request merged with a doubt keeps its approval while a person is asked.
    is_in_doubt = task.awaiting is Awaiting.ESCALATION and task.pr and task.merged_sha
    is_approved = task.is_merging or task.is_offered or (task.status is Status.REVIEWING and is_in_doubt)
    if task.approval is not None and not is_approved:
        return f"has an approval, though it is {task.status} and awaits {task.awaiting or 'nobody'}"
    if task.verdict is not None:
        return "has a verdict that nobody has carried out"
    return None


def _origin(change: PastChange) -> Iterator[str]:
    for name in _BORN_WITH if change.before is not None else ():
        had = getattr(change.before, name)
        if had is not None and had != getattr(change.after, name):
            yield f"had its `{name}` changed, which it keeps for good"


def _walk(change: PastChange) -> Iterator[str]:
    """Follows the events from the status before to the one after."""
    moves = [event for event in change.events if event.to_status is not None]
    status = _first_status(change, moves)
    seen: list[Event] = []
    for event in change.events:
        seen.append(event)
        is_persons = event.type in _PERSONS_ALONE and not _closes_approved(event, change)
        if is_persons and not event.actor.is_human:
            yield f"has a {event.type.value} by {_who(event)}, and only people give that"
        if event.to_status is None:
            continue
        if event.from_status is not status:
            yield f"was {status}, but an event moves it from {event.from_status} to {event.to_status}"
        else:
            yield from _step(change, event, seen)
        status = event.to_status
    if status is not change.after.status and moves:
        yield f"is {change.after.status}, but its events end at {status}"
    elif status is not change.after.status:
        yield f"went from {status} to {change.after.status}, and no event says so"


def _first_status(change: PastChange, moves: Sequence[Event]) -> Status:
    """Returns where the events begin; what is brought in from elsewhere may be born anywhere."""
    if change.before is not None:
        return change.before.status
    if moves:
        return moves[0].from_status or Status.PENDING
    return change.after.status if change.events else Status.PENDING


def _is_import(event: Event) -> bool:
    """True where a person took over what changed in another tracker, which knows no table of ours."""
    return event.type is EventType.IMPORTED and event.actor.is_human


def _closes_approved(event: Event, change: PastChange) -> bool:
    """True if an event closes what a person had approved, whoever merged it."""
    return event.to_status is Status.DONE and change.before is not None and change.before.approval is not None


def _step(change: PastChange, event: Event, seen: Sequence[Event]) -> Iterator[str]:
    source, target = event.from_status, event.to_status
    if source is None or target is None or _is_import(event):
        return
    if source.is_terminal and target is Status.PENDING:
        if event.type is not EventType.REOPENED:
            yield f"went from {source} to {target} without being reopened"
        return
    rows = rows_between(source, target)
    if not rows:
        yield f"went from {source} to {target}, which is no transition"
        return
    mine = [row for row in rows if _may_ask(event, row) or _closes_approved(event, change)]
    if not mine:
        yield f"was moved from {source} to {target} by {_who(event)}, who may not"
        return
    lacking = [_lacking(change, row.gate, event, seen) for row in mine]
    if all(lacking):
        yield f"went from {source} to {target}, but {lacking[0]}"


def _may_ask(event: Event, row: Row) -> bool:
    asker = asker_of(event.actor)
    return asker in row.askers or (asker is Asker.HUMAN and Asker.BY_VERDICT in row.askers)


def _lacking(change: PastChange, gate: Gate, event: Event, seen: Sequence[Event]) -> str | None:
    """Returns what kept a gate shut, as far as text and events can tell."""
    if gate is Gate.APPROVED:
        by_person = event.type is EventType.VERDICT and event.actor.is_human
        approved = by_person or _closes_approved(event, change) or any(gives_approval(one) for one in seen)
        return None if approved else "nobody had approved it"
    if gate not in _SHOWN_BY_TEXT or _is_waived(_WAIVER_OF.get(gate), seen):
        return None
    return gates.missing(gate, change.after, change.artifacts(), Policy(), event.actor)


def _is_waived(gate: str | None, seen: Iterable[Event]) -> bool:
    return gate is not None and any(
        event.type is EventType.WAIVED and event.data.get("gate") == gate for event in seen
    )


def _turn(change: PastChange) -> Iterator[str]:
    before, after = change.before, change.after
    if before is None or before.awaiting is after.awaiting:
        return
    causes = [event for event in change.events if event.to_status or event.type in _TURN_CHANGES]
    shown = after.awaiting or "nobody"
    if not causes:
        yield f"awaited {before.awaiting or 'nobody'} and then {shown}, and no event says so"
    elif after.awaiting is None and all(event.actor.is_agent for event in causes):
        yield f"awaited {before.awaiting} by a person, and an agent answered"


def _fields(change: PastChange) -> Iterator[str]:
    """Judges what only gitticks writes: it comes with an event, and an approval with the word that gave it."""
    before = change.before or Task(change.after.id, "")
    changed = [name for name in _ENGINE_FIELDS if getattr(before, name) != getattr(change.after, name)]
    if change.after.verdict is not None:
        yield f"has the verdict {change.after.verdict}, which was not carried out"
    if "approval" in changed and change.after.approval is not None:
        names = {event.actor.name for event in change.events if gives_approval(event)}
        if change.after.approval.by not in names:
            yield f"has an approval by {change.after.approval.by}, and no event says so"
    elif changed and not change.events and not _follows_child(change, changed):
        shown = ", ".join(f"`{name}`" for name in changed)
        yield f"had {shown} changed, which only gitticks writes"


def _follows_child(change: PastChange, changed: Iterable[str]) -> bool:
    """True if all that changed is that an epic was given the branch of a task of its own, as that task's step does."""
    before, after = change.before, change.after
    if before is None or not after.is_epic or before.start_sha is not None or after.start_sha is None:
        return False
    bound = (bind_epic(before, child) for child in change.children())
    return any(one and all(getattr(one, name) == getattr(after, name) for name in changed) for one in bound)


def _bundle(task: Task) -> tuple[object, ...]:
    return tuple(getattr(task, name) for name in _BUNDLE)


def _who(event: Event) -> str:
    actor = event.actor
    return actor.name if actor.is_human else f"{actor.role or actor.kind.value} {actor.name}"
