"""Gives the later of two tasks created with the same id a new one, the same in every clone."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gitticks.document.history import render_event
from gitticks.document.taskfile import TaskFile
from gitticks.errors import DocumentError
from gitticks.model.event import ENGINE, Event, EventType
from gitticks.model.ids import ALPHABET, LETTERS, TaskId, task_folder, task_path
from gitticks.store.layout import history_path, task_of_path
from gitticks.store.merging.task import born_first, is_another_birth

Files = dict[str, bytes | None]
"""What a side changed: contents by path, None for a file that it removed."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """A task that got another id; `by_ours` tells on which side it was born."""

    old: TaskId
    new: TaskId
    title: str
    by_ours: bool


def rename_later_births(
    old: Mapping[str, bytes | None], ours: Files, theirs: Files, is_taken: Callable[[TaskId], bool]
) -> tuple[Renamed, ...]:
    """Moves each such task, in the files of its side, to a new id, with what names it there.

    `old` are the contents that the changed files had before.
    """
    renamed: list[Renamed] = []
    for path in sorted(ours.keys() & theirs.keys()):
        task_id = task_of_path(path)
        pair = None if task_id is None or old.get(path) is not None else _births(path, ours, theirs)
        if pair is None or task_id is None:
            continue
        by_ours = not born_first(*pair)
        later = pair[0] if by_ours else pair[1]
        taken = {one.new for one in renamed}
        new = _new_id(later, lambda one, taken=taken: one in taken or is_taken(one))  # type: ignore[misc]
        renamed.append(Renamed(task_id, new, later.task.title, by_ours))
        _move(ours if by_ours else theirs, later, task_id, new)
    for files, is_ours in ((ours, True), (theirs, False)):
        _rename_links(files, {one.old: one.new for one in renamed if one.by_ours is is_ours})
    return tuple(renamed)


def _births(path: str, ours: Files, theirs: Files) -> tuple[TaskFile, TaskFile] | None:
    mine, other = ours[path], theirs[path]
    if mine is None or other is None or mine == other:
        return None
    try:
        pair = TaskFile.parse(mine, path), TaskFile.parse(other, path)
    except DocumentError:
        return None
    return pair if is_another_birth(*pair) and pair[0].task.id == pair[1].task.id else None


def _new_id(file: TaskFile, is_taken: Callable[[TaskId], bool]) -> TaskId:
    """Returns an id that follows from the task's birth alone, as long as the old one."""
    task = file.task
    length, attempt = max(4, len(task.id)), 0
    while True:
        words = f"{task.id}\0{task.born}\0{task.created_by}\0{task.title}\0{attempt}"
        number = int.from_bytes(hashlib.sha256(words.encode()).digest())
        signs = [LETTERS[number % len(LETTERS)]]
        for _ in range(length - 1):
            number //= 32
            signs.append(ALPHABET[number % 32])
        found = TaskId("".join(signs))
        if not is_taken(found):
            return found
        attempt += 1


def _move(files: Files, file: TaskFile, old: TaskId, new: TaskId) -> None:
    before, after = task_folder(old), task_folder(new)
    for path in [path for path in files if path.startswith(f"{before}/")]:
        content = files.pop(path)
        if content is not None:
            files[after + path.removeprefix(before)] = content
    files[task_path(new)] = file.with_task(replace(file.task, id=new)).data
    at = file.task.updated or file.task.created
    if at is not None:
        reason = f"was `{old}`, which another task already had"
        event = Event(EventType.FIELDS_CHANGED, at, ENGINE, reason=reason, data={"fields": ["id"]})
        history = files.get(history_path(new)) or b""
        files[history_path(new)] = history + render_event(event).encode()


def _rename_links(files: Files, names: Mapping[TaskId, TaskId]) -> None:
    """Lets what a side wrote name its own task by the new id."""
    for path in list(files) if names else ():
        content = files[path]
        if task_of_path(path) is None or content is None:
            continue
        try:
            file = TaskFile.parse(content, path)
            task = file.task
            parent = names.get(task.parent, task.parent) if task.parent else None
            changed: dict[str, Any] = {"parent": parent, "blocked_by": _renamed(task.blocked_by, names)}
            files[path] = file.with_task(replace(task, **changed)).data
        except DocumentError:
            continue  # a broken file is named by every reader


def _renamed(ids: Iterable[TaskId], names: Mapping[TaskId, TaskId]) -> tuple[TaskId, ...]:
    return tuple(names.get(one, one) for one in ids)
