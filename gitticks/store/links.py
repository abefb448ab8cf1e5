"""Checks a task's links to others: its parent and its blockers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gitticks.errors import NotFoundError, RefusedError
from gitticks.model.graph import find_cycle, shown
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.status import Status
from gitticks.model.task import Task

_HINT = "`gt list` shows the tasks"


def changes_links(before: Task | None, after: Task) -> bool:
    """True if there is anything for `check_links` to look at; saves most changes the reading of all tasks."""
    if before is None:
        return after.parent is not None or bool(after.blocked_by)
    return (before.parent, before.blocked_by, before.type) != (after.parent, after.blocked_by, after.type)


def check_links(tasks: Mapping[TaskId, Task], before: Task | None, after: Task) -> None:
    """Refuses links that make no sense, as far as they are new.

    Raises:
        NotFoundError: the parent or a blocker does not exist.
        RefusedError: the parent is no epic, tasks would wait for one another in a cycle, or work that was handed off would
            leave the epic on whose branch it is.
    """
    has_new_parent = after.parent is not None and (before is None or before.parent != after.parent)
    new_blockers = [one for one in after.blocked_by if before is None or one not in before.blocked_by]
    if after.parent is not None and has_new_parent:
        if after.parent == after.id:
            raise RefusedError(f"`{after.id}` cannot be its own parent", hint="`gt tree` shows the epics")
        parent = tasks.get(after.parent)
        if parent is None:
            raise NotFoundError(f"there is no task `{after.parent}` to be the parent", hint=_HINT)
        if not parent.is_epic:
            raise RefusedError(
                f"`{parent.id}` is a task, and only epics have children",
                hint=f"`gt update {parent.id} --type epic` makes it one",
            )
    for blocker in new_blockers:
        if blocker not in tasks and blocker != after.id:
            raise NotFoundError(f"there is no task `{blocker}` to wait for", hint=_HINT)
    if before is not None:
        _check_epics(tasks, before, after)
    if has_new_parent or new_blockers:
        refuse_cycle({**tasks, after.id: after}, after)


def _check_epics(tasks: Mapping[TaskId, Task], before: Task, after: Task) -> None:
    """Refuses to make a task of an epic with children, and to take out of an epic what is handed off on its branch."""
    if before.is_epic and not after.is_epic:
        child = next((one for one in tasks.values() if one.parent == after.id), None)
        if child is not None:
            raise RefusedError(
                f"`{after.id}` has children, so it stays an epic",
                hint=f"`gt update {child.id} --parent=null` removes `{child.id}` from it",
            )
    epic = tasks.get(before.sharing_epic) if before.sharing_epic else None
    if epic is None or not epic.is_open or before.parent == after.parent:
        return
    if before.is_handed_off or before.carrier:
        back = f'`gt reject {after.id} "…"` sends it back first; it then starts over where you move it'
        raise RefusedError(
            f"the work of `{after.id}` is handed off on the branch of `{epic.id}`, with which it is merged",
            hint=f"move it once `{epic.id}` is merged" if before.carrier else back,
        )


def refuse_cycle(tasks: Mapping[TaskId, Task], changed: Task) -> None:
    """Refuses a cycle through a task that is new, changed or reopened, or through what is below it.

    What is below it shares its blockers.
    """
    above = changed.parent
    passed: set[TaskId] = set()
    while above is not None and above not in passed:
        if above == changed.id:
            raise RefusedError(f"`{changed.id}` would be its own ancestor", hint=f"`gt show {changed.id}`")
        passed.add(above)
        above = tasks[above].parent if above in tasks else None

    as_open = replace(changed, status=Status.PENDING)  # a closed one may be reopened, and would wait then
    graph = TaskGraph.of({**tasks, changed.id: as_open}.values())
    waiting, seen = [changed.id], {changed.id}
    while waiting:
        task_id = waiting.pop()
        cycle = find_cycle(graph, task_id)
        if cycle:
            raise RefusedError(
                f"`{task_id}` would wait for itself: {shown(cycle)}",
                hint=f"`gt show {cycle[1]}` shows what it waits for",
            )
        children = [child.id for child in graph.children(task_id) if child.id not in seen]
        seen.update(children)
        waiting += children
