"""Merges two commits of the state branch by meaning, in memory: what `gt sync` pushes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from gitticks.git.objects import Objects
from gitticks.model.ids import TaskId, task_folder
from gitticks.store.layout import task_of_path
from gitticks.store.merging.births import Files, Renamed, rename_later_births
from gitticks.store.merging.files import MergedFile, merge_file
from gitticks.store.merging.task import Changes


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


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge changes on our side, contents by path, and what is to be said of it."""

    changes: Mapping[str, bytes | None]
    report: MergeReport


def merge_commits(objects: Objects, base: str | None, ours: str, theirs: str) -> Merged:
    """Returns what makes our tree hold all that both commits changed since `base`; the result is the same both ways."""
    return _Merge(objects, base, ours, theirs).run()


class _Merge:
    def __init__(self, objects: Objects, base: str | None, ours: str, theirs: str) -> None:
        self._objects = objects
        self._base = None if base is None else objects.tree_of(base)
        self._trees = objects.tree_of(ours), objects.tree_of(theirs)
        self._old: dict[str, bytes | None] = {}
        self._mine, self._others = (self._changes(tree) for tree in self._trees)
        self._sides: tuple[tuple[Files, Collection[str]], ...] = ()
        self._result: Files = {}
        self._report = MergeReport()
        self._history = Changes(objects, ours, theirs)
        self._kept: dict[str, None] = {}
        self._beside: list[str] = []

    def run(self) -> Merged:
        """Merges every path that either side changed."""
        mine = dict(self._mine)
        renamed = rename_later_births(self._old, self._mine, self._others, self._is_taken)
        self._sides = (
            (self._mine, _written_folders(self._others)),
            (self._others, _written_folders(self._mine)),
        )
        for path in sorted({*self._mine, *self._others, *mine}):
            self._merge(path)
        here = {**self._old, **mine}
        changes = {path: new for path, new in self._result.items() if new != here.get(path)}
        report = MergeReport(
            self._report.conflicts,
            self._report.overridden,
            renamed,
            tuple(self._kept),
            tuple(sorted(self._beside)),
        )
        return Merged(changes, report)

    def _changes(self, tree: str) -> Files:
        """Returns what a side changed; it fills in what the changed files were before."""
        read = self._objects.read_blob
        changed: Files = {}
        for one in self._objects.changed_files(self._base, tree):
            self._old[one.path] = None if one.old is None else read(one.old)
            changed[one.path] = None if one.new is None else read(one.new)
        return changed

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
            self._report.conflicts[path] = merged.conflicts
        if merged.overridden:
            self._report.overridden[path] = merged.overridden
        for name, content in merged.beside:
            self._result[name] = content
            self._beside.append(name)

    def _is_taken(self, task_id: TaskId) -> bool:
        folder = task_folder(task_id)
        return any(self._objects.find(tree, folder) is not None for tree in self._trees)


def _is_kept(path: str, files: Files, written: Collection[str]) -> bool:
    """True for a file of a task whose folder one side removed while it is among those that the other wrote in."""
    folder = _folder_of(path)
    return folder in written and files.get(f"{folder}/TASK.md", b"") is None


def _written_folders(files: Files) -> frozenset[str]:
    """Returns the folders of the tasks in which a side left a file."""
    found = (_folder_of(path) for path, content in files.items() if content is not None)
    return frozenset(folder for folder in found if folder is not None)


def _folder_of(path: str) -> str | None:
    """Returns the folder of the task that a path belongs to."""
    parts = path.split("/")
    folder = "/".join(parts[:3])
    return folder if len(parts) > 3 and task_of_path(f"{folder}/TASK.md") is not None else None  # noqa: PLR2004
