"""Temporary files of editors and desktops, which git and gitticks ignore on the board.

Git knows one list of such patterns that is a worktree's own, `core.excludesFile`, and it stands in for the user's. So
the board's list begins with what the user's says, and is written again when theirs has changed, or is another.
"""

from __future__ import annotations

import os
import re
from fnmatch import translate
from pathlib import Path

from gitticks.board.hooks import HOOKS_LOCK
from gitticks.board.place import board_checkout
from gitticks.git.config import read_config, read_worktree_setting, write_worktree_setting
from gitticks.git.files import write_synced
from gitticks.git.locks import hold_lock
from gitticks.git.repository import Repository

DROPPINGS = (
    "*~",
    ".#*",
    "#*#",
    ".*.sw[a-z]",
    ".*.swpx",
    ".*.kate-swp",
    "4913",
    "*___jb_tmp___",
    "*___jb_old___",
    ".~lock.*#",
    ".goutputstream-*",
    ".fuse_hidden*",
    ".nfs*",
    ".DS_Store",
    "Thumbs.db",
    "desktop.ini",
)

_FILE = "board-ignores"
_KEY = "core.excludesFile"
_OURS = "# backup and swap files of editors and desktops"
_DROPPING = re.compile("|".join(map(translate, DROPPINGS)))


def is_dropping(path: str) -> bool:
    """True for a file that an editor or a desktop left about, which nobody need hear of."""
    return any(_DROPPING.match(name) for name in path.split("/"))


def keep_board_ignores(repository: Repository) -> None:
    """Lets git overlook on the board what editors leave about, besides what the user's own patterns say.

    A list that somebody has given to the board alone stays as it is.
    """
    file = repository.own_file(_FILE)
    checkout = board_checkout(repository)
    if checkout is None:
        return
    key = _KEY.lower()
    named = read_config(repository, f"^{re.escape(key)}$", of_all=True).get(key)
    place = os.path.expanduser(named or "")
    users = Path(os.path.normpath(checkout.path.parent / place)) if place else _default()
    if _is_fresh(file, users):
        return
    name = os.path.relpath(file, checkout.path)  # it survives a move of the repository
    with hold_lock(repository.own_file(HOOKS_LOCK)):
        present = read_worktree_setting(checkout.git_dir, _KEY)
        if present not in (None, name, named):
            return
        write_synced(file, _content(users))
        write_worktree_setting(checkout.git_dir, _KEY, name)


def _default() -> Path:
    """Returns where git looks for the user's patterns if no setting says otherwise."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return Path(home) / "git" / "ignore"


def _content(users: Path) -> bytes:
    try:
        theirs = users.read_bytes() if users.is_file() else b""
    except OSError:
        theirs = b""
    ours = "".join(f"\\{one}\n" if one.startswith("#") else f"{one}\n" for one in DROPPINGS)
    return _heading(users) + theirs.rstrip(b"\n") + f"\n{_OURS}\n{ours}".encode()


def _heading(users: Path) -> bytes:
    return os.fsencode(f"# the user's own patterns, from {users}\n")


def _is_fresh(file: Path, users: Path) -> bool:
    """True if the list is there, names the user's, and that is not younger."""
    try:
        is_of_users = file.read_bytes().startswith(_heading(users))
        return is_of_users and (not users.exists() or users.stat().st_mtime_ns < file.stat().st_mtime_ns)
    except (OSError, ValueError):
        return False
