"""Lists branches, by asking git: they may be packed, and there may be many."""

from __future__ import annotations

from gitticks.git.process import run_git
from gitticks.git.refs import BRANCHES
from gitticks.git.repository import Repository

_ORIGIN = "refs/remotes/origin/"


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
