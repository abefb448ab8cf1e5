"""Repositories that are made once and then copied: to make one takes git forty processes, to copy it two.

They are made by a process of its own in the environment that the tests began with, so that nothing which a test has
set or patched is in them. A test with another environment makes its own.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_OF_EACH_TEST = frozenset({"HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "PYTEST_CURRENT_TEST"})
_UMASK = 0o022
_BOARD_GIT_DIR = ".git/worktrees/-gitticks"
REPOSITORY, STORE, PROJECT = "repository", "store", "project"


@dataclass(slots=True)
class _Offer:
    """Where the repositories lie, and the environment that they are made in."""

    folder: Path
    environment: Mapping[str, str]
    config: str


_offers: list[_Offer] = []


def offer(folder: Path) -> None:
    """Lets repositories be copied from now on, made in this environment when the first is asked for."""
    _offers[:] = [_Offer(folder, dict(os.environ), _global_config())]


def copied(name: str, path: Path) -> bool:
    """Copies a repository to `path`; False if this test has to make its own."""
    if not _offers or not _is_as_offered(_offers[0]):
        return False
    shutil.copytree(_made(_offers[0].folder) / name, path, symlinks=True, dirs_exist_ok=True)
    checkouts = [path]
    if name == PROJECT:
        checkouts.append(path / ".gitticks")
        git_dir = path.resolve() / _BOARD_GIT_DIR
        (git_dir / "gitdir").write_text(f"{path.resolve()}/.gitticks/.git\n")
        (path / ".gitticks/.git").write_text(f"gitdir: {git_dir}\n")
        _name_own_home(path / ".git/gitticks/board-ignores")
    for checkout in checkouts:  # the copies of files have other times and numbers
        subprocess.run(["git", "update-index", "-q", "--refresh"], cwd=checkout, check=True)
    return True


def _name_own_home(ignores: Path) -> None:
    """Lets the board's list of ignored files name the patterns in the home of this test."""
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    first, _, rest = ignores.read_text().partition("\n")
    kept = first[: first.rindex(", from ")]
    ignores.write_text(f"{kept}, from {home}/git/ignore\n{rest}")


def _is_as_offered(offered: _Offer) -> bool:
    umask = os.umask(_UMASK)
    os.umask(umask)
    is_same = _shared(os.environ) == _shared(offered.environment)
    return is_same and umask == _UMASK and _global_config() == offered.config


def _shared(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name not in _OF_EACH_TEST}


def _global_config() -> str:
    return Path(os.environ["GIT_CONFIG_GLOBAL"]).read_text()


@functools.cache
def _made(folder: Path) -> Path:
    program = [sys.executable, "-P", "-m", __name__, str(folder)]
    subprocess.run(program, check=True, env=_offers[0].environment)
    return folder


def _make_all(folder: Path) -> None:
    from tests.support.projects import make_project
    from tests.support.repositories import make_repository
    from tests.support.stores import make_store

    make_repository(folder / REPOSITORY)
    make_store(folder / STORE)
    make_project(folder / PROJECT)
    for sample in folder.glob("*/.git/hooks/*.sample"):
        sample.unlink()


if __name__ == "__main__":
    _make_all(Path(sys.argv[1]))
