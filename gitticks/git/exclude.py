"""Keeps gitticks' own folders out of `git status` and `git add` without touching a file that the user commits."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from gitticks.git.repository import Repository

_HEADING = "# folders of gitticks"


def exclude_folders(repository: Repository, folders: Iterable[str]) -> None:
    """Adds each folder, named from the top of the checkout, to `info/exclude`; one that is there stays as it is.

    A folder outside of the checkout (absolute, or by `..`) needs no line and gets none.
    """
    _exclude(repository, [_pattern(folder) for folder in folders if _is_inside(folder)])


def exclude_patterns(repository: Repository, patterns: Iterable[str]) -> None:
    """Adds patterns as git reads them to `info/exclude`; those that are there stay as they are."""
    _exclude(repository, patterns)


def _exclude(repository: Repository, patterns: Iterable[str]) -> None:
    file = repository.common_dir / "info" / "exclude"
    present = file.read_bytes() if file.exists() else b""
    lines = present.splitlines()
    wanted = dict.fromkeys(os.fsencode(pattern) for pattern in patterns)
    missing = [line for line in wanted if line not in lines]
    if not missing:
        return
    heading = [] if _HEADING.encode() in lines else [_HEADING.encode()]
    gap = b"" if not present or present.endswith(b"\n") else b"\n"
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab") as end:  # appending loses nothing that somebody else writes at this moment
        end.write(gap + b"".join(line + b"\n" for line in [*heading, *missing]))


def _is_inside(folder: str) -> bool:
    path = PurePosixPath(folder)
    return not path.is_absolute() and ".." not in path.parts and path.parts != ()


def _pattern(folder: str) -> str:
    """Returns the line that matches exactly this folder; signs that mean something in a pattern are escaped."""
    return "/" + re.sub(r"([*?\[\]\\ ])", r"\\\1", str(PurePosixPath(folder))) + "/"
