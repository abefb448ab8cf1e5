"""Whether the repositories of gitticks that a test leaves are sound: git's own check, after every test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from gitticks.safe_read import read_plain_file
from tests.support.repositories import fsck_problems

STATE_REF = "refs/heads/gitticks/state"


def unsound_repositories(top: Path) -> dict[str, str]:
    """Returns what git says of each repository with a state branch that lies below `top` and is not sound."""
    checked = {str(path): fsck_problems(path) for path in _git_dirs(top) if _has_state(path)}
    return {path: problems for path, problems in checked.items() if problems}


def _git_dirs(top: Path) -> Iterator[Path]:
    for folder, names, files in os.walk(top):
        if "HEAD" in files and "objects" in names and "refs" in names:
            names.clear()
            yield Path(folder)


def _has_state(git_dir: Path) -> bool:
    if (git_dir / STATE_REF).exists():
        return True
    try:
        return STATE_REF.encode() in read_plain_file(git_dir / "packed-refs")
    except OSError:
        return False
