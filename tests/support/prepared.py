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
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

_OF_EACH_TEST = frozenset(
    {
        "GITTICKS_CONFIG_SANDBOX_PRESET",
        "GIT_CONFIG_GLOBAL",
        "GT",
        "HOME",
        "PATH",
        "PYTEST_CURRENT_TEST",
        "RUN_MARK",
        "XDG_CONFIG_HOME",
    }
)
_UMASK = 0o022
REPOSITORY, STORE, QUEUE, PROJECT = "repository", "store", "queue", "project"
CLONES, CONFLICT = "clones", "conflict"
_CHECKOUTS = {
    REPOSITORY: (".",),
    STORE: (".",),
    QUEUE: (".",),
    PROJECT: (".", ".gitticks"),
    CLONES: ("clone1", "clone1/.gitticks", "clone2", "clone2/.gitticks"),
    CONFLICT: ("clone1", "clone1/.gitticks", "clone2", "clone2/.gitticks"),
}


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
    """Copies what has that name to `path`; False if this test has to make its own."""
    if not _offers or not _is_as_offered(_offers[0]):
        return False
    original = _made(_offers[0].folder, name)
    shutil.copytree(original, path, symlinks=True, dirs_exist_ok=True)
    _move(original, path.resolve())
    for checkout in _CHECKOUTS[name]:  # the copies of files have other times and numbers
        subprocess.run(["git", "update-index", "-q", "--refresh"], cwd=path / checkout, check=True)
    return True


def _move(original: Path, path: Path) -> None:
    """Lets the files of git and of gitticks name the folder that they were copied to."""
    old, new = os.fsencode(original), os.fsencode(path)
    for folder, names, files in os.walk(path):
        names[:] = [name for name in names if name not in ("objects", "tasks")]
        for file in (Path(folder, name) for name in files):
            content = file.read_bytes()
            if old in content and b"\0" not in content:
                file.write_bytes(content.replace(old, new))
            if file.name == "board-ignores":
                _name_own_home(file)


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
def _made(folder: Path, name: str) -> Path:
    made = folder.resolve() / name
    program = [sys.executable, "-P", "-m", __name__, name, str(made)]
    subprocess.run(program, check=True, env=_offers[0].environment)
    return made


def _make(name: str, path: Path) -> None:
    from tests.support import clones, projects, repositories, stores

    make: dict[str, Callable[[Path], object]] = {
        REPOSITORY: repositories.make_repository,
        STORE: stores.make_store,
        QUEUE: stores.make_queue,
        PROJECT: projects.make_project,
        CLONES: clones.make_two_clones,
        CONFLICT: clones.make_conflicting_clone,
    }
    make[name](path)
    for sample in path.rglob("hooks/*.sample"):
        sample.unlink()


if __name__ == "__main__":
    _make(sys.argv[1], Path(sys.argv[2]))
