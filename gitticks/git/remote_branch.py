"""Fetches one branch of a remote, as the person would, where being offline is no failure."""

from __future__ import annotations

from enum import Enum

from gitticks.git.fence import fence_programs
from gitticks.git.process import GitError, run_git
from gitticks.git.repository import Repository

LONGEST_SECONDS = 60.0


class Fetched(Enum):
    """What came of fetching."""

    HERE = "the remote branch is up to date here"
    MISSING = "the remote has no such branch"
    NO_REMOTE = "there is no such remote"
    UNREACHABLE = "the remote cannot be reached"


def fetch_branch(repository: Repository, remote: str, branch: str) -> Fetched:
    """Brings `refs/remotes/<remote>/<branch>` up to date, also in a clone that was made of a single branch."""
    known = run_git(
        ["config", "--get", f"remote.{remote}.url"], repository_dir=repository.common_dir, check=False
    )
    if not known.text:
        return Fetched.NO_REMOTE
    wanted = f"+refs/heads/{branch}:refs/remotes/{remote}/{branch}"
    asked = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", remote, wanted]
    try:
        fetched = run_git(
            asked,
            repository_dir=repository.common_dir,
            extra_environment=fence_programs(repository.common_dir).variables,
            timeout_seconds=LONGEST_SECONDS,
            check=False,
            trusted=True,
        )
    except GitError:
        return Fetched.UNREACHABLE
    if fetched.code == 0:
        return Fetched.HERE
    return Fetched.MISSING if "find remote ref" in fetched.stderr else Fetched.UNREACHABLE
