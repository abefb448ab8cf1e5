"""What Git LFS keeps beside commits, for which they have pointers: it goes where the commits go.

Our pushes run no hooks, so what its `pre-push` uploads is uploaded before them: a remote else refuses the commits, or has
pointers to files that are in this clone alone.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from pathlib import Path

from gitticks.errors import MachineError
from gitticks.git.process import GitError, run_git
from gitticks.git.repository import Repository
from gitticks.git.untrusted_config import REPOSITORY_SCOPES, fence_programs, read_all
from gitticks.safe_read import open_plain_file, reason_of

_PLACE = "lfs/objects"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PIECE = 1 << 20
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


def take_large_files(private: Path, common_dir: Path) -> None:
    """Copies what git-lfs stored in the sandbox into the repository: of most versions there is no other copy.

    Raises:
        MachineError: the disk is full, say.
    """
    for parent, _, names in os.walk(private / _PLACE):
        for name in filter(_SHA256.fullmatch, names):
            place = common_dir / _PLACE / name[:2] / name[2:4] / name
            if not place.exists():
                _take(Path(parent, name), place)


def _take(file: Path, place: Path) -> None:
    """Copies one file, which an agent may be writing, if it holds what its name says."""
    try:
        descriptor, _ = open_plain_file(file, follow=False)
    except OSError:
        return
    digest = hashlib.sha256()
    aside = place.with_name(f"{place.name}.{secrets.token_hex(4)}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(descriptor, "rb") as source, aside.open("xb") as copy:
            while piece := source.read(_PIECE):
                digest.update(piece)
                copy.write(piece)
            copy.flush()
            os.fsync(copy.fileno())
        if digest.hexdigest() == place.name:
            aside.rename(place)
    except OSError as error:
        raise MachineError(f"`{file}` cannot be copied to `{place}`: {reason_of(error)}") from error
    finally:
        aside.unlink(missing_ok=True)
