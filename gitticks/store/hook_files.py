"""The files of our hooks in folders of our own: each is replaced whole, since git may be starting it at this moment."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path

from gitticks.errors import GitticksError
from gitticks.git.files import errors_name
from gitticks.safe_read import read_plain_file

SHARED = "chain.sh"
PASS_ON = "own"
IN_FRONT = "in-front"
INTERPRETER = "interpreter"


class HooksState(StrEnum):
    """How the hooks of one place are."""

    NO_BOARD = "no board"
    ABSENT = "absent"
    BROKEN = "broken"
    """They are asked for, and they are incomplete, of another version, or their Python is gone."""
    HIDDEN = "hidden"
    """They are whole, and git runs others: `core.hooksPath` was set since."""
    INSTALLED = "installed"


def hook_sources() -> Path:
    """Returns the folder of the hooks' sources: inside the installed package, or beside it in a source tree.

    Raises:
        GitticksError: the installation lacks them.
    """
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "_hooks", package.parent / "hooks"):
        if (folder / SHARED).is_file():
            return folder
    raise GitticksError("this installation of gitticks lacks its hooks", hint="`pipx reinstall gitticks`")


def read_source(name: str) -> bytes:
    """Returns one source.

    Raises:
        GitticksError: the installation lacks the hooks.
    """
    return (hook_sources() / name).read_bytes()


def hook_files(ours: Iterable[str], passed_on: Iterable[str] = ()) -> dict[str, bytes]:
    """Returns the files of a folder by name: hooks of ours, and names under which only the person's own is run."""
    files = dict.fromkeys(passed_on, read_source(PASS_ON))
    files |= {name: read_source(name) for name in (SHARED, *ours)}
    return {**files, INTERPRETER: os.fsencode(sys.executable) + b"\n"}


def fill_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Puts files in place in a folder of our own, made if missing; what is in the way is put aside."""
    if os.path.lexists(folder) and (folder.is_symlink() or not folder.is_dir()):
        folder.rename(_aside(folder))
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        put_file(folder / name, content)


def is_filled(folder: Path, files: Mapping[str, bytes]) -> bool:
    """True if a folder holds these files, and the Python that it names is there, whichever it is."""
    are_same = all(
        has_content(folder / name, content) for name, content in files.items() if name != INTERPRETER
    )
    return are_same and _interpreter_works(folder)


def remove_folder(folder: Path) -> None:
    """Removes a folder of our own, if it is there."""
    if folder.is_symlink():
        folder.unlink()
    shutil.rmtree(folder, ignore_errors=True)


def put_file(file: Path, content: bytes) -> None:
    """Replaces one file of hooks whole. What a kill left is written over."""
    aside = file.with_name(f".{file.name}.new")
    try:
        with errors_name(file):
            aside.write_bytes(content)
        aside.chmod(0o755 if content.startswith(b"#!") else 0o644)
        if file.is_dir() and not file.is_symlink():
            file.rename(_aside(file))
        aside.replace(file)
    finally:
        aside.unlink(missing_ok=True)


def has_content(file: Path, content: bytes) -> bool:
    """True if a file holds just this, and a script can be run."""
    try:
        return read_plain_file(file) == content and (
            os.access(file, os.X_OK) or not content.startswith(b"#!")
        )
    except OSError:
        return False


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.{time.time_ns()}.old")


def _interpreter_works(folder: Path) -> bool:
    try:
        named = os.fsdecode(read_plain_file(folder / INTERPRETER)).removesuffix("\n")
        return Path(named).is_file() and os.access(named, os.X_OK)
    except (OSError, ValueError):  # it is missing, or no path
        return False
