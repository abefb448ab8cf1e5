"""Refs of a remote that are no branches: asked for, fetched, and moved only from where they were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gitticks.errors import GitticksError
from gitticks.git.process import GitResult, printable
from gitticks.git.refs import is_object_id
from gitticks.git.repository import Repository
from gitticks.git.sharing import FETCH, LATE, LONGEST_SECONDS, PUSH, UPLOAD, reach, words_of_hooks

_RACES = (*LATE, "failed to update ref", "reference already exists", "remote failure")
_MOVED = frozenset(" +*-")
"""How a line of `git push --porcelain` begins that reports a ref as moved, made or removed."""


class UnreachableError(GitticksError):
    """The remote gave no answer, or refused one; nothing is known of its refs."""


class LeasedMove(NamedTuple):
    """A move of one ref: from `old` (None: it must not exist) to `new` (None: it is removed)."""

    ref: str
    old: str | None
    new: str | None


def push_leased(
    repository: Repository,
    remote: str,
    moves: Sequence[LeasedMove],
    *,
    timeout_seconds: float = LONGEST_SECONDS,
) -> frozenset[str]:
    """Moves refs of a remote, each on its own, and returns those that moved.

    Raises:
        UnreachableError: the remote did not answer, and some may have moved all the same; or it lets none of them
            move, wherever they stand.
    """
    leases = [f"--force-with-lease={move.ref}:{move.old or ''}" for move in moves]
    asked = [*PUSH, "--no-verify", *leases, "--end-of-options", remote]
    asked += [f"{move.new or ''}:{move.ref}" for move in moves]
    done = _reach(repository, asked, remote, timeout_seconds)
    lines = [line.split("\t") for line in done.text.splitlines() if line.count("\t") >= 1]
    if done.code and not lines:
        raise _unreachable(remote, done.stderr)
    moved = frozenset(words[1].rpartition(":")[2] for words in lines if words[0] in _MOVED)
    refused = [one for one in lines if one[0] == "!" and not any(sign in one[-1] for sign in _RACES)]
    if refused and not moved:
        words = words_of_hooks(done.stderr) or refused[0][-1]
        raise UnreachableError(f"`{remote}` refuses `{moves[0].ref}`: {printable(words)}")
    return moved


def remote_refs(
    repository: Repository, remote: str, *patterns: str, timeout_seconds: float = LONGEST_SECONDS
) -> dict[str, str]:
    """Returns the refs of a remote that the patterns name, each with its object id.

    Raises:
        UnreachableError: the remote did not answer.
    """
    asked = ["ls-remote", "--quiet", UPLOAD, "--end-of-options", remote, *patterns]
    done = _reach(repository, asked, remote, timeout_seconds)
    if done.code:
        raise _unreachable(remote, done.stderr)
    found = (line.partition("\t") for line in done.text.splitlines())
    return {ref: object_id for object_id, _, ref in found if is_object_id(object_id)}


def fetch_refs(
    repository: Repository, remote: str, *refs: str, timeout_seconds: float = LONGEST_SECONDS
) -> None:
    """Brings what refs of a remote name, without a ref of our own.

    Raises:
        UnreachableError: the remote did not answer, or has no such ref any more.
    """
    asked = ["-c", "fetch.fsckObjects=true", *FETCH, "--end-of-options", remote, *refs]
    done = _reach(repository, asked, remote, timeout_seconds)
    if done.code:
        raise _unreachable(remote, done.stderr)


def _reach(repository: Repository, asked: list[str], remote: str, timeout_seconds: float) -> GitResult:
    done = reach(repository, asked, timeout_seconds)
    if isinstance(done, str):
        raise _unreachable(remote, done)
    return done


def _unreachable(remote: str, words: str) -> UnreachableError:
    return UnreachableError(
        f"`{remote}` did not answer: {printable(words)}", hint=f"`git ls-remote {remote}`"
    )
