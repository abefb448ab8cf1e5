"""Uploads what Git LFS keeps beside commits before these are pushed, as its `pre-push` hook does: our pushes run no hooks.

Without the upload a remote either refuses the commits, or has pointers to files that are in this clone alone.
"""

from __future__ import annotations

import re

from gitticks.git.process import GitError, run_git
from gitticks.git.repository import Repository
from gitticks.git.untrusted_config import REPOSITORY_SCOPES, fence_programs, read_all

_LONGEST_SECONDS = 600.0
_PROGRAMS = re.compile(r"lfs\.(.+\.)?standalonetransferagent|lfs\.customtransfer\..+\.path", re.DOTALL)
"""Which settings of Git LFS run a program for an upload."""


def push_large_files(repository: Repository, remote: str, commit: str) -> None:
    """Uploads the large files of a commit and those before it that the remote lacks, if the person has Git LFS.

    Raises:
        GitError: not all of them are there.
    """
    entries = read_all(repository.common_dir)
    is_own = any(key.startswith("filter.lfs.") for scope, key, _ in entries if scope not in REPOSITORY_SCOPES)
    if not is_own or not (repository.common_dir / "lfs").is_dir():  # where Git LFS was never at work here
        return
    hint = f"`git lfs push {remote} {commit[:10]}` shows why"
    for scope, key, _ in entries:
        if scope in REPOSITORY_SCOPES and _PROGRAMS.fullmatch(key):
            raise GitError(
                f"large files are not uploaded to `{remote}`: `{key}` of this repository's own configuration names "
                "a program, and agents can write that",
                hint=f"`git config --unset {key}`, and `git config --global` sets it for you",
            )
    try:
        run_git(
            ["lfs", "push", "--", remote, commit],
            repository_dir=repository.common_dir,
            directory=repository.common_dir,  # no checkout, whose `.lfsconfig` would count
            extra_environment=fence_programs(repository.common_dir).variables,
            timeout_seconds=_LONGEST_SECONDS,
            trusted=True,
        )
    except GitError as error:
        raise GitError(f"large files were not uploaded to `{remote}`: {error.message}", hint=hint) from error
