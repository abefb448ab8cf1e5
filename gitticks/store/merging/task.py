"""Merges three versions of a task file: the rules of state choose a side, texts are merged.

Whichever of two sides is called ours, the result is the same to the byte, so clones that merge each for itself agree.

Where both sides changed one part, the commits that only one side has say when it last did. The time of the task's last
write does not tell: a note raises it, though the title is as old as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple, TypeAlias

from gitticks.document.merging.fields import value_at
from gitticks.document.merging.task import MergedFile, merge_files, with_second_birth
from gitticks.document.taskfile import TaskFile
from gitticks.errors import DocumentError
from gitticks.git.objects import Objects
from gitticks.git.process import run_git
from gitticks.model.event import ENGINE
from gitticks.model.notes import Entry, Section
from gitticks.model.task import ENGINE_FIELDS, Task
from gitticks.workflow.bundle import BUNDLE_FIELDS, BUNDLE_SECTIONS, Side, is_late, stands_before, time_key

Look: TypeAlias = Callable[[TaskFile], object]
"""Takes the part in question out of a version of the file."""
Times: TypeAlias = Callable[[Look], tuple[int, int] | None]
"""Returns when a part got the value that it has on each side, in seconds; None where the history does not say."""
MOST_COMMITS = 500


def merge_task(
    base: bytes | None,
    ours: bytes,
    theirs: bytes,
    path: str,
    times: Times | None = None,
    *,
    is_uncommitted: bool = False,
) -> MergedFile | None:
    """Returns the task's file with the changes of both sides; None if a side cannot be read or joined.

    A base that cannot be read, or none, means that each side counts as made by itself. Without `times` the later
    `updated` of the whole task counts. If theirs `is_uncommitted`, it is edits that a person puts back on top of ours:
    they stand, and what only gitticks writes is that of ours.
    """
    if theirs in (ours, base):
        return MergedFile(ours)
    if ours == base:
        return MergedFile(theirs)

    try:
        one, other = (TaskFile.parse(data, path) for data in sorted((ours, theirs)))
    except DocumentError:
        return None
    try:
        before = TaskFile.parse(base, path) if base is not None else None
    except DocumentError:
        before = None
    try:
        if before is None and is_another_birth(one, other):
            # The earlier task with the whole file of the later one below its frontmatter, marked.
            earlier, later = (one, other) if born_first(one, other) else (other, one)
            return MergedFile(with_second_birth(earlier, later), ("the whole task",), born_twice=True)
        is_swapped = ours > theirs
        if is_uncommitted:
            return _put_back(before, *((other, one) if is_swapped else (one, other)))
        return _joined(before, one, other, lambda look: _ordered(times, look, is_swapped=is_swapped))
    except DocumentError:
        return None


def with_superseded(merged: MergedFile, path: str) -> bytes:
    """Returns the merged file with the hand-off or review that does not stand as a note.

    For merges that write one file alone, so that there is no place beside it; and a rebase leaves its commit behind.
    """
    if not merged.superseded:
        return merged.data

    file = TaskFile.parse(merged.data, path)
    at = file.task.updated or file.task.created or datetime.fromtimestamp(0, UTC)
    known = {entry.text for entry in file.entries(Section.NOTES)}
    for section, text in merged.superseded:
        entry = Entry(at, ENGINE.kind, ENGINE.name, f"`## {section}` of the other side:\n\n{text}")
        if entry.text not in known:
            file = file.with_entry(Section.NOTES, entry)
    return file.data


def is_another_birth(one: TaskFile, other: TaskFile) -> bool:
    """True if the files are of two tasks that were given the same id, and not two versions of one."""
    return one.task.id != other.task.id or not is_same_birth(one.task, other.task)


def is_same_birth(one: Task, other: Task) -> bool:
    """True if two tasks were created by one person at one time, whatever their ids are."""
    return (one.created, one.created_by) == (other.created, other.created_by)


def born_first(one: TaskFile, other: TaskFile) -> bool:
    """True if `one` is the task that keeps the id; the same answer in every clone."""
    return _birth(one) <= _birth(other)


def _birth(file: TaskFile) -> tuple[bool, str, str, str, bytes]:
    task = file.task
    return (not task.born, task.born, task.created_by or "", task.title, file.data)


def _ordered(times: Times | None, look: Look, *, is_swapped: bool) -> tuple[int, int] | None:
    found = None if times is None else times(look)
    return found if found is None or not is_swapped else (found[1], found[0])


def _joined(base: TaskFile | None, one: TaskFile, other: TaskFile, times: Times) -> MergedFile:
    def bundle_times() -> tuple[int, int] | None:
        return times(lambda file: side_of(file).bundle)

    def later(keys: tuple[str, ...]) -> tuple[int, int] | None:
        found = times(lambda file: value_at(file.frontmatter, keys))
        return found if found is None or frame is one else (found[1], found[0])

    first = stands_before(side_of(base) if base else None, side_of(one), side_of(other), bundle_times)
    if first is None:
        first = time_key(one.task) >= time_key(other.task)
    frame, guest = (one, other) if first else (other, one)
    mine, theirs = time_key(frame.task), time_key(guest.task)
    return merge_files(
        base,
        frame,
        guest,
        fields=BUNDLE_FIELDS,
        sections=BUNDLE_SECTIONS,
        guest_is_later=None if mine == theirs else theirs > mine,
        later=later,
    )


def _put_back(base: TaskFile | None, ours: TaskFile, edited: TaskFile) -> MergedFile:
    began = Side(Task(ours.task.id, ""), (None,) * len(BUNDLE_SECTIONS)) if base is None else side_of(base)
    is_over = is_late(began, side_of(edited), side_of(ours))
    if is_over:
        edited = edited.with_task(replace(edited.task, verdict=None))
    merged = merge_files(
        base,
        ours,
        edited,
        fields=ENGINE_FIELDS,
        sections=BUNDLE_SECTIONS if is_over else (),
        guest_is_later=False,
        later=lambda _: (0, 1),
    )
    # The marks of a conflict raise it, but a file that nobody commits yet has that of the branch.
    file = TaskFile.parse(merged.data, ours.path)
    file = file.with_task(replace(file.task, updated=ours.task.updated))
    return merged._replace(data=file.data)


def side_of(file: TaskFile) -> Side:
    """Returns what of a task's file moves together."""
    return Side(file.task, tuple(file.all_text(section) for section in BUNDLE_SECTIONS))


class _Version(NamedTuple):
    """The file in one commit, and in that commit's parents as far as they matter."""

    time: int
    file: TaskFile | None
    parents: tuple[TaskFile | None, ...]


@dataclass(slots=True)
class Changes:
    """The history of two commits, looked into only where both sides changed one thing."""

    objects: Objects
    ours: str
    theirs: str
    _versions: dict[tuple[str, str], list[_Version]] = field(default_factory=dict)
    _files: dict[str, TaskFile | None] = field(default_factory=dict)

    def of(self, path: str) -> Times:
        """Returns what answers for one file, for ours and theirs in this order."""
        return partial(self._times, path)

    def _times(self, path: str, look: Look) -> tuple[int, int] | None:
        one = self._time(path, look, self.ours, self.theirs)
        other = None if one is None else self._time(path, look, self.theirs, self.ours)
        return None if one is None or other is None else (one, other)

    def _time(self, path: str, look: Look, side: str, other: str) -> int | None:
        final = self._read(side, path)
        if final is None:
            return None
        value = look(final)
        found = [
            version.time
            for version in self._of_side(path, side, other)
            if version.file is not None
            and look(version.file) == value
            and all(before is None or look(before) != value for before in version.parents)
        ]
        return max(found, default=None)

    def _of_side(self, path: str, side: str, other: str) -> list[_Version]:
        """Returns the versions that `side` has and `other` has not, with the times at which they were written."""
        if (path, side) not in self._versions:
            self._versions[path, side] = [
                _Version(
                    int(time),
                    self._read(commit, path),
                    tuple(self._read(parent, path) for parent in parents.split()),
                )
                for commit, time, parents in self._listed(path, side, other)
            ]
        return self._versions[path, side]

    def _listed(self, path: str, side: str, other: str) -> list[list[str]]:
        options = ["--parents", f"--max-count={MOST_COMMITS}", "--format=%H%x00%at%x00%P"]
        asked = ["log", *options, "--end-of-options", f"{other}..{side}", "--", path]
        listed = run_git(asked, repository_dir=self.objects.common_dir, check=False).text
        return [parts for line in listed.splitlines() if len(parts := line.split("\0")) == 3]  # noqa: PLR2004

    def _read(self, commit: str, path: str) -> TaskFile | None:
        """Returns the file of a commit; None where there is none, or none that can be read."""
        entry = self.objects.find(self.objects.tree_of(commit), path)
        if entry is None:
            return None
        if entry.object_id not in self._files:
            try:
                self._files[entry.object_id] = TaskFile.parse(self.objects.read_blob(entry.object_id), path)
            except DocumentError:
                self._files[entry.object_id] = None
        return self._files[entry.object_id]
