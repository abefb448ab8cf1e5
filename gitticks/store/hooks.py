"""Puts gitticks' hooks into the board, and only there: every other worktree keeps the hooks that it has.

The board's own worktree configuration names the folder. The hooks that it hides, of whatever name, are called by ours.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from enum import StrEnum
from pathlib import Path

from gitticks.errors import GitticksError
from gitticks.git.checkouts import Checkout
from gitticks.git.files import errors_name
from gitticks.git.locks import hold_lock
from gitticks.git.repository import Repository
from gitticks.git.worktree_config import enable_worktree_config, read_worktree_setting, write_worktree_setting
from gitticks.plainfile import read_plain_file
from gitticks.store.board import board_checkout

BOARD_HOOKS = ("pre-commit", "pre-merge-commit", "post-commit", "post-merge", "post-checkout", "post-rewrite")
PASSED_ON = (
    "applypatch-msg",
    "commit-msg",
    "post-applypatch",
    "pre-applypatch",
    "pre-push",
    "pre-rebase",
    "prepare-commit-msg",
)
"""Hooks that gitticks has no word in; the person's own are run."""

_SHARED = "chain.sh"
_PASS_ON = "own"
_INTERPRETER = "interpreter"
_SETTING = "core.hooksPath"
_HIDDEN_SETTING = "gitticks.hiddenHooksPath"


class HooksState(StrEnum):
    """How the hooks of the board are."""

    NO_BOARD = "no board"
    ABSENT = "absent"
    BROKEN = "broken"
    """The board asks for them, and they are incomplete, of another version, or their Python is gone."""
    INSTALLED = "installed"


def hook_sources() -> Path:
    """Returns the folder of the hooks' sources: inside the installed package, or beside it in a source tree.

    Raises:
        GitticksError: the installation lacks them.
    """
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "_hooks", package.parent / "hooks"):
        if (folder / _SHARED).is_file():
            return folder
    raise GitticksError(
        "this installation of gitticks lacks its hooks", hint="`pip install --force-reinstall gitticks`"
    )


def install_board_hooks(repository: Repository) -> Path:
    """Installs the board's hooks, or brings them up to date, and returns their folder.

    Raises:
        GitticksError: there is no board.
    """
    checkout = _require_board(repository)
    folder = _folder(repository)
    wanted = _wanted(hook_sources())
    with hold_lock(repository.own_dir / "hooks.lock"):
        folder.mkdir(exist_ok=True)
        for name, content in wanted.items():
            _put(folder / name, content)
    enable_worktree_config(repository)
    named = os.path.relpath(folder, checkout.path)  # survives a move of the repository
    present = read_worktree_setting(checkout.git_dir, _SETTING)
    if present is not None and present != named:
        write_worktree_setting(checkout.git_dir, _HIDDEN_SETTING, present)
    write_worktree_setting(checkout.git_dir, _SETTING, named)
    return folder


def uninstall_board_hooks(repository: Repository) -> None:
    """Removes the board's hooks and gives back a hooks path that it had before; without hooks nothing happens."""
    checkout = board_checkout(repository)
    if checkout is not None and _is_active(repository, checkout):
        hidden = read_worktree_setting(checkout.git_dir, _HIDDEN_SETTING)
        write_worktree_setting(checkout.git_dir, _SETTING, hidden)
        write_worktree_setting(checkout.git_dir, _HIDDEN_SETTING, None)
    shutil.rmtree(_folder(repository), ignore_errors=True)


def board_hooks_state(repository: Repository) -> HooksState:
    """Returns whether the board's hooks are there and work."""
    checkout = board_checkout(repository)
    if checkout is None:
        return HooksState.NO_BOARD
    if not _is_active(repository, checkout):
        return HooksState.ABSENT
    folder = _folder(repository)
    wanted = _wanted(hook_sources())
    are_same = all(_has(folder / name, content) for name, content in wanted.items() if name != _INTERPRETER)
    return HooksState.INSTALLED if are_same and _interpreter_works(folder) else HooksState.BROKEN


def _wanted(sources: Path) -> dict[str, bytes]:
    """Returns the files of the hooks' folder by name."""
    files = {name: (sources / name).read_bytes() for name in (_SHARED, *BOARD_HOOKS)}
    files |= dict.fromkeys(PASSED_ON, (sources / _PASS_ON).read_bytes())
    return {**files, _INTERPRETER: os.fsencode(sys.executable) + b"\n"}


def _put(file: Path, content: bytes) -> None:
    """Replaces one file of the hooks whole: git may be starting it at this moment. What a kill left is written over."""
    aside = file.with_name(f".{file.name}.new")
    try:
        with errors_name(file):
            aside.write_bytes(content)
        aside.chmod(0o755 if content.startswith(b"#!") else 0o644)
        if file.is_dir() and not file.is_symlink():
            file.rename(file.with_name(f"{file.name}.{time.time_ns()}.old"))
        aside.replace(file)
    finally:
        aside.unlink(missing_ok=True)


def _has(file: Path, content: bytes) -> bool:
    try:
        return read_plain_file(file) == content and (
            os.access(file, os.X_OK) or not content.startswith(b"#!")
        )
    except OSError:
        return False


def _interpreter_works(folder: Path) -> bool:
    try:
        named = os.fsdecode(read_plain_file(folder / _INTERPRETER)).removesuffix("\n")
        return Path(named).is_file() and os.access(named, os.X_OK)
    except (OSError, ValueError):  # it is missing, or no path
        return False


def _is_active(repository: Repository, checkout: Checkout) -> bool:
    named = read_worktree_setting(checkout.git_dir, _SETTING)
    return named is not None and os.path.realpath(checkout.path / named) == os.path.realpath(
        _folder(repository)
    )


def _require_board(repository: Repository) -> Checkout:
    checkout = board_checkout(repository)
    if checkout is None:
        raise GitticksError("there is no board to put hooks into", hint="`gt init` makes it")
    return checkout


def _folder(repository: Repository) -> Path:
    return repository.own_dir / "hooks"
