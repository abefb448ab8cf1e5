"""Earlier versions of a board file: what an edit may have started from, and the edit merged with the branch."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice, takewhile, tee

from gitticks.board.journal import Journal
from gitticks.board.judge_edit import is_team_file
from gitticks.errors import GitticksError
from gitticks.git.follow import changed_places, nearest_first
from gitticks.git.objects import Objects
from gitticks.git.refs import logged
from gitticks.store.layout import STATE_REF
from gitticks.store.merging.checkout import is_sound, merge_saved

MOST_VERSIONS = 200
"""Somebody may save all the time while a task is written to: the board follows once they rest."""

MOST_COMMITS = 400
_MOST_LOGGED = 200
_UPDATED = re.compile(rb"^updated:[ \t]*(\S+)", re.MULTILINE)
_FEW = 16
"""So many are looked at one by one: the version that is looked for is mostly among the newest."""


class Versions:
    """What the files of the board held before: on the branch, and as editors saved them; looked for once."""

    def __init__(self, objects: Objects, journal: Journal, tip: str) -> None:
        self._objects, self._journal, self._tip = objects, journal, tip
        self._older: dict[str, Iterator[bytes]] = {}

    def older(self, path: str) -> Iterator[bytes]:
        """Returns what `older_versions` does, looked for no further than the furthest of those who ask."""
        known = self._older.get(path) or older_versions(self._objects, self._tip, path)
        self._older[path], found = tee(known)
        return found

    def typed(self, path: str) -> Iterator[bytes]:
        """Yields what an editor saved of a file and the branch has, joined with what others wrote; the newest first.

        What was refused is in nothing but the file: counted from there, what the editor saves next would be a change
        of words that the branch has never seen. What a join made may have been joined again before it was committed.
        """
        on_branch = cache(lambda: frozenset(map(self._objects.blob_id, self.older(path))))
        taken: set[str] = set()
        for typed, joined in reversed(self._journal.typed.get(path, ())):
            if joined == typed or joined in taken or joined in on_branch():
                taken.add(typed)
                with contextlib.suppress(GitticksError):  # git may have removed it, as nothing else names it
                    yield self._objects.read_blob(typed)

    def begun_from(self, path: str, base: bytes, content: bytes) -> bytes:
        """Returns the version that an edit began from: an older one where it is nearer, as an editor left open saves.

        A file that is exactly an older version was put back on purpose. Of older ones that are as near, the oldest
        counts: by it what came later stays, and by the others an editor that never showed it would have taken it back.
        What the editor itself saved before goes before them all. A line that a person has just saved and now saves
        otherwise is one change of what they saw, though the version without the line is nearer; but what they saved
        after that, and the branch has, they saw last. So is a line of settings or templates, which only people write,
        where an edit of the older version would be in conflict with it.
        """
        if b"\0" in content:
            return base
        possible = (base, *self.typed(path), *reversed(tuple(self.older(path))))
        nearest = nearest_first(_of_same_time(possible, content), content)
        closest = next((one for distance, one in nearest if distance > 0 or one is base), base)
        if closest is base or self._objects.blob_id(closest) in self._typed_since(path, base):
            return closest
        is_step = self._is_own_step(path, closest, content, base) or _replaces(path, closest, content, base)
        return base if is_step else closest

    def _typed_since(self, path: str, base: bytes) -> set[str]:
        """Returns the blobs that an editor saved and that the branch has, joined, in a version newer than the base."""
        newer = {*map(self._objects.blob_id, takewhile(lambda one: one != base, self.older(path)))}
        found: set[str] = set()
        for typed, joined in reversed(self._journal.typed.get(path, ())):
            if joined in newer or joined in found:
                found.add(typed)
        return found

    def joined(self, path: str, base: bytes, content: bytes, current: bytes) -> bytes | None:
        """Returns a file as a person edited it, from `base`, with all that the branch has written since.

        None if that is not possible. What the person themselves had saved before may be written over by them. A file
        that cannot be read conflicts with nothing: it stays as it is, and its error is reported.
        """
        merged = merge_saved(path, base, content, current)
        if merged is not None:
            return merged
        is_left = not is_sound(content, path) or self._is_own_step(path, base, content, current)
        return content if is_left else None

    def _is_own_step(self, path: str, base: bytes, content: bytes, current: bytes) -> bool:
        """True if the branch has what was saved on this very board, and the edit is no larger a step from there."""
        return self._objects.blob_id(current) in self._journal.own.get(path, ()) and _is_as_near(
            base, content, current
        )


def _replaces(path: str, base: bytes, content: bytes, current: bytes) -> bool:
    """True if an edit of a team file stands where the branch has changed it, and is no larger a step from there."""
    return (
        is_team_file(path)
        and _is_as_near(base, content, current)
        and merge_saved(path, base, content, current) is None
    )


def _is_as_near(base: bytes, content: bytes, current: bytes) -> bool:
    return changed_places(current, content) <= changed_places(base, content)


def _of_same_time(versions: Sequence[bytes], content: bytes) -> Sequence[bytes]:
    """Returns the versions with the `updated` of an edit, or all: that is no person's, and names what they read."""
    time = _updated(content)
    return (time and [one for one in versions if _updated(one) == time]) or versions


def _updated(content: bytes) -> bytes | None:
    found = _UPDATED.search(content)
    return None if found is None else found[1]


def older_versions(objects: Objects, tip: str, path: str) -> Iterator[bytes]:
    """Yields the distinct contents that the file had, the newest first, along the branch's own line of commits.

    Then come those that the board has shown besides, by the branch's log: a rebase and a pull leave them behind.
    """
    seen: set[str] = set()
    for commits in (_line(objects, tip), _left_behind(objects, tip)):
        most = len(seen) + MOST_VERSIONS
        for commit in _where_it_differs(objects, commits, path):
            blob = objects.find_file(objects.tree_of(commit), path)
            if blob is not None and blob not in seen:
                seen.add(blob)
                yield objects.read_blob(blob)
                if len(seen) == most:
                    break


def _where_it_differs(objects: Objects, commits: Iterator[str], path: str) -> Iterator[str]:
    """Yields the first commits, and of the rest those at which the file is first met with some content."""
    yield from islice(commits, _FEW)
    rest = tuple(commits)
    if not rest or "\n" in path:
        yield from rest
        return
    met: set[str] = set()
    for commit, blob in zip(rest, objects.blobs_at(rest, path), strict=True):
        if blob is not None and blob not in met:
            met.add(blob)
            yield commit


def _line(objects: Objects, tip: str) -> Iterator[str]:
    commit: str | None = tip
    for _ in range(MOST_COMMITS):
        if commit is None:
            return
        yield commit
        commit = next(iter(objects.parents_of(commit)), None)


def _left_behind(objects: Objects, tip: str) -> Iterator[str]:
    """Yields what the branch's log knows besides; not what was committed since the tip was read, which is no older."""
    logs = tuple(islice(logged(objects.common_dir, STATE_REF), _MOST_LOGGED))
    newer = logs[: logs.index(tip)] if tip in logs else ()
    passed = {*_line(objects, tip), *newer}
    for commit in logs:
        if commit not in passed and objects.has(commit):
            yield commit
