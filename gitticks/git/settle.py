"""Decides what the index says of a file after the checkout followed its branch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from gitticks.git.follow import Followed, Outcome
from gitticks.git.indexfile import BASE, OURS, RESOLVED, THEIRS, IndexEntry
from gitticks.git.texts import Merge

EXECUTABLE, PLAIN = "100755", "100644"


class Move(NamedTuple):
    """The object ids that a path goes between on its branch, and its new mode; None where there is no file.

    `seen` is an earlier new version that the index was taken to while the file itself was left behind.
    """

    path: str
    base: str | None
    new: str | None
    mode: str = PLAIN
    seen: str | None = None


class Settled(NamedTuple):
    """The entries that the index is to hold for a path, and a staged edit that has no place in it any more."""

    entries: tuple[IndexEntry, ...]
    unstaged: bytes | None = None


class Settler(NamedTuple):
    """Settles entries with a way to merge, and with the repository's objects to read from and to write to."""

    merge: Merge
    read_blob: Callable[[str], bytes]
    write_blob: Callable[[bytes], str]

    def settle(
        self, move: Move, followed: Followed, entries: Mapping[int, IndexEntry], *, conflict_is_ours: bool
    ) -> Settled | None:
        """Returns what the index is to hold, or None to leave it as it is.

        Args:
            move: where the path goes.
            followed: what became of the file.
            entries: what the index holds now, by stage.
            conflict_is_ours: stages there come from an earlier call of this, not from a merge of the person's.
        """
        in_conflict = any(stage != RESOLVED for stage in entries)
        stays = followed.outcome in (Outcome.CONFLICT, Outcome.DEFERRED)
        if in_conflict and (stays or not conflict_is_ours):
            return None
        if followed.outcome is Outcome.CONFLICT:
            present = None if followed.present is None else self.write_blob(followed.present)
            return Settled(conflict_entries(move.path, (move.base, move.new, present), move.mode))
        staged = entries.get(RESOLVED)
        if staged is None or staged.object_id in (move.base, move.new, move.seen):
            return Settled(_entry(move, move.new))
        return self._keep_staged(move, followed, staged)

    def _keep_staged(self, move: Move, followed: Followed, staged: IndexEntry) -> Settled:
        """Joins an edit that a person had staged with the new version."""
        content = self.read_blob(staged.object_id)
        if move.new is not None:
            base = b"" if move.base is None else self.read_blob(move.base)
            merged = self.merge(move.path, base, content, self.read_blob(move.new))
            if merged is not None:
                return Settled(_entry(move, self.write_blob(merged)))
        return Settled(_entry(move, move.new), None if content == followed.present else content)


def conflict_entries(path: str, blobs: Sequence[str | None], mode: str) -> tuple[IndexEntry, ...]:
    """Returns the stages that make `git status` show a conflict and `git commit` refuse: base, branch and file."""
    stages = zip((BASE, OURS, THEIRS), blobs, strict=True)
    return tuple(IndexEntry(path, blob, stage, mode) for stage, blob in stages if blob is not None)


def _entry(move: Move, object_id: str | None) -> tuple[IndexEntry, ...]:
    return () if object_id is None else (IndexEntry(move.path, object_id, RESOLVED, move.mode),)
