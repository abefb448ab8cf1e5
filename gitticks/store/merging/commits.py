"""Merges two commits of the state branch by meaning, in memory: what `gt sync` pushes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, count, islice
from typing import Any, NamedTuple

from gitticks.document.history import render_event
from gitticks.document.merging.task import MergedFile
from gitticks.document.taskfile import TaskFile
from gitticks.errors import DocumentError
from gitticks.git.objects import Objects
from gitticks.git.objects.database import AS_IS, folders_of
from gitticks.git.objects.trees import file_id, tree_id_of, walk_differences
from gitticks.model.event import ENGINE, Event, EventType
from gitticks.model.ids import ALPHABET, LETTERS, TaskId, is_valid_id, task_folder, task_path
from gitticks.store.layout import events_of, history_path, task_of_path
from gitticks.store.merging.files import keep_beside, merge_file
from gitticks.store.merging.task import Changes, born_first, is_another_birth

_BIRTH = re.compile(rb"^created(?:_by)?:.*$", re.MULTILINE)
_FORMERLY = "was `{}`, which another task already had"
_MOST_IDS = 8
"""So many of a task's next ids can have been taken."""
Files = dict[str, bytes | None]
"""What a side changed: contents by path, None for a file that it removed."""


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What a person should know of a merge.

    Attributes:
        conflicts: the parts of which both sides' texts are kept, by path.
        overridden: the fields that both sides changed, of which the later value stands, by path.
        renamed: tasks that were born with an id which another one had already.
        kept: files that one side removed and the other changed; they stay.
        beside: where texts are kept that could not be joined.
    """

    conflicts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    overridden: dict[str, tuple[str, ...]] = field(default_factory=dict)
    renamed: tuple[Renamed, ...] = ()
    kept: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


class Merged(NamedTuple):
    """What a merge changes on our side, contents by path, what is to be said of it, and which files are executable."""

    changes: Mapping[str, bytes | None]
    report: MergeReport
    executable: Mapping[str, bool] = AS_IS


def merge_commits(objects: Objects, base: str | None, ours: str, theirs: str) -> Merged:
    """Returns what makes our tree hold all that both commits changed since `base`; the result is the same both ways."""
    return _Merge(objects, base, ours, theirs).run()


class _Merge:
    def __init__(self, objects: Objects, base: str | None, ours: str, theirs: str) -> None:
        self._objects = objects
        self._base = None if base is None else objects.tree_of(base)
        self._trees = objects.tree_of(ours), objects.tree_of(theirs)
        self._old: dict[str, bytes | None] = {}
        self._programs = set[str](), set[str](), set[str]()
        mine, others = self._programs[1:]
        self._mine, self._others = self._changes(self._trees[0], mine), self._changes(self._trees[1], others)
        self._sides: tuple[tuple[Files, Collection[str]], ...] = ()
        self._result: Files = {}
        self._history = Changes(objects, ours, theirs)
        self._conflicts: dict[str, tuple[str, ...]] = {}
        self._overridden: dict[str, tuple[str, ...]] = {}
        self._kept: dict[str, None] = {}
        self._beside: list[str] = []

    def run(self) -> Merged:
        """Merges every path that either side changed."""
        here = {**self._old, **self._mine}
        programs = {path for path in set().union(*self._programs) if self._modes(path)[0]}
        mine = dict(self._mine)
        renamed = self._follow_renamed()
        renamed += rename_later_births(self._old, self._mine, self._others, self._is_taken)
        self._move_programs(renamed)
        self._sides = (
            (self._mine, _written_folders(self._others)),
            (self._others, _written_folders(self._mine)),
        )
        for path in sorted({*self._mine, *self._others, *mine}):
            self._merge(path)
        self._make_room()
        modes = {path: self._modes(path)[1] for path in set().union(*self._programs)}
        changes = {
            path: new
            for path, new in self._result.items()
            if new != here.get(path)
            or (new is not None and path in modes and modes[path] != (path in programs))
        }
        kept, beside = tuple(self._kept), tuple(sorted(self._beside))
        report = MergeReport(self._conflicts, self._overridden, renamed, kept, beside)
        return Merged(changes, report, modes)

    def _changes(self, tree: str, programs: set[str]) -> Files:
        """Returns what a side changed; it fills in what the changed files were before, and which are executable."""
        read = self._objects.read_blob
        changed: Files = {}
        for path, before, after in walk_differences(self._objects.changed_entries, (self._base, tree), ""):
            old, new = file_id(before), file_id(after)
            if old is None and new is None:
                continue
            self._old[path] = None if old is None else read(old)
            changed[path] = None if new is None else read(new)
            for entry, found in ((before, self._programs[0]), (after, programs)):
                if entry is not None and entry.is_executable:
                    found.add(path)
        return changed

    def _modes(self, path: str) -> tuple[bool, bool]:
        """Returns whether a file is executable on our side, and whether it is once merged: what a side changed stands."""
        old = path in self._programs[0]
        sides = zip((self._mine, self._others), self._programs[1:], strict=True)
        ours, theirs = (old if files.get(path) is None else path in programs for files, programs in sides)
        return ours, ours and theirs if old else ours or theirs

    def _follow_renamed(self) -> tuple[Renamed, ...]:
        """Moves what one side changed of a task to where the other has it, which gave its old id to another task."""
        return (
            *self._renamed_elsewhere(self._mine, self._trees[0], self._others, by_ours=True),
            *self._renamed_elsewhere(self._others, self._trees[1], self._mine, by_ours=False),
        )

    def _renamed_elsewhere(
        self, files: Files, tree: str, others: Files, *, by_ours: bool
    ) -> Iterator[Renamed]:
        touched, names = {_folder_of(path) for path in files}, dict[TaskId, TaskId]()
        for path in sorted(others):
            task_id, base, other = task_of_path(path), self._old.get(path), others[path]
            if task_id is None or base is None or other is None or task_folder(task_id) not in touched:
                continue
            if _BIRTH.findall(base) == _BIRTH.findall(other):  # so that few files are parsed
                continue
            was = _births(path, {path: base}, others)
            pair = _births(path, {path: files.get(path, base)}, others)
            if was is None or pair is None or is_another_birth(was[0], pair[0]):
                continue
            now, history = pair[0], history_path(task_id)
            ids = chain(islice(_ids_of(was[0]), _MOST_IDS), self._formerly(task_id, others))
            new = next((one for one in ids if _is_born_as(others.get(task_path(one)), one, was[0])), None)
            if new is not None:
                old = {one: self._old[one] for one in files if _folder_of(one) == task_folder(task_id)}
                _move(old, was[0], task_id, new)
                self._old |= old
                _move(files, now, task_id, new)
            elif history not in others or _is_grown(self._old.get(history), others[history]):
                continue  # it is the same task, and somebody corrected when it was created
            else:
                new = next(one for one in _ids_of(was[0]) if not self._is_taken(one))
                files |= (
                    self._files_below(tree, task_folder(task_id), self._programs[1 if by_ours else 2]) | files
                )
                _move(files, now, task_id, new)
                _note_move(files, now, task_id, new)
            names[task_id] = new
            yield Renamed(task_id, new, now.task.title, by_ours)
        _rename_links(files, names)

    def _formerly(self, task_id: TaskId, others: Files) -> Iterator[TaskId]:
        """Yields the new tasks of a side that had this id before, also with a title that they got meanwhile."""
        for path in sorted(others):
            new = task_of_path(path) if self._old.get(path) is None else None
            if new is not None and task_id in former_ids(others.get(history_path(new))):
                yield new

    def _files_below(self, tree: str, folder: str, programs: set[str]) -> Files:
        objects, files = self._objects, Files()
        trees = None, tree_id_of(objects.find(tree, folder))
        for path, _, entry in walk_differences(objects.changed_entries, trees, f"{folder}/"):
            if entry is not None and (new := file_id(entry)) is not None:
                files[path] = objects.read_blob(new)
                if entry.is_executable:
                    programs.add(path)
        return files

    def _move_programs(self, renamed: Iterable[Renamed]) -> None:
        for one in renamed:
            before, after = task_folder(one.old), task_folder(one.new)
            for programs in (self._programs[0], self._programs[1 if one.by_ours else 2]):
                below = [path for path in programs if path.startswith(f"{before}/")]
                programs.update(after + path.removeprefix(before) for path in below)

    def _merge(self, path: str) -> None:
        ours, theirs = (self._side(path, files, written) for files, written in self._sides)
        old = self._old.get(path)
        if ours is None or theirs is None:
            self._result[path] = self._one_gone(path, old, ours, theirs)
            return
        merged = merge_file(path, old, ours, theirs, self._history)
        self._result[path] = merged.data
        self._note(path, merged)

    def _side(self, path: str, files: Files, written: Collection[str]) -> bytes | None:
        """Returns what a side has at a path; a task that it removed and the other changed it has as it was."""
        if path not in files:
            return self._old.get(path)
        content = files[path]
        if content is None and _is_kept(path, files, written):
            self._kept[path] = None
            return self._old[path]
        return content

    def _one_gone(
        self, path: str, old: bytes | None, ours: bytes | None, theirs: bytes | None
    ) -> bytes | None:
        """Returns a file that one side has: new, or changed where the other removed it; else it is gone."""
        present = ours if ours is not None else theirs
        if present is not None and old is not None and present != old:
            self._kept[path] = None
            return present
        return present if old is None else None

    def _note(self, path: str, merged: MergedFile) -> None:
        if merged.conflicts:
            self._conflicts[path] = merged.conflicts
        if merged.overridden:
            self._overridden[path] = merged.overridden
        for name, content in merged.beside:
            self._result[name] = content
            self._beside.append(name)

    def _make_room(self) -> None:
        """Keeps a file beside the folder that the other side made of it."""
        present = [path for path, content in self._result.items() if content is not None]
        for folder in sorted({folder for path in present for folder in folders_of(path)}):
            content = self._result.get(folder)
            if content is not None:
                beside = keep_beside(folder, content, content)._replace(conflicts=())
                if self._modes(folder)[1]:
                    self._programs[0].update(name for name, _ in beside.beside)
                self._result[folder] = None
                self._kept.pop(folder, None)
                self._note(folder, beside)

    def _is_taken(self, task_id: TaskId) -> bool:
        folder = task_folder(task_id)
        return any(self._objects.find(tree, folder) is not None for tree in self._trees)


def _is_kept(path: str, files: Files, written: Collection[str]) -> bool:
    """True for a file of a task whose folder one side removed while it is among those that the other wrote in."""
    folder = _folder_of(path)
    return folder in written and files.get(f"{folder}/TASK.md", b"") is None


def _written_folders(files: Files) -> frozenset[str]:
    found = (_folder_of(path) for path, content in files.items() if content is not None)
    return frozenset(folder for folder in found if folder is not None)


def _folder_of(path: str) -> str | None:
    parts = path.split("/")
    folder = "/".join(parts[:3])
    return folder if len(parts) > 3 and task_of_path(f"{folder}/TASK.md") is not None else None  # noqa: PLR2004


class Renamed(NamedTuple):
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
        new = next(one for one in _ids_of(later) if one not in taken and not is_taken(one))
        renamed.append(Renamed(task_id, new, later.task.title, by_ours))
        files = ours if by_ours else theirs
        _move(files, later, task_id, new)
        _note_move(files, later, task_id, new)
    for files, is_ours in ((ours, True), (theirs, False)):
        _rename_links(files, {one.old: one.new for one in renamed if one.by_ours is is_ours})
    return tuple(renamed)


def _births(path: str, ours: Files, theirs: Files) -> tuple[TaskFile, TaskFile] | None:
    """Returns the tasks that two sides have at a path if they are two, and not versions of one."""
    mine, other = ours[path], theirs[path]
    if mine is None or other is None or mine == other:
        return None
    try:
        pair = TaskFile.parse(mine, path), TaskFile.parse(other, path)
    except DocumentError:
        return None
    return pair if is_another_birth(*pair) and pair[0].task.id == pair[1].task.id else None


def _is_grown(before: bytes | None, history: bytes | None) -> bool:
    """True if a history still has every line; merges sort them."""
    return bool(before) and set((before or b"").splitlines()) <= set((history or b"").splitlines())


def _is_born_as(content: bytes | None, task_id: TaskId, file: TaskFile) -> bool:
    try:
        born = None if content is None else TaskFile.parse(content, task_path(task_id))
    except DocumentError:
        return False
    return born is not None and not is_another_birth(born, file.with_task(replace(file.task, id=task_id)))


def _ids_of(file: TaskFile) -> Iterator[TaskId]:
    """Yields ids that follow from the task's birth alone, as long as the old one."""
    task = file.task
    length = max(4, len(task.id))
    for attempt in count():
        words = f"{task.id}\0{task.born}\0{task.created_by}\0{task.title}\0{attempt}"
        number = int.from_bytes(hashlib.sha256(words.encode()).digest())
        signs = [LETTERS[number % len(LETTERS)]]
        for _ in range(length - 1):
            number //= 32
            signs.append(ALPHABET[number % 32])
        yield TaskId("".join(signs))


def _move(files: Files, file: TaskFile, old: TaskId, new: TaskId) -> None:
    before, after = task_folder(old), task_folder(new)
    for path in [path for path in files if path.startswith(f"{before}/")]:
        files[after + path.removeprefix(before)] = files.pop(path)
    if task_path(new) in files:
        files[task_path(new)] = file.with_task(replace(file.task, id=new)).data


def _note_move(files: Files, file: TaskFile, old: TaskId, new: TaskId) -> None:
    at = file.task.updated or file.task.created
    if at is not None:
        reason = _FORMERLY.format(old)
        event = Event(EventType.FIELDS_CHANGED, at, ENGINE, reason=reason, data={"fields": ["id"]})
        history = files.get(history_path(new)) or b""
        files[history_path(new)] = history + render_event(event).encode()


def former_ids(history: bytes | None) -> Iterator[TaskId]:
    """Yields the ids that a task had before merges told it from others."""
    for event in events_of(history):
        for task_id in re.findall(r"`(.*)`", event.reason or ""):
            if is_valid_id(task_id) and event.reason == _FORMERLY.format(task_id):
                yield TaskId(task_id)


def _rename_links(files: Files, names: Mapping[TaskId, TaskId]) -> None:
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
