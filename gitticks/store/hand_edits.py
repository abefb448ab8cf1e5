"""A person's version of a task file: what it changes, what is refused, and how it is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from gitticks.document.taskfile import TaskFile
from gitticks.errors import RefusedError
from gitticks.model.event import Actor, Event, EventType
from gitticks.model.ids import BOARD_FOLDER, task_path
from gitticks.model.notes import Entry, Section
from gitticks.model.status import ActorKind
from gitticks.model.task import HUMAN_FIELDS, Task
from gitticks.store.layout import line_of
from gitticks.store.links import changes_links, check_links
from gitticks.store.transaction import Transaction
from gitticks.workflow.transitions import refuse_settled

if TYPE_CHECKING:
    from gitticks.store.decisions import Circumstances, WantedState
    from gitticks.workflow.decision import Decision

STATE_FIELDS = frozenset({"status", "awaiting", "verdict"})
"""What a person may write into the file as a request."""

FREE_FIELDS = HUMAN_FIELDS - STATE_FIELDS
"""What a person writes into the file and that is so from then on."""

_SUMMARY = "summary"

Surroundings = Callable[[Task], "Circumstances"]
"""Returns what a decision about a task is made under."""


class HandEdit(NamedTuple):
    """A person's version of a task's file, and the one that they began with (None for a new task).

    `state` is the task whose state still holds: that of `before`, or a newer one where the branch moved meanwhile.
    """

    before: TaskFile | None
    after: TaskFile
    state: Task | None

    @property
    def began(self) -> Task:
        """Returns the task that the person began with; one that says nothing if it is new."""
        return Task(self.after.task.id, "") if self.before is None else self.before.task

    def _differing(self, names: frozenset[str]) -> tuple[str, ...]:
        old, new = self.began, self.after.task
        return tuple(
            field.name
            for field in fields(Task)
            if field.name in names and getattr(old, field.name) != getattr(new, field.name)
        )

    @property
    def asks_for_decisions(self) -> bool:
        """True if the edit sets a status, whose turn it is, or a verdict; most edits do not."""
        names = STATE_FIELDS if self.after.task.verdict is not None else STATE_FIELDS - {"verdict"}
        return bool(self._differing(names))

    @property
    def wanted(self) -> WantedState:
        """Returns what the edit asks for besides text and fields."""
        from gitticks.store.decisions import WantedState
        from gitticks.workflow.triggers import Seen

        old, new = self.began, self.after.task
        sets_turn = (new.status, new.awaiting) != (old.status, old.awaiting)
        return WantedState(
            status=new.status if new.status is not old.status else None,
            awaiting=new.awaiting,
            sets_awaiting=new.awaiting is not old.awaiting,
            verdict=new.verdict if new.verdict is not old.verdict else None,
            seen=None if sets_turn else Seen(old.awaiting, old.asked_at, old.end_sha),
        )

    @property
    def changed_fields(self) -> tuple[str, ...]:
        """Returns the fields that the edit sets, in the order of the schema."""
        return self._differing(FREE_FIELDS)

    @property
    def forbidden_fields(self) -> tuple[str, ...]:
        """Returns the fields that only gitticks writes and that the edit changed all the same."""
        allowed = HUMAN_FIELDS | STATE_FIELDS | {"id"}
        return self._differing(frozenset(field.name for field in fields(Task)) - allowed)

    @property
    def changed_sections(self) -> tuple[str, ...]:
        """Returns the names of the sections whose text the edit changed, `summary` for what is before them."""
        if self.before is None:
            return ()
        old, new = sections_of(self.before), sections_of(self.after)
        return tuple(name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name))

    @property
    def is_of_work(self) -> bool:
        """True if the edit changed a hand-off or a review; there are rules about who wrote these."""
        own = (Section.HANDOFF.casefold(), Section.REVIEW.casefold())
        return any(name.casefold() in own for name in self.changed_sections)


def sections_of(file: TaskFile) -> dict[str, str]:
    """Returns the texts of a file by the names of their sections, in file order."""
    texts = {_SUMMARY: file.summary}
    for block in file.body.blocks:
        if block.is_section:
            texts[block.title] = file.body.content(block)
    return texts


def check_fields(edit: HandEdit) -> None:
    """Refuses an edit of fields that only gitticks writes."""
    names = edit.forbidden_fields
    if names:
        shown = ", ".join(f"`{name}`" for name in names)
        line = line_of(edit.after, names[0])
        place = f"{edit.after.path}:{line}" if line else edit.after.path
        raise RefusedError(
            f"{place}: {shown} can only be written by gitticks",
            hint=_way_back(edit, names),
        )


def _way_back(edit: HandEdit, names: Sequence[str]) -> str:
    nothing = Task(edit.after.task.id, "")
    if all(getattr(edit.began, name) == getattr(nothing, name) for name in names):
        which = "a new task" if edit.before is None else "the task"
        return f"{which} does not have these yet: delete the lines"
    return f"restore what `git -C {BOARD_FOLDER} show HEAD:{task_path(edit.after.task.id)}` has there"


def apply_hand_edit(
    transaction: Transaction, edit: HandEdit, actor: Actor, at: datetime, surroundings: Surroundings
) -> tuple[Decision, ...]:
    """Writes a person's version of a task's file into the transaction, with the decisions that it asks for.

    Raises:
        RefusedError: a status, verdict or link is refused, or the task's state has settled a field.
        NotFoundError: it names a parent or blocker that does not exist.
    """
    task_id = edit.after.task.id
    neutral = _without_wishes(edit, actor, at)
    before = edit.before.task if edit.before else None
    if edit.state is not None:
        refuse_settled(edit.state, edit.changed_fields)
    if changes_links(before, neutral.task):
        check_links(transaction.all_tasks(), before, neutral.task)
    transaction.put_task(neutral)
    events = _events(edit, actor, at)
    transaction.append_events(task_id, events)
    decisions: tuple[Decision, ...] = ()
    if edit.asks_for_decisions:
        from gitticks.store.decisions import apply_state

        decisions = apply_state(transaction, task_id, edit.wanted, actor, surroundings(neutral.task))
    task = transaction.task_file(task_id).task
    follow_parents(transaction, task, before, surroundings)
    describe_edit(transaction, edit, actor, events)
    return decisions


def record_plain_edit(transaction: Transaction, edit: HandEdit, actor: Actor, at: datetime) -> None:
    """Describes an edit that stands as it is; only one of a hand-off or review gets a line in the history.

    What the last line says already is not said again: an editor may save every few seconds.
    """
    last = [event._replace(at=at) for event in transaction.history(edit.after.task.id)[-1:]]
    written = _events(edit, actor, at)[-1:] if edit.is_of_work else ()
    events = tuple(event for event in written if event not in last)
    transaction.append_events(edit.after.task.id, events)
    describe_edit(transaction, edit, actor, events)


def _without_wishes(edit: HandEdit, actor: Actor, at: datetime) -> TaskFile:
    """Returns the person's text and fields with the state that still holds, and loose notes as entries."""
    task = edit.after.task
    if edit.state is None:
        made = replace(
            task,
            **{name: getattr(Task(task.id, ""), name) for name in STATE_FIELDS},
            created=task.created or at,
            created_by=task.created_by or actor.name,
            updated=at,
        )
        return _with_entries(edit.after.with_task(made), edit, actor, at)
    kept: dict[str, Any] = {
        field.name: getattr(edit.state, field.name)
        for field in fields(Task)
        if field.name not in FREE_FIELDS and field.name != "id"
    }
    return _with_entries(edit.after.with_task(replace(task, **{**kept, "updated": at})), edit, actor, at)


def _with_entries(file: TaskFile, edit: HandEdit, actor: Actor, at: datetime) -> TaskFile:
    """Returns the file with what the person added to notes and questions as entries in their name."""
    for section in (Section.NOTES, Section.QUESTIONS):
        loose = file.loose_text(section, edit.before)
        if loose is not None:
            entry = Entry(at, ActorKind.HUMAN, actor.name, loose.text)
            file = file.with_section(section, loose.rest).with_entry(section, entry)
    return file


def _events(edit: HandEdit, actor: Actor, at: datetime) -> tuple[Event, ...]:
    if edit.before is None:
        return (Event(EventType.CREATED, at, actor),)
    events = []
    if edit.changed_fields:
        events.append(Event(EventType.FIELDS_CHANGED, at, actor, data={"fields": list(edit.changed_fields)}))
    if edit.changed_sections:
        events.append(
            Event(EventType.TEXT_CHANGED, at, actor, data={"sections": list(edit.changed_sections)})
        )
    return tuple(events)


def follow_parents(
    transaction: Transaction, task: Task, before: Task | None, surroundings: Surroundings
) -> None:
    """Lets the epics that a task left and joined follow their children; nothing happens if it stayed where it was."""
    old = before.parent if before is not None else None
    if task.parent == old:
        return
    from gitticks.store.decisions import follow_parent, keep_writers

    if before is not None:
        keep_writers(transaction, task, surroundings(task).at)
    tasks = transaction.all_tasks()
    for parent in (old, task.parent):
        if parent is not None and parent in tasks:
            follow_parent(transaction, replace(task, parent=parent), surroundings(tasks[parent]))


def describe_edit(
    transaction: Transaction, edit: HandEdit, actor: Actor, events: tuple[Event, ...] = ()
) -> None:
    """Says in the commit which fields and sections an edit changed."""
    if edit.before is None:
        subject = f"created: {edit.after.task.title}"
    else:
        sections = (f"## {name}" if name != _SUMMARY else name for name in edit.changed_sections)
        subject = ", ".join([*edit.changed_fields, *sections]) or "edited"
    transaction.describe_change(edit.after.task.id, subject, actor, events)
