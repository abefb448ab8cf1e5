"""Tells a moved task folder from a removed task plus a new one.

A folder in the wrong place is read by nobody, so putting it back must be possible, with the files as they are.
Where it was only renamed on the board, and nothing committed, the doctor can move it back by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from gitticks.git.objects import Change
from gitticks.git.staged import StagedChange
from gitticks.model.ids import LONGEST, TaskId, is_valid_id, task_folder, task_path
from gitticks.store.layout import TASK_FILE, task_around

AnyChange = TypeVar("AnyChange", Change, StagedChange)

ID_LINE = re.compile(rb"^id: *[\"']?([0-9a-z-]{1,64})[\"']? *$", re.MULTILINE)
"""What a task's file says of its id, also where nothing else in it can be read."""
_IN_FOLDER = re.compile(r"(tasks/[^/]+/([^/]+))/(.+)")


def join_moves(changes: Iterable[AnyChange]) -> tuple[AnyChange, ...]:
    """Returns the changes with each file that left a wrong folder for the right one as one change there.

    Files that are the same as before are left out, but for the task's own.
    """
    given = tuple(changes)
    removals = _removals(given)
    joined: list[AnyChange] = []
    gone: set[str] = set()
    for change in given:
        source = _source(change, removals)
        if source is None:
            joined.append(change)
            continue
        gone.add(source.path)
        if source.old != change.new or change.path.endswith("/TASK.md"):
            joined.append(change._replace(old=source.old))
    return tuple(change for change in joined if change.path not in gone)


def home_of(path: str) -> str | None:
    """Returns where the folder of a file in the wrong place belongs; None for a file that lies right or nowhere."""
    match = _IN_FOLDER.fullmatch(path)
    if match is None or not is_valid_id(match[2]):
        return None
    home = task_folder(TaskId(match[2]))
    return None if home == match[1] else home


def is_astray(path: str) -> bool:
    """True for a task's file that does not lie two folders below `tasks/`, where tasks are looked for."""
    is_hidden = any(part.startswith(".") for part in path.split("/"))
    is_named = f"/{path}".endswith(f"/{TASK_FILE}")
    match = _IN_FOLDER.fullmatch(path)
    is_between = match is not None and match[3] == TASK_FILE
    return is_named and not is_hidden and not is_between and task_around(path) is None


def place_for(path: str, content: bytes | None) -> str:
    """Returns what to do with a task's file in the wrong folder; the id inside goes before the folder's name."""
    inside = None if content is None else ID_LINE.search(content)
    name = path.rpartition("/")[0].rpartition("/")[2] if inside is None else inside[1].decode()
    if is_valid_id(name):
        return f"move it to `{task_path(TaskId(name))}`"
    like = re.sub(r"[^0-9a-z]+", "-", name.lower()).strip("-")[:LONGEST]
    example = f": `id: {like}` belongs in `{task_path(TaskId(like))}`" if is_valid_id(like) else ""
    return f"an id has only a-z, 0-9 and `-`{example}"


def id_inside(content: bytes) -> TaskId | None:
    """Returns the id that a task's file gives itself, also where nothing else in it can be read."""
    match = ID_LINE.search(content)
    name = None if match is None else match[1].decode()
    return TaskId(name) if name is not None and is_valid_id(name) else None


def _removals(changes: Sequence[AnyChange]) -> dict[tuple[str, str], tuple[int, AnyChange]]:
    """Returns the first removal from a wrong folder, with its number, by its path there and by what it may continue as.

    That is the folder where it belongs, or the content that it had.
    """
    found: dict[tuple[str, str], tuple[int, AnyChange]] = {}
    for number, change in enumerate(changes):
        match = _IN_FOLDER.fullmatch(change.path)
        if change.new is None and match is not None and _is_wrong(change.path):
            for goes_on_as in (home_of(change.path), change.old):
                if goes_on_as is not None:
                    found.setdefault((match[3], goes_on_as), (number, change))
    return found


def _source(change: AnyChange, removals: Mapping[tuple[str, str], tuple[int, AnyChange]]) -> AnyChange | None:
    """Returns the removal from a wrong folder that a new file in a right one stands for."""
    match = _IN_FOLDER.fullmatch(change.path)
    if change.old is not None or change.new is None or match is None or home_of(change.path) is not None:
        return None
    found = [removals[key] for key in ((match[3], match[1]), (match[3], change.new)) if key in removals]
    return min(found, key=lambda one: one[0])[1] if found else None


def _is_wrong(path: str) -> bool:
    match = _IN_FOLDER.fullmatch(path)
    return match is not None and (not is_valid_id(match[2]) or home_of(path) is not None)
