"""Branches, here and on remotes, by asking git: they may be packed, and being offline is no failure."""

from __future__ import annotations

from dataclasses import dataclass

from gitticks.git.process import run_git
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.git.repository import Repository
from gitticks.git.sharing import Fetched, fetch, remote_of_branch, remotes, tracking_ref

_ORIGIN = "refs/remotes/origin/"

__all__ = ["AskedRemote", "Fetched", "fetch_branch", "look_for_branch"]


def list_local_branches(repository: Repository, prefix: str = "") -> tuple[str, ...]:
    """Returns the sorted names of this clone's branches that begin with `prefix`."""
    return tuple(name for name in _list(repository, BRANCHES) if name.startswith(prefix))


def list_branches(repository: Repository) -> tuple[str, ...]:
    """Returns the sorted names of all branches, those of `origin` too."""
    names = {*_list(repository, BRANCHES), *_list(repository, _ORIGIN)}
    return tuple(sorted(names - {"HEAD"}))


def _list(repository: Repository, folder: str) -> list[str]:
    asked = ["for-each-ref", "--format=%(refname)", folder]
    listed = run_git(asked, repository_dir=repository.common_dir).text
    return sorted(name.removeprefix(folder) for name in listed.splitlines())


@dataclass(frozen=True, slots=True)
class AskedRemote:
    """What a remote said of a branch; `commit` is where it stands there, or stood when it was last fetched."""

    name: str
    outcome: Fetched
    commit: str | None
    words: str = ""


def fetch_branch(repository: Repository, remote: str, branch: str) -> Fetched:
    """Brings `refs/remotes/<remote>/<branch>` up to date, also in a clone that was made of a single branch."""
    return fetch(repository, remote, branch).outcome


def look_for_branch(repository: Repository, branch: str) -> tuple[AskedRemote, ...]:
    """Asks the remote that the branch is shared with, and every other one if that has no such branch.

    Returns:
        the answers in the order in which they were given; empty where there is no remote.
    """
    usual = remote_of_branch(repository, branch)
    asked = [] if usual is None else [_ask(repository, usual, branch)]
    if usual is None or (asked[0].outcome is Fetched.MISSING and asked[0].commit is None):
        asked += [_ask(repository, name, branch) for name in remotes(repository) if name != usual]
    return tuple(asked)


def _ask(repository: Repository, remote: str, branch: str) -> AskedRemote:
    fetched = fetch(repository, remote, branch)
    known = fetched.commit or read_ref(repository.common_dir, tracking_ref(remote, branch))
    return AskedRemote(remote, fetched.outcome, known, fetched.words)
