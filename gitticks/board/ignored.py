"""Temporary files of editors and desktops, which git and gitticks ignore on the board.

Git knows one list of such patterns that is a worktree's own, `core.excludesFile`, and it stands in for the user's. So
the board's list begins with what the user's says, and is written again when theirs has changed.
"""

from __future__ import annotations

import os
import re
from fnmatch import translate
from pathlib import Path

from gitticks.board.hooks import HOOKS_LOCK
from gitticks.board.place import board_checkout
from gitticks.git.config import read_worktree_setting, write_worktree_setting
from gitticks.git.files import write_synced
from gitticks.git.locks import hold_lock
from gitticks.git.process import run_git
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
_FROM = "# the user's own patterns, from "
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
    if _is_fresh(file):
        return
    checkout = board_checkout(repository)
    if checkout is None:
        return

    asked = ["config", "--type=path", "--get", _KEY]
    found = run_git(asked, repository_dir=repository.common_dir, check=False).stdout
    named = os.fsdecode(found).removesuffix("\n")
    users = Path(os.path.normpath(checkout.path.parent / named)) if named else _default()
    name = os.path.relpath(file, checkout.path)  # it survives a move of the repository
    with hold_lock(repository.own_file(HOOKS_LOCK)):
        present = read_worktree_setting(checkout.git_dir, _KEY)
        if present not in (None, name, named):
            return
        write_synced(file, _content(users))
        write_worktree_setting(checkout.git_dir, _KEY, name)


def _default() -> Path:
    """Returns where git looks for the user's patterns if no setting says otherwise."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111 - a home may lack
    return Path(home) / "git" / "ignore"


def _content(users: Path) -> bytes:
    try:
        theirs = users.read_bytes() if users.is_file() else b""
    except OSError:
        theirs = b""
    ours = "".join(f"\\{one}\n" if one.startswith("#") else f"{one}\n" for one in DROPPINGS)
    return os.fsencode(f"{_FROM}{users}\n") + theirs.rstrip(b"\n") + f"\n{_OURS}\n{ours}".encode()


def _is_fresh(file: Path) -> bool:
    """True if the list is there and the user's, as far as it names that, is not younger."""
    try:
        with file.open("rb") as written:
            named = os.fsdecode(written.readline()).removeprefix(_FROM).removesuffix("\n")
            made = os.fstat(written.fileno()).st_mtime_ns
        return not os.path.exists(named) or os.stat(named).st_mtime_ns < made  # noqa: PTH110, PTH116
    except (OSError, ValueError):
        return False
