"""Brings one file of a checkout from the version it was at to a newer one, and never loses what a person wrote."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import dropwhile, islice, takewhile
from pathlib import Path

from gitticks.git.distances import nearest_first
from gitticks.git.files import CheckoutFiles
from gitticks.git.folders import NotPlainError
from gitticks.git.textmerge import Merge
from gitticks.model.values import Value

QUIET_SECONDS = 0.15
"""Programs that write in place empty the file first: what changed this recently may be half of what is coming."""

_ATTEMPTS = 5
_MOST_TRIED = 8
"""Of older versions so many are joined with the edit: as long as they exclude each other, every writer tries again."""


class Outcome(StrEnum):
    """What became of a file."""

    SAME = "same"
    """It needed nothing: it is at the new version, or holds that and a person's edits."""
    TAKEN = "taken"
    """It was untouched and is at the new version."""
    MERGED = "merged"
    """It holds the new version and a person's edits."""
    DEFERRED = "deferred"
    """Somebody is writing it at this moment; it is as they left it."""
    CONFLICT = "conflict"
    """The new version and a person's edits exclude each other; it is as the person left it."""


class Version(Value):
    """The way of one file: from the bytes it was last in step with to the new ones; None where there is no file."""

    path: str
    base: bytes | None
    new: bytes | None


@dataclass(frozen=True, slots=True)
class Followed:
    """What became of a file, the bytes that it holds now, and what had to be kept elsewhere.

    `status` is the file's, as long as it certainly holds those bytes.
    """

    path: str
    outcome: Outcome
    present: bytes | None
    rescued: tuple[Path, ...] = ()
    status: os.stat_result | None = field(default=None, compare=False)


OlderVersions = Callable[[str], Iterable[bytes]]
"""Returns the earlier contents of the file at a path, the newest first."""


def no_older_versions(path: str) -> Iterable[bytes]:  # noqa: ARG001
    """Returns nothing, for checkouts where only the last version counts."""
    return ()


@dataclass(frozen=True, slots=True)
class Follower:
    """How the files of one checkout are brought in step.

    Attributes:
        files: where they are.
        merge: joins a person's edit with the new version.
        older_versions: what else the person's edit may have begun from, in an editor that was open for long.
        quiet_seconds: how long an edited file must have been left alone.
    """

    files: CheckoutFiles
    merge: Merge
    older_versions: OlderVersions = no_older_versions
    quiet_seconds: float = QUIET_SECONDS

    def follow(self, version: Version) -> Followed:
        """Brings one file in step, and starts over when a person saves meanwhile."""
        rescued: tuple[Path, ...] = ()
        present = version.base
        for _ in range(_ATTEMPTS):
            try:
                present = self.files.read(version.path)
                outcome, wanted = self._decide(version, present)
                if outcome not in (Outcome.TAKEN, Outcome.MERGED):
                    return Followed(version.path, outcome, present, rescued)
                replaced = self.files.replace(version.path, present, wanted)
            except NotPlainError:
                return Followed(version.path, Outcome.CONFLICT, None, rescued)
            rescued += replaced.rescued
            if replaced.is_done:
                return Followed(version.path, outcome, wanted, rescued, replaced.status)
        return Followed(version.path, Outcome.DEFERRED, present, rescued)

    def _decide(self, version: Version, present: bytes | None) -> tuple[Outcome, bytes | None]:
        if version.new in (present, version.base):
            return Outcome.SAME, present
        if present == version.base or any(present == passed for passed in self._passed_over(version)):
            return Outcome.TAKEN, version.new
        if self._is_being_written(version.path):
            return Outcome.DEFERRED, present
        merged = self._merged(version, present)
        if merged is None:
            return Outcome.CONFLICT, present
        return (Outcome.SAME if merged == present else Outcome.MERGED), merged

    def _passed_over(self, version: Version) -> Iterator[bytes]:
        """Yields the versions between base and new: one of them is in the file if a call was killed half-way."""
        return takewhile(lambda content: content != version.base, self.older_versions(version.path))

    def _started_from(self, version: Version) -> Iterator[bytes]:
        """Yields the versions before the base, which an editor may have been showing; later ones nobody has seen."""
        return dropwhile(lambda content: content != version.base, self.older_versions(version.path))

    def _is_being_written(self, path: str) -> bool:
        age = self.files.age_seconds(path)
        return age is not None and abs(age) < self.quiet_seconds

    def _merged(self, version: Version, present: bytes | None) -> bytes | None:
        """Returns the person's edit joined with the new version; None for a conflict.

        One side that deleted what the other changed is a conflict, with nothing to merge.
        """
        if present is None or version.new is None:
            return None
        merged = self.merge(version.path, version.base or b"", present, version.new)
        return self._merged_from_older(version, present, version.new) if merged is None else merged

    def _merged_from_older(self, version: Version, present: bytes, new: bytes) -> bytes | None:
        """Returns the merge from the older version that the edit is closest to: an editor saved an old buffer.

        The new version itself, should the file have been like that before, is never taken for its base: the stale
        text would then win over it.
        """
        possible = (older for older in self._started_from(version) if older not in (new, version.base))
        for _, older in islice(nearest_first(possible, present), _MOST_TRIED):
            merged = self.merge(version.path, older, present, new)
            if merged is not None:
                return merged
        return None
