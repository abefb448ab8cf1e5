"""Puts a hook of ours in the place of a person's, which moves aside in the same folder and is run by ours.

The person's hook keeps its bytes, its mode and its neighbours, so that taking ours away is one rename.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from shlex import quote

from gitticks.errors import GitticksError
from gitticks.safe_read import read_plain_file
from gitticks.store.hook_files import IN_FRONT, has_content, put_file, read_source

_MARK = b"# Put here by `gt hooks install`;"
_OWN, _LEGACY = ".own", ".legacy"
_MADE = "made-hooks-folder"
_OWN_NAME = (b"basename", b"##*/", b"$PROGRAM_NAME", b"argv[0]")
"""How a script asks under which name it was started; one that does so cannot be renamed."""


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
    told = [word for name in names for word in _take(hooks, name)]
    if (own_folder / _MADE).exists() and hooks.is_dir() and not any(hooks.iterdir()):
        hooks.rmdir()
    return tuple(told)


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
        yield f"`{own}` is your `{name}` of before; what came in its place since stays"


def _refuse_a_second_own(hooks: Path, name: str) -> None:
    file, own = hooks / name, hooks / f"{name}{_OWN}"
    if not os.path.lexists(own) or not os.path.lexists(file) or is_left_in_front(hooks, name):
        return
    if os.path.samestat(file.lstat(), own.lstat()):
        return  # it was being moved there when the command was killed
    raise GitticksError(
        f"`{own}` is where your hook `{name}` would be moved to",
        hint=f"`mv {quote(str(own))} {quote(f'{own}.old')}` makes way",
    )


def _is_moved(hooks: Path, name: str) -> bool:
    """True if a hook manager took the place, and calls ours from there, as pre-commit does."""
    return _is_ours(hooks / f"{name}{_LEGACY}") and os.path.lexists(hooks / name)


def _are_same(file: Path, other: Path) -> bool:
    """True for two plain files with the same bytes and mode."""
    try:
        if file.is_symlink() or other.is_symlink() or file.lstat().st_mode != other.lstat().st_mode:
            return False
        return read_plain_file(file) == read_plain_file(other)
    except OSError:  # one is missing, or no plain file
        return False


def _is_ours(file: Path) -> bool:
    try:
        return not file.is_symlink() and _MARK in read_plain_file(file)
    except OSError:
        return False
