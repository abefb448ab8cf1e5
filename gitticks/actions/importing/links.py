"""Turns links between foreign tasks into links of ours, and leaves out those that could not stand here.

What is left out is kept in the task's frontmatter: nothing that the source said is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from gitticks.actions.importing.placing import Places
from gitticks.document.foreign.record import ForeignTask, Problem
from gitticks.model.circles import find_circles
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.status import Status, TaskType
from gitticks.model.task import Task


@dataclass(slots=True)
class Linked:
    """Tasks that are to be written, with their links, what was left out for each, and what there is to tell."""

    tasks: dict[TaskId, Task]
    foreign: Mapping[TaskId, ForeignTask]
    left_out: dict[TaskId, dict[str, list[str]]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    new_epics: int = 0

    def leave_out(self, task_id: TaskId, kind: str, link: str, why: str | None) -> None:
        """Keeps a link aside, and tells of it if there is a reason to."""
        self.left_out.setdefault(task_id, {}).setdefault(kind, []).append(link)
        if why is not None:
            one = self.foreign[task_id]
            self.problems.append(Problem(one.path, one.line, f"`{one.source_id}` {why}"))


def link(places: Places, foreign: Mapping[TaskId, ForeignTask], bare: Mapping[TaskId, Task]) -> Linked:
    """Returns the tasks with their parents and blockers.

    Args:
        places: knows every id.
        foreign: what was read, by its id here.
        bare: the same as tasks without links.
    """
    linked = Linked(dict(bare), foreign)
    for task_id, one in foreign.items():
        if one.parent is not None:
            _set_parent(linked, places, task_id, one.parent)
        for blocker in one.blocked_by:
            _add_blocker(linked, places, task_id, blocker)
    _cut_ancestors(linked, places)
    _make_epics(linked)
    _cut_circles(linked, places)
    return linked


def _set_parent(linked: Linked, places: Places, task_id: TaskId, name: str) -> None:
    parent = places.resolve(name)
    if parent is None:
        linked.leave_out(task_id, "missing_parent", name, None)
    elif parent not in linked.tasks and not places.tasks[parent].is_epic:
        linked.leave_out(task_id, "left_out_parent", name, f"is part of `{parent}`, which is no epic here")
    else:
        linked.tasks[task_id] = replace(linked.tasks[task_id], parent=parent)


def _add_blocker(linked: Linked, places: Places, task_id: TaskId, name: str) -> None:
    blocker = places.resolve(name)
    found = None if blocker is None else linked.tasks.get(blocker) or places.tasks.get(blocker)
    task = linked.tasks[task_id]
    if blocker is None or found is None:
        linked.leave_out(task_id, "missing_blockers", name, None)
    elif found.status is Status.CANCELLED and task.is_open:
        linked.leave_out(task_id, "cancelled_blockers", name, None)
    elif blocker not in task.blocked_by:
        linked.tasks[task_id] = replace(task, blocked_by=(*task.blocked_by, blocker))


def _cut_ancestors(linked: Linked, places: Places) -> None:
    """Takes the parent from tasks that would be their own ancestors."""
    settled: set[TaskId] = set()
    for first in list(linked.tasks):
        way: dict[TaskId, None] = {}
        here: TaskId | None = first
        while here is not None and here not in settled and here not in way:
            way[here] = None
            task = linked.tasks.get(here) or places.tasks.get(here)
            here = None if task is None else task.parent
        if here is not None and here in way:
            _drop_parent(linked, next(one for one in way if linked.tasks[one].parent == here))
        settled.update(way)


def _drop_parent(linked: Linked, task_id: TaskId) -> None:
    parent = linked.tasks[task_id].parent
    linked.tasks[task_id] = replace(linked.tasks[task_id], parent=None)
    if parent is not None:
        linked.leave_out(
            task_id,
            "left_out_parent",
            parent,
            f"is not made part of `{parent}`, as that would close a circle",
        )


def _make_epics(linked: Linked) -> None:
    for parent in {task.parent for task in linked.tasks.values()}:
        task = linked.tasks.get(parent) if parent is not None else None
        if task is not None and not task.is_epic:
            linked.tasks[task.id] = replace(task, type=TaskType.EPIC)
            linked.new_epics += 1


def _cut_circles(linked: Linked, places: Places) -> None:
    """Takes out one link of each circle until there is none; circles among tasks that were here before stay."""
    while circles := find_circles(TaskGraph.of({**places.tasks, **linked.tasks}.values())):
        cut: set[tuple[TaskId, TaskId]] = set()
        for circle in circles:
            links = list(_links_of(linked, places, circle))
            if not cut.intersection(links):  # else an earlier cut may have opened this one too
                cut.update(_cut(linked, circle, links))
        if not cut:
            return


def _links_of(linked: Linked, places: Places, circle: tuple[TaskId, ...]) -> Iterator[tuple[TaskId, TaskId]]:
    """Yields the blockers that make a circle, each with the task that names it, which may be an ancestor."""
    for waiting, blocker in pairwise(circle):
        owner: TaskId | None = waiting
        seen: set[TaskId] = set()
        while owner is not None and owner not in seen:
            seen.add(owner)
            task = linked.tasks.get(owner) or places.tasks.get(owner)
            if task is not None and blocker in task.blocked_by:
                yield owner, blocker
            owner = None if task is None else task.parent


def _cut(
    linked: Linked, circle: tuple[TaskId, ...], links: list[tuple[TaskId, TaskId]]
) -> list[tuple[TaskId, TaskId]]:
    """Takes out the last link of a circle that is new, and returns it; a parent where there is no such blocker."""
    for owner, blocker in reversed(links):
        task = linked.tasks.get(owner)
        if task is not None:
            kept = tuple(one for one in task.blocked_by if one != blocker)
            linked.tasks[owner] = replace(task, blocked_by=kept)
            why = f"does not wait for `{blocker}`, as that would close a circle"
            linked.leave_out(owner, "left_out_blockers", blocker, why)
            return [(owner, blocker)]
    for child in circle:
        if child in linked.tasks and (parent := linked.tasks[child].parent) is not None:
            _drop_parent(linked, child)
            return [(child, parent)]
    return []
