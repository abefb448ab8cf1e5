"""Updates one file of a checkout without losing a person's edit, and its index entry; three-way text merges as in git."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from heapq import heapify, heappop, heappush
from itertools import dropwhile, islice, takewhile
from pathlib import Path
from typing import NamedTuple

from gitticks.git.files import CheckoutFiles, NotPlainError
from gitticks.git.indexfile import BASE, OURS, RESOLVED, THEIRS, IndexEntry
from gitticks.git.process import run_git

QUIET_SECONDS = 0.15
"""Programs that write in place empty the file first: what changed this recently may be half of what is coming."""

_ATTEMPTS = 5
_MOST_TRIED = 8
"""Of older versions so many are joined with the edit: as long as they exclude each other, every writer tries again."""
OlderVersions = Callable[[str], Iterable[bytes]]
"""Returns the earlier contents of the file at a path, the newest first."""
EXECUTABLE, PLAIN = "100755", "100644"
Merge = Callable[[str, bytes, bytes, bytes], bytes | None]
"""Merges the file at a path from base, ours and theirs; None if they conflict."""
_UNION_SUFFIX = ".jsonl"
_KEY = re.compile(rb"\s*[\w.-]+:(?=\s|\Z)")
"""How a line begins that gives something a value."""


class Rehearsed(NamedTuple):
    """What is to become of a file that holds `present`: found out before its checkout was locked, which may take long."""

    present: bytes | None
    outcome: Outcome
    wanted: bytes | None


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


class Version(NamedTuple):
    """The way of one file: from the bytes it was last up to date with to the new ones; None where there is no file.

    What is known to be `whole` is no half of what somebody is writing, however young it is.
    """

    path: str
    base: bytes | None
    new: bytes | None
    whole: bytes | None = None


class Followed(NamedTuple):
    """What became of a file, the bytes that it holds now, what had to be kept elsewhere, and what a merge began with."""

    path: str
    outcome: Outcome
    present: bytes | None
    rescued: tuple[Path, ...] = ()
    saved: bytes | None = None


def no_older_versions(path: str) -> Iterable[bytes]:  # noqa: ARG001
    """Returns nothing, for checkouts where only the last version counts."""
    return ()


class Follower(NamedTuple):
    """How the files of one checkout are brought in step.

    Attributes:
        files: where they are.
        merge: joins a person's edit with the new version.
        older_versions: what else the person's edit may have started from, in an editor that was open for long.
        typed_versions: what the editor itself had saved before, as far as the new version holds it.
        quiet_seconds: how long an edited file must have been left alone.
    """

    files: CheckoutFiles
    merge: Merge
    older_versions: OlderVersions = no_older_versions
    typed_versions: OlderVersions = no_older_versions
    quiet_seconds: float = QUIET_SECONDS

    def follow(self, version: Version, rehearsed: Rehearsed | None = None) -> Followed:
        """Brings one file in step, and starts over when a person saves meanwhile.

        What they saved since it was `rehearsed` waits for the next call.
        """
        rescued: tuple[Path, ...] = ()
        present = version.base
        for _ in range(_ATTEMPTS):
            try:
                present, is_young = self._read(version)
                outcome, wanted = self._decide(version, present, rehearsed, is_young=is_young)
                if outcome not in (Outcome.TAKEN, Outcome.MERGED):
                    return Followed(version.path, outcome, present, rescued)
                replaced = self.files.replace(version.path, present, wanted)
            except NotPlainError:
                return Followed(version.path, Outcome.CONFLICT, None, rescued)
            rescued += replaced.rescued
            if replaced.is_done:
                saved = present if outcome is Outcome.MERGED else None
                return Followed(version.path, outcome, wanted, rescued, saved)
        return Followed(version.path, Outcome.DEFERRED, present, rescued)

    def rehearse(self, version: Version) -> Rehearsed | None:
        """Returns what `follow` would do with the file as it is now; None where it is no file."""
        try:
            present, is_young = self._read(version)
        except NotPlainError:
            return None
        return Rehearsed(present, *self._decide(version, present, is_young=is_young))

    def _read(self, version: Version) -> tuple[bytes | None, bool]:
        """Returns what a file holds, and whether it may be half of what is coming; later it may be at rest."""
        try:
            present = self.files.read(version.path)
        except NotPlainError:
            if version.new is not None or not self.files.is_gone(version.path):
                raise
            return None, False
        return present, self._is_being_written(version.path, present)

    def _is_being_written(self, path: str, present: bytes | None) -> bool:
        return self.files.seconds_to_rest(path, self.quiet_seconds, present) > 0

    def _decide(
        self, version: Version, present: bytes | None, rehearsed: Rehearsed | None = None, *, is_young: bool
    ) -> tuple[Outcome, bytes | None]:
        if version.new in (present, version.base):
            return Outcome.SAME, present
        if rehearsed is not None and present == rehearsed.present:
            return rehearsed.outcome, rehearsed.wanted
        if rehearsed is not None and present != version.base:
            return Outcome.DEFERRED, present
        if present == version.base or any(present == passed for passed in self._passed_over(version)):
            return Outcome.TAKEN, version.new
        if is_young and present != version.whole:
            return Outcome.DEFERRED, present
        merged = self._merged(version, present)
        if merged is None:
            return Outcome.CONFLICT, present
        return (Outcome.SAME if merged == present else Outcome.MERGED), merged

    def _passed_over(self, version: Version) -> Iterator[bytes]:
        """Yields the versions between base and new: one of them is in the file if a call was killed half-way."""
        return takewhile(lambda content: content != version.base, self.older_versions(version.path))

    def _merged(self, version: Version, present: bytes | None) -> bytes | None:
        """Returns the person's edit joined with the new version; None for a conflict.

        One side that deleted what the other changed is a conflict, with nothing to merge.
        """
        if present is None or version.new is None:
            return None
        merged = self._merged_from_typed(version, present, version.new)
        if merged is None:
            merged = self.merge(version.path, version.base or b"", present, version.new)
        if merged is None:
            merged = self._merged_from_held(version, present, version.new)
        return self._merged_from_older(version, present, version.new) if merged is None else merged

    def _merged_from_typed(self, version: Version, present: bytes, new: bytes) -> bytes | None:
        """Returns the merge from what the editor itself had saved before, where the edit is closer to that."""
        typed = tuple(self.typed_versions(version.path))
        if not typed:
            return None
        _, nearest = next(iter(nearest_first((version.base or b"", *typed), present)))
        return None if nearest == version.base else self.merge(version.path, nearest, present, new)

    def _merged_from_held(self, version: Version, present: bytes, new: bytes) -> bytes | None:
        """Returns the merge from the newest version since the base that the edit holds whole, with lines of its own.

        Nobody can hold what that version added without having begun from it, so that nothing of it is taken back.
        """
        lines = present.splitlines()
        begun = {*(version.base or b"").splitlines(), b""}
        for held in self._passed_over(version):
            own = held.splitlines()
            if not begun.issuperset(own) and _is_within(own, lines):
                merged = present if held == new else self.merge(version.path, held, present, new)
                if merged is not None:
                    return merged
        return None

    def _merged_from_older(self, version: Version, present: bytes, new: bytes) -> bytes | None:
        """Returns the merge from the older version that the edit is closest to: an editor saved an old buffer.

        The new version itself, should the file have been like that before, is never taken for its base: the stale
        text would then win over it.
        """
        # Those before the base an editor may have been showing; later ones nobody has seen.
        before = dropwhile(lambda content: content != version.base, self.older_versions(version.path))
        possible = (older for older in before if older not in (new, version.base))
        for _, older in islice(nearest_first(possible, present), _MOST_TRIED):
            merged = self.merge(version.path, older, present, new)
            if merged is not None:
                return merged
        return None


def _is_within(part: Iterable[bytes], whole: Iterable[bytes]) -> bool:
    """True if all lines of a part are in the whole, in their order."""
    rest = iter(whole)
    return all(line in rest for line in part)


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

        `conflict_is_ours`: the stages there come from an earlier call of this, not from a merge of the person's.
        """
        in_conflict = any(stage != RESOLVED for stage in entries)
        stays = followed.outcome in (Outcome.CONFLICT, Outcome.DEFERRED)
        if in_conflict and stays:
            return None
        if in_conflict and not conflict_is_ours:
            if move.new is None:
                return None
            # The file has the new version too, so its own side there is that.
            kept = tuple(entry for stage, entry in entries.items() if stage != OURS)
            return Settled((*kept, IndexEntry(move.path, move.new, OURS, move.mode)))
        if followed.outcome is Outcome.CONFLICT:
            present = None if followed.present is None else self.write_blob(followed.present)
            return Settled(conflict_entries(move.path, (move.base, move.new, present), move.mode))
        staged = entries.get(RESOLVED)
        if staged is None or staged.object_id in (move.base, move.new, move.seen):
            return Settled(_entry(move, move.new))
        return self._keep_staged(move, followed, staged)

    def _keep_staged(self, move: Move, followed: Followed, staged: IndexEntry) -> Settled:
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


def merge_text(path: str, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Returns the merged text; None if the same lines were changed on both sides, or if it is no text.

    Append-only logs (`*.jsonl`) take the lines of both sides, as the branch's attributes say.
    """
    with tempfile.TemporaryDirectory(prefix="gitticks-") as folder:
        files = [Path(folder, name) for name in ("ours", "base", "theirs")]
        for file, content in zip(files, (ours, base, theirs), strict=True):
            file.write_bytes(content)
        union = ["--union"] if path.endswith(_UNION_SUFFIX) else []
        arguments = ["merge-file", "--stdout", "--quiet", *union, *map(str, files)]
        merged = run_git(arguments, directory=Path(folder), check=False)
    return merged.stdout if merged.code == 0 else None


def line_distance(one: bytes, other: bytes) -> int:
    """Returns how many lines have to be removed or added, or their values changed, to come from one text to the other.

    A new value counts once: what somebody edits is nearer to the text with the old value than to one without the line.
    """
    first, second = one.splitlines(), other.splitlines()
    head = _count_equal(first, second)
    first, second = first[head:], second[head:]
    tail = _count_equal(first[::-1], second[::-1])
    first, second = first[: len(first) - tail], second[: len(second) - tail]
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    return sum(
        _count_changes(first[start:end], second[other_start:other_end])
        for kind, start, end, other_start, other_end in blocks
        if kind != "equal"
    )


def changed_places(one: bytes, other: bytes) -> int:
    """Returns in how many places lines have to be removed, added or replaced to come from one text to the other."""
    matcher = SequenceMatcher(None, one.splitlines(), other.splitlines(), autojunk=False)
    return sum(1 for kind, *_ in matcher.get_opcodes() if kind != "equal")


def nearest_first(versions: Iterable[bytes], text: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields each version behind its distance from the text, the nearest first; equally near ones as they were given.

    Their lines are counted, and only those compared that may be next by that: a comparison of thousands of lines takes
    a thousand times as long.
    """
    known, counts = tuple(versions), Counter(text.splitlines())
    waiting = [
        (_least_distance(version.splitlines(), counts), place, False) for place, version in enumerate(known)
    ]
    heapify(waiting)
    while waiting:
        distance, place, is_exact = heappop(waiting)
        if is_exact:
            yield distance, known[place]
        else:
            heappush(waiting, (line_distance(known[place], text), place, True))


def _least_distance(version: Sequence[bytes], counts: Counter[bytes]) -> int:
    """Returns how many lines a version is apart at least: where all that both have is in the same order."""
    own = Counter(version)
    return _count_changes((own - counts).elements(), (counts - own).elements())


def _count_changes(removed: Iterable[bytes], added: Iterable[bytes]) -> int:
    """Returns how many lines change where some are replaced by others; a key that is among both changes its value."""
    gone, new = tuple(removed), tuple(added)
    return len(gone) + len(new) - (_keys(gone) & _keys(new)).total()


def _keys(lines: Iterable[bytes]) -> Counter[bytes]:
    return Counter(found[0] for line in lines if (found := _KEY.match(line)) is not None)


def _count_equal(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
