"""Lets git bring an object that a partial clone left with its remote, which libgit2 cannot."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from gitticks.errors import GitticksError
from gitticks.git.fence import fence_programs
from gitticks.git.process import run_git


def fetch_missing(common_dir: Path, object_id: str) -> None:
    """Fetches an object that is not stored here.

    Raises:
        GitticksError: nobody has it, or fetching it would start a program that only the repository names.
    """
    fence = fence_programs(common_dir)
    if fence.remotes:
        raise GitticksError(
            f"the object `{object_id}` is missing, and `{fence.remotes[0]}` of this repository names a program "
            "that gitticks does not run to fetch it",
            hint=f"`git -C {quote(str(common_dir))} cat-file -e {object_id}` fetches it, if you trust that program",
        )
    asked, variables = ["cat-file", "-e", object_id], fence.variables
    done = run_git(asked, repository_dir=common_dir, check=False, trusted=True, extra_environment=variables)
    if done.code != 0:
        raise GitticksError(
            f"the object `{object_id}` is missing from `{common_dir}`",
            hint="`git fsck` names what is damaged; `git fetch` may bring it back",
        )
