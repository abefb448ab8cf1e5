"""Forecasts which branches conflict, without merging those that certainly do not."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import combinations
from pathlib import PurePosixPath
from typing import NamedTuple

from gitticks.git.merges.commits import Conflict, merge_by, merge_rules
from gitticks.git.merges.following import steps_between
from gitticks.git.process import GitError
from gitticks.git.repository import Repository


class Overlap(NamedTuple):
    """A branch, what it conflicts with (another of the branches, or None for the base), and where, sorted."""

    name: str
    other: str | None
    paths: tuple[str, ...]


class _Changes(NamedTuple):
    """What a side changed since it left the other: all paths, and the folders of what it added and removed."""

    paths: frozenset[str]
    grown: frozenset[str]
    shrunk: frozenset[str]

    def may_conflict(self, other: _Changes) -> bool:
        """True unless a merge of both is certainly clean.

        Beside files that both changed, these are a file that became a folder, and one that was added where the other
        side moved the folder away.
        """
        return bool(
            self.paths & other.paths
            or self.paths & _folders(other.paths)
            or other.paths & _folders(self.paths)
            or self.grown & other.shrunk
            or self.shrunk & other.grown
        )


def forecast(
    repository: Repository,
    base: str,
    heads: Mapping[str, str],
    *,
    among: Iterable[str] | None = None,
    with_base: bool = True,
) -> tuple[Overlap, ...]:
    """Returns the conflicts of branches with the base, if asked for, and with one another, in the order of `heads`.

    Nothing is merged that touches no common file, so that many branches cost little. With `among` only what one of
    these takes part in.
    """
    wanted = set(heads if among is None else among)
    found_forks = {name: repository.objects.merge_base(base, head) for name, head in heads.items()}
    forks = {name: fork for name, fork in found_forks.items() if fork is not None}
    changes = {name: _changes(repository, fork, heads[name]) for name, fork in forks.items()}
    moved_bases = set(forks.values()) - {base} if with_base else ()
    on_base = {fork: _changes(repository, fork, base) for fork in moved_bases}
    asked: list[tuple[str, str | None, str]] = []
    for name, its in changes.items():
        moved = on_base.get(forks[name])
        if name in wanted and moved is not None and its.may_conflict(moved):
            asked.append((name, None, base))
    for one, other in combinations(changes, 2):
        if wanted & {one, other} and changes[one].may_conflict(changes[other]):
            asked.append((one, other, heads[one]))
    return tuple(_conflicts(repository, base, heads, asked)) if asked else ()


def _conflicts(
    repository: Repository, base: str, heads: Mapping[str, str], asked: Iterable[tuple[str, str | None, str]]
) -> Iterator[Overlap]:
    """Yields what conflicts of the merges that are asked for: a branch, the other one, and what is merged into."""
    with merge_rules(repository, base) as rules:
        for name, other, ours in asked:
            with contextlib.suppress(
                GitError
            ):  # no common history, or an object that is gone: merging says so
                merged = merge_by(rules, repository, ours, heads[other or name])
                if isinstance(merged, Conflict) and merged.paths:
                    yield Overlap(name, other, merged.paths)


@lru_cache(maxsize=256)  # a queue of merges asks for the same ones whenever another joins it
def _changes(repository: Repository, old: str, new: str) -> _Changes:
    steps = steps_between(repository, old, new)
    return _Changes(
        frozenset(step.path for step in steps),
        _folders(step.path for step in steps if step.base is None),
        _folders(step.path for step in steps if step.new is None),
    )


def _folders(paths: Iterable[str]) -> frozenset[str]:
    """Returns the folders that hold the paths, the top excepted."""
    return frozenset(str(above) for path in paths for above in PurePosixPath(path).parents[:-1])
