"""Our hook files: in our own folders, or wrapping the user's hook, which ours calls."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from shlex import quote

from gitticks.errors import GitticksError
from gitticks.git.files import errors_name
from gitticks.safe_read import read_plain_file

SHARED = "chain.sh"
PASS_ON = "own"
IN_FRONT = "in-front"
INTERPRETER = "interpreter"

_MARK = b"# Put here by `gt hooks install`;"
_OWN, _LEGACY = ".own", ".legacy"
_MADE = "made-hooks-folder"
_OWN_NAME = (b"basename", b"##*/", b"$PROGRAM_NAME", b"argv[0]")
"""How a script asks under which name it was started; one that does so cannot be renamed."""


class HooksState(StrEnum):
    """How the hooks of one place are."""

    NO_BOARD = "no board"
    ABSENT = "absent"
    BROKEN = "broken"
    """They are asked for, and they are incomplete, or their Python is gone."""
    OUTDATED = "outdated"
    """They work, and another version of gitticks wrote them."""
    HIDDEN = "hidden"
    """They are whole, and git runs others: `core.hooksPath` was set since."""
    INSTALLED = "installed"


def hook_sources() -> Path:
    """Returns the folder of the hooks' sources: inside the installed package, or beside it in a source tree."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "_hooks", package.parent / "hooks"):
        if (folder / SHARED).is_file():
            return folder
    raise GitticksError("this installation of gitticks lacks its hooks", hint="`pipx reinstall gitticks`")


def read_source(name: str) -> bytes:
    """Returns one source."""
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


def folder_state(folder: Path, files: Mapping[str, bytes]) -> HooksState:
    """Returns whether a folder holds these files, and if one names its Python, that is there, whichever it is."""
    scripts = [(folder / name, content) for name, content in files.items() if name != INTERPRETER]
    is_whole = all(_can_be_run(file, content) for file, content in scripts)
    if not is_whole or (INTERPRETER in files and not _interpreter_works(folder)):
        return HooksState.BROKEN
    is_same = all(has_content(file, content) for file, content in scripts)
    return HooksState.INSTALLED if is_same else HooksState.OUTDATED


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


def _can_be_run(file: Path, content: bytes) -> bool:
    """True if a file is this one, or that of another version: it does what no version leaves out."""
    wanted = b"/chain.sh" if content.startswith(b"#!") else b"gitticks hook"
    try:
        found = read_plain_file(file)
    except OSError:
        return False
    return wanted in found and (os.access(file, os.X_OK) or not content.startswith(b"#!"))


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.{time.time_ns()}.old")


def _interpreter_works(folder: Path) -> bool:
    try:
        named = os.fsdecode(read_plain_file(folder / INTERPRETER)).removesuffix("\n")
        return Path(named).is_file() and os.access(named, os.X_OK)
    except (OSError, ValueError):  # it is missing, or no path
        return False


def put_in_front(hooks: Path, names: Iterable[str], own_folder: Path) -> None:
    """Puts ours under each name into the folder `hooks`, made if missing; `own_folder` remembers that it was.

    Raises:
        GitticksError: a file is where the person's hook would be moved to; nothing was changed.
    """
    names = tuple(names)
    for name in names:
        _refuse_a_second_own(hooks, name)
    if not hooks.exists():
        (own_folder / _MADE).touch()
        hooks.mkdir(parents=True)
    for name in names:
        if not _is_moved(hooks, name):
            _put(hooks, name)


def take_away(hooks: Path, names: Iterable[str], own_folder: Path) -> tuple[str, ...]:
    """Takes ours away and puts back what was there; returns what a person has to look at themselves."""
    warnings = [word for name in names for word in _take(hooks, name)]
    if (own_folder / _MADE).exists() and hooks.is_dir() and not any(hooks.iterdir()):
        hooks.rmdir()
    return tuple(warnings)


def stands_in_front(hooks: Path, name: str) -> bool:
    """True if ours is there and is run, also by a hook manager that moved it aside as we do."""
    return has_content(hooks / name, read_source(IN_FRONT)) or _is_moved(hooks, name)


def is_left_in_front(hooks: Path, name: str) -> bool:
    """True if ours is there, whole or not, of whatever version."""
    return _is_ours(hooks / name) or _is_moved(hooks, name)


def is_bound_to_its_name(hook: Path) -> bool:
    """True if a hook might do something else under another name: links and scripts that ask for theirs."""
    if hook.is_symlink():
        return True
    try:
        content = read_plain_file(hook)
    except OSError:
        return False
    return any(word in content for word in _OWN_NAME) and _MARK not in content


def _put(hooks: Path, name: str) -> None:
    file, own = hooks / name, hooks / f"{name}{_OWN}"
    if os.path.lexists(file) and not _is_ours(file):
        if file.is_dir() and not file.is_symlink():
            file.rename(own)
        elif not os.path.lexists(own):
            os.link(file, own, follow_symlinks=False)  # so that at no moment there is no hook
    put_file(file, read_source(IN_FRONT))


def _take(hooks: Path, name: str) -> Iterable[str]:
    file, own, legacy = hooks / name, hooks / f"{name}{_OWN}", hooks / f"{name}{_LEGACY}"
    if _is_ours(file):
        if not os.path.lexists(own):
            file.unlink()
            return
        if own.is_dir() and not own.is_symlink():
            file.unlink()
        own.replace(file)
        return
    if _is_ours(legacy):
        legacy.unlink()
    if _are_same(file, own):
        own.unlink()  # a hook manager put its own in place again
    elif os.path.lexists(own):
        yield f"`{own}` is your previous `{name}`; what has replaced it since stays"


def _refuse_a_second_own(hooks: Path, name: str) -> None:
    file, own = hooks / name, hooks / f"{name}{_OWN}"
    if not os.path.lexists(own) or not os.path.lexists(file) or is_left_in_front(hooks, name):
        return
    if os.path.samestat(file.lstat(), own.lstat()):
        return  # it was being moved there when the command was killed
    raise GitticksError(
        f"`{own}` is where your hook `{name}` would be moved to",
        hint=f"`mv {quote(str(own))} {quote(f'{own}.old')}` moves it aside",
    )


def _is_moved(hooks: Path, name: str) -> bool:
    """True if a hook manager took the place, and calls ours from there, as pre-commit does."""
    return _is_ours(hooks / f"{name}{_LEGACY}") and os.path.lexists(hooks / name)


def _are_same(file: Path, other: Path) -> bool:
    try:
        if file.is_symlink() or other.is_symlink() or file.lstat().st_mode != other.lstat().st_mode:
            return False
        return read_plain_file(file) == read_plain_file(other)
    except OSError:  # one is missing, or not a regular file
        return False


def _is_ours(file: Path) -> bool:
    try:
        return not file.is_symlink() and _MARK in read_plain_file(file)
    except OSError:
        return False
