"""The commits of a branch in the order in which they were made, with what their messages say of who asked for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gitticks.git.process import run_git
from gitticks.git.repository import Repository

ACTOR_TRAILER = "Actor"
_FORMAT = f"%H%n%P%n%ae%n%at %ct%n%(trailers:key={ACTOR_TRAILER},valueonly,unfold,separator=%x1f)"
_FIELDS = 5


@dataclass(frozen=True, slots=True)
class TrailCommit:
    """One commit: its id, those of its parents, its author's address, and the values of its `Actor:` trailers.

    `is_replayed` if it was written at another time than it was made: by a rebase, a cherry-pick or an amendment.
    """

    commit: str
    parents: tuple[str, ...]
    author_email: str
    actors: tuple[str, ...]
    is_replayed: bool = False


def read_trail(
    repository: Repository,
    newest: str,
    excluded: str | None = None,
    *,
    count: int | None = None,
    variables: Mapping[str, str] | None = None,
) -> Iterator[TrailCommit]:
    """Yields the commits that `newest` reaches and `excluded` does not, parents before children.

    Args:
        repository: whose commits.
        newest: an object id.
        excluded: an object id, or None.
        count: how many of the newest are enough.
        variables: where git finds objects besides, as its hooks are told.

    Raises:
        GitError: one of the commits is missing or damaged.
    """
    options = ["log", "-z", "--topo-order", "--reverse", "--encoding=UTF-8"]
    limit = [] if count is None else [f"--max-count={count}"]
    sides = [newest] if excluded is None else [newest, f"^{excluded}"]
    done = run_git(
        [*options, *limit, f"--format={_FORMAT}", "--end-of-options", *sides],
        repository_dir=repository.common_dir,
        extra_environment=variables,
    )
    for entry in done.stdout.decode("utf-8", "replace").split("\0"):
        if entry:
            commit, parents, email, times, actors = entry.split("\n", _FIELDS - 1)
            made, _, written = times.partition(" ")
            named = tuple(actor for actor in actors.strip("\n").split("\x1f") if actor)
            yield TrailCommit(commit, tuple(parents.split()), email, named, made != written)
