"""Finds links that led to nothing when they were imported, and whose targets come with this import."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitticks.actions.importing.placing import Places
from gitticks.document.foreign.record import ForeignTask, Problem
from gitticks.document.foreign.writing import IMPORTED
from gitticks.document.yaml_nodes import loose_node
from gitticks.errors import DocumentError
from gitticks.model.ids import TaskId, task_path

_KINDS = ("missing_parent", "missing_blockers")


def leads_to_new(places: Places, one: ForeignTask) -> bool:
    """True if a task that was here already has a link to one that comes now."""
    return any(places.is_new(name) for name in (one.parent, *one.blocked_by) if name is not None)


def left_links(places: Places, task_id: TaskId, one: ForeignTask) -> Problem:
    """Returns what to tell of a task with such a link that was changed here, and so is not written again."""
    blockers = (name for name in one.blocked_by if places.is_new(name))
    is_part = one.parent is not None and places.is_new(one.parent)
    return _told(places, task_id, one.parent if is_part else None, blockers, (one.path, one.line))


def links_of_others(places: Places) -> Iterator[Problem]:
    """Yields what to tell of tasks that the source does not name now, and whose links could be made now."""
    named = {*places.ids.values()}
    for task_id in places.tasks:
        if task_id in named or b"missing_" not in (places.transaction.read(task_path(task_id)) or b""):
            continue
        parents, blockers = _missing(places, task_id)
        if parents or blockers:
            place = (task_path(task_id), None)
            yield _told(places, task_id, parents[0] if parents else None, blockers, place)


def _missing(places: Places, task_id: TaskId) -> tuple[list[str], list[str]]:
    """Returns the names of a missing parent and of missing blockers that come now."""
    try:
        tree = places.transaction.task_file(task_id).frontmatter.tree
    except DocumentError:
        return [], []
    imported = loose_node(tree.get(IMPORTED))
    if not isinstance(imported, dict) or imported.get("source") != places.format.value:
        return [], []
    words = (imported.get(kind) for kind in _KINDS)
    parents, blockers = (found.split() if isinstance(found, str) else [] for found in words)
    return [one for one in parents if places.is_new(one)], [one for one in blockers if places.is_new(one)]


def _told(
    places: Places,
    task_id: TaskId,
    parent: str | None,
    blockers: Iterable[str],
    place: tuple[str, int | None],
) -> Problem:
    others = " ".join(places.ids[name] for name in blockers)
    commands = [f"`gt block {task_id} {others}`"] if others else []
    commands += [f"`gt update {task_id} --parent {places.ids[parent]}`"] if parent is not None else []
    message = (
        f"`{task_id}` has links to what comes now, which stay unmade: {' and '.join(commands)} makes them"
    )
    return Problem(*place, message)
