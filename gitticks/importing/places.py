"""Finds which foreign tasks are here already, and gives the others ids that are free."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gitticks.importing.record import ForeignTask, Format, Reading
from gitticks.model.event import Event, EventType
from gitticks.model.ids import TaskId, is_valid_id, new_id

if TYPE_CHECKING:
    from gitticks.model.task import Task
    from gitticks.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Known:
    """A task that was imported before: the digest of what it was made of, and whether it was changed here since."""

    task_id: TaskId
    digest: str
    is_touched: bool


@dataclass(slots=True)
class Places:
    """Which id each foreign task has here, by its id at the source, and which of them were here already."""

    transaction: Transaction
    format: Format
    tasks: Mapping[TaskId, Task]
    ids: dict[str, TaskId] = field(default_factory=dict)
    known: dict[str, Known] = field(default_factory=dict)
    _by_ref: dict[str, TaskId] = field(default_factory=dict)

    @classmethod
    def of(cls, transaction: Transaction, reading: Reading, random_number: Callable[[int], int]) -> Places:
        """Returns the places of everything that was read."""
        tasks = transaction.all_tasks()
        places = cls(transaction, reading.format, tasks)
        places._by_ref = {task.external_ref: one for one, task in tasks.items() if task.external_ref}
        for one in reading.tasks.values():
            found = places.find(one.source_id, one.wanted_id)
            if found is not None:
                places.known[one.source_id] = found
                places.ids[one.source_id] = found.task_id
        places._give_out(
            [one for one in reading.tasks.values() if one.source_id not in places.ids], random_number
        )
        return places

    def find(self, source_id: str, wanted_id: str | None = None) -> Known | None:
        """Returns the task that was imported from the same place under the same id, or None."""
        for task_id in (wanted(wanted_id or source_id), self._by_ref.get(source_id)):
            if task_id is not None and task_id in self.tasks:
                known = self._known(task_id, source_id)
                if known is not None:
                    return known
        return None

    def _known(self, task_id: TaskId, source_id: str) -> Known | None:
        events = self.transaction.history(task_id)
        last = next((event for event in reversed(events) if event.type is EventType.IMPORTED), None)
        if last is None or (last.data.get("source"), last.data.get("source_id")) != (
            self.format.value,
            source_id,
        ):
            return None
        return Known(task_id, str(last.data.get("digest")), _is_touched(events))

    def _give_out(self, foreign: list[ForeignTask], random_number: Callable[[int], int]) -> None:
        """Gives ids that need no change to their owners first, then those that do, then new ones to the rest."""
        taken = set(self.transaction.task_ids())
        for one in sorted(foreign, key=lambda one: (one.wanted_id or one.source_id) != _wished(one)):
            task_id = _wished(one)
            if task_id is None or task_id in taken:
                task_id = new_id(taken, len(taken), random_number)
            taken.add(task_id)
            self.ids[one.source_id] = task_id

    def is_new(self, source_id: str) -> bool:
        """True for what was read and was not here before."""
        return source_id in self.ids and source_id not in self.known

    def resolve(self, source_id: str) -> TaskId | None:
        """Returns the task that a link of the source means: one of those that were read, or an earlier import."""
        if source_id in self.ids:
            return self.ids[source_id]
        known = self.find(source_id)
        return None if known is None else known.task_id


def _wished(one: ForeignTask) -> TaskId | None:
    return wanted(one.wanted_id or one.source_id)


def wanted(source_id: str) -> TaskId | None:
    """Returns the id that a foreign id becomes, or None where no rule makes it one of ours."""
    name = source_id.lower().replace(".", "-")
    return TaskId(name) if is_valid_id(name) else None


def _is_touched(events: tuple[Event, ...]) -> bool:
    return any(event.type is not EventType.IMPORTED for event in events)
