"""When a part of a task last changed on each side, from the commits that only that side has.

The time of the task's last write does not tell: a note raises it, though the title is as old as it was. Both clones
see the same commits, so both get the same answer, whichever side is called ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from gitticks.document.taskfile import TaskFile
    from gitticks.git.objects import Objects

Look: TypeAlias = "Callable[[TaskFile], object]"
"""Takes the part in question out of a version of the file."""
Times: TypeAlias = "Callable[[Look], tuple[int, int] | None]"
"""Returns when a part got the value that it has on each side, in seconds; None where the history does not say."""
MOST_COMMITS = 500


@dataclass(frozen=True, slots=True)
class _Version:
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
        from gitticks.git.process import run_git

        options = ["--parents", f"--max-count={MOST_COMMITS}", "--format=%H%x00%at%x00%P"]
        asked = ["log", *options, "--end-of-options", f"{other}..{side}", "--", path]
        listed = run_git(asked, repository_dir=self.objects.common_dir, check=False).text
        return [parts for line in listed.splitlines() if len(parts := line.split("\0")) == 3]  # noqa: PLR2004

    def _read(self, commit: str, path: str) -> TaskFile | None:
        """Returns the file of a commit; None where there is none, or none that can be read."""
        from gitticks.document.taskfile import TaskFile
        from gitticks.errors import DocumentError

        entry = self.objects.find(self.objects.tree_of(commit), path)
        if entry is None:
            return None
        if entry.object_id not in self._files:
            try:
                self._files[entry.object_id] = TaskFile.parse(self.objects.read_blob(entry.object_id), path)
            except DocumentError:
                self._files[entry.object_id] = None
        return self._files[entry.object_id]
