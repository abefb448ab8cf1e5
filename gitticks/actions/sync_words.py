"""What a sync brought about, in words."""

from __future__ import annotations

from collections.abc import Iterator

from gitticks.actions.sync import Synced
from gitticks.model.ids import BOARD_FOLDER
from gitticks.store.layout import task_around, task_of_path
from gitticks.store.merging.commits import Renamed
from gitticks.store.merging.files import standing_beside


def words_of_renamed(one: Renamed) -> str:
    """Returns that a task got another id."""
    return f"renamed {one.old} to {one.new}: {one.title} (two tasks were created with the same id)"


def merge_warnings(done: Synced) -> Iterator[str]:
    """Yields what a person should know of the merges of a sync."""
    beside = {path: standing_beside(path) for path in done.beside}
    for path, parts in done.conflicts.items():
        task = task_of_path(path)
        if task is None and path in beside.values():
            continue  # named below, with the file that has the other version
        whose = f"{task} is conflicted" if task else "conflict"
        yield f"{whose}: both sides changed {', '.join(parts)}; both versions are in {BOARD_FOLDER}/{path}"
    for path, names in done.overridden.items():
        yield f"{task_around(path) or path}: both sides set {', '.join(names)}; the later value wins"
    for path in done.kept:
        yield f"{BOARD_FOLDER}/{path} was removed on one side and changed on the other; it stays"
    for path, standing in beside.items():
        if standing is not None:
            yield (
                f"both sides changed {BOARD_FOLDER}/{standing} and could not be merged: the other version is in "
                f"{BOARD_FOLDER}/{path} until you resolve it: `gt doctor` says how"
            )
        else:
            yield f"what could not be merged is kept in {BOARD_FOLDER}/{path}"
    for cycle in done.cycles:
        yield f"tasks wait for one another in a cycle: {cycle.words}; {cycle.fix} removes a link"
