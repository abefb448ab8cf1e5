"""The earlier versions of one file of the state branch: what an editor that was open for long may have begun from."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from gitticks.errors import GitticksError
from gitticks.git.refs import logged
from gitticks.store.layout import STATE_REF

if TYPE_CHECKING:
    from gitticks.git.objects import Objects

MOST_VERSIONS = 200
"""Somebody may save all the time while a task is written to: the board follows once they rest."""

MOST_COMMITS = 400
_MOST_LOGGED = 200
_FEW = 16
"""So many are looked at one by one: the version that is looked for is mostly among the newest."""


def older_versions(objects: Objects, tip: str, path: str) -> Iterator[bytes]:
    """Yields the distinct contents that the file had, the newest first, along the branch's own line of commits.

    Then come those that the board has shown besides, by the branch's log: a rebase and a pull leave them behind.
    """
    seen: set[str] = set()
    for commits in (_line(objects, tip), _left_behind(objects, tip)):
        most = len(seen) + MOST_VERSIONS
        for commit in _where_it_differs(objects, commits, path):
            entry = objects.find(objects.tree_of(commit), path)
            if entry is not None and entry.is_file and entry.object_id not in seen:
                seen.add(entry.object_id)
                yield objects.read_blob(entry.object_id)
                if len(seen) == most:
                    break


def typed_versions(
    objects: Objects, joins: Sequence[tuple[str, str]], is_on_branch: Callable[[str], bool]
) -> Iterator[bytes]:
    """Yields what an editor saved of a file and the branch has, joined with what others wrote; the newest first.

    What was refused is in nothing but the file: counted from there, what the editor saves next would be a change of
    words that the branch has never seen. What a join made may have been joined again before it was committed.

    Args:
        objects: where the blobs are.
        joins: what was saved, each with what it was joined to, the last one last; to itself if that is known to be
            on the branch.
        is_on_branch: tells whether the file was like a blob on the branch.
    """
    taken: set[str] = set()
    for typed, joined in reversed(joins):
        if joined == typed or joined in taken or is_on_branch(joined):
            taken.add(typed)
            with contextlib.suppress(GitticksError):  # git may have removed it, as nothing else names it
                yield objects.read_blob(typed)


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
    line = set(_line(objects, tip))
    for commit in islice(logged(objects.common_dir, STATE_REF), _MOST_LOGGED):
        if commit not in line and objects.has(commit):
            yield commit
