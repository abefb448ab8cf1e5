"""Fetches one branch of a remote, as the person would, where being offline is no failure."""

from __future__ import annotations

from gitticks.git.repository import Repository
from gitticks.git.sharing import Fetched, fetch

__all__ = ["Fetched", "fetch_branch"]


def fetch_branch(repository: Repository, remote: str, branch: str) -> Fetched:
    """Brings `refs/remotes/<remote>/<branch>` up to date, also in a clone that was made of a single branch."""
    return fetch(repository, remote, branch).outcome
