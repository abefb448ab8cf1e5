"""Commands that name the board, as they have to be typed where the person is.

Messages name it from the top of the main checkout, where most people are. In a subfolder, a linked worktree or a
workspace the same command would lead nowhere.
"""

from __future__ import annotations

import os

from gitticks.errors import GitticksError
from gitticks.model.ids import BOARD_FOLDER

_QUOTE_IN_QUOTES = "'\"'\"'"
"""How a shell takes a single quote inside of single quotes."""


def from_here(text: str) -> str:
    """Returns a message with the board's folder in its commands as it is called from the current one."""
    if BOARD_FOLDER not in text or "`" not in text or os.path.lexists(BOARD_FOLDER):
        return text
    board = _board()
    if board is None:
        return text
    import re
    from shlex import quote

    inside = "'" + board.replace("'", _QUOTE_IN_QUOTES)
    named = re.compile(rf"(?<![\w./-])('?){re.escape(BOARD_FOLDER)}(?![\w.-])")
    return re.sub(
        r"`[^`]*`",
        lambda command: named.sub(lambda one: inside if one[1] else quote(board), command[0]),
        text,
    )


def _board() -> str | None:
    """Returns how the board is called from here; None where that is not known."""
    from pathlib import Path

    from gitticks.git.repository_lookup import find_repository

    try:
        here = str(Path.cwd())
        top = find_repository(here, os.environ).main_place
    except (GitticksError, OSError):
        return None
    if top is None:
        return None
    board = f"{top}/{BOARD_FOLDER}"
    return os.path.relpath(board, here) if os.path.commonpath((top, here)) == top else board
