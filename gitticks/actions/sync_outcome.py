"""What a sync did, as values: how far it came, what moved, and what somebody has to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from gitticks.model.ids import TaskId
from gitticks.store.layout import task_around, task_of_path

if TYPE_CHECKING:
    from gitticks.actions.circles import Circle
    from gitticks.actions.merged_by_hand import FoundMerge
    from gitticks.store.branch import Store
    from gitticks.store.merging.births import Renamed


class Reached(StrEnum):
    """How far a sync came."""

    DONE = "done"
    OFFLINE = "offline"
    NO_REMOTE = "no remote"


@dataclass(frozen=True, slots=True)
class MovedTask:
    """A task that came or went; without a title where its file cannot be read or is gone."""

    id: TaskId
    is_new: bool
    status: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Moved:
    """What came from the remote, or went there: tasks sorted by id, and other files by path."""

    tasks: tuple[MovedTask, ...] = ()
    files: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.tasks or self.files)


@dataclass(frozen=True, slots=True)
class Synced:
    """What a sync did.

    Attributes:
        reached: how far it came.
        remote: with which remote; None if there is none.
        came: what was taken in.
        went: what was pushed.
        conflicts: files that hold both sides' texts now, with the names of the parts.
        overridden: fields that both sides changed, of which the later value stands, by path.
        renamed: tasks that got another id, because two were born with one.
        kept: files that one side removed and that stay, as the other changed them.
        beside: where texts were put that could not be joined.
        circles: tasks that wait for one another now, and what takes one link out.
        taken_up: saved edits of the board that were committed first, by path.
        left: those that were not, with the reason.
        words: git's own, where the remote was not reached.
        merged: tasks whose work was found merged by hand.
    """

    reached: Reached
    remote: str | None = None
    came: Moved = field(default_factory=Moved)
    went: Moved = field(default_factory=Moved)
    conflicts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    overridden: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    renamed: tuple[Renamed, ...] = ()
    kept: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    circles: tuple[Circle, ...] = ()
    taken_up: tuple[str, ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)
    words: str = ""
    merged: tuple[FoundMerge, ...] = ()

    @property
    def has_moved(self) -> bool:
        """True if anything came, went or was taken up."""
        return bool(self.came or self.went or self.taken_up or self.merged)


def moved_between(store: Store, old: str | None, new: str | None) -> Moved:
    """Returns what differs between two commits, by task."""
    from gitticks.store.index import open_index

    if new is None or old == new:
        return Moved()
    trees = [None if one is None else store.objects.tree_of(one) for one in (old, new)]
    changed = list(store.objects.changed_files(trees[0], trees[1] or ""))
    added = {task_of_path(one.path) for one in changed if one.old is None}
    ids = sorted({found for one in changed if (found := task_around(one.path)) is not None})
    with open_index(store.repository) as index:
        rows = {one: index.find(one) for one in ids}
    return Moved(
        tuple(
            MovedTask(one, one in added, row.status if row else None, row.title if row else None)
            for one, row in rows.items()
        ),
        tuple(one.path for one in changed if task_around(one.path) is None),
    )


def circles_with(store: Store, came: Moved) -> tuple[Circle, ...]:
    """Returns the circles of waiting that what came is part of: each side may have linked in one direction."""
    if not came.tasks:
        return ()
    from gitticks.actions.circles import circles_of
    from gitticks.model.queries import Graph
    from gitticks.store.index import open_index

    with open_index(store.repository) as index:
        graph = Graph.of(index.listed(open_only=True), index.unreadable())
    ids = {one.id for one in came.tasks}
    return tuple(circle for circle in circles_of(graph) if not ids.isdisjoint(circle.tasks))
