"""What is in a private git directory beside the commits that git fetches from it: large files, and what git would wait for."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import stat
from pathlib import Path

from gitticks.errors import GitticksError, MachineError
from gitticks.safe_read import open_plain_file, reason_of

_LARGE_FILES = "lfs/objects"
"""Where git-lfs keeps what it puts a pointer into the commits for, each by its SHA-256."""
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PIECE = 1 << 20


def take_large_files(private: Path, common_dir: Path) -> None:
    """Copies what git-lfs stored in the sandbox into the repository: of most versions there is no other copy.

    Raises:
        MachineError: the disk is full, say.
    """
    for parent, _, names in os.walk(private / _LARGE_FILES):
        for name in filter(_SHA256.fullmatch, names):
            place = common_dir / _LARGE_FILES / name[:2] / name[2:4] / name
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


def refuse_pipes(folder: Path) -> None:
    """Refuses what git would wait for, in any place where it expects a file, and links to where that may be."""
    left, inside = [str(folder)], f"{os.path.realpath(folder)}/"
    while left:
        place = left.pop()
        try:
            entries = [(one, one.is_dir(follow_symlinks=False)) for one in os.scandir(place)]
        except FileNotFoundError:  # git has removed it since
            continue
        except OSError as error:
            raise GitticksError(f"`{place}` cannot be read: {reason_of(error)}") from error
        left += [one.path for one, is_folder in entries if is_folder]
        for one, is_folder in entries:
            if one.is_symlink() and not os.path.realpath(one.path).startswith(inside):
                raise GitticksError(f"`{one.path}` links to what is outside: remove it")
            if not is_folder and not one.is_symlink() and _is_pipe(one.path):
                raise GitticksError(f"`{one.path}` is no file: remove it")


def _is_pipe(path: str) -> bool:
    with contextlib.suppress(OSError):
        return stat.S_ISFIFO(os.lstat(path).st_mode)
    return False
