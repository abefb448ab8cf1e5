"""Text for a terminal: nothing from a file, a task or an agent may control it."""

from __future__ import annotations

import os
import re
import sys
from functools import cache

from gitticks.errors import GitticksError
from gitticks.model.ids import BOARD_FOLDER
from gitticks.terminal_safety import JOINERS, are_harmless, escaped, is_harmful
from gitticks.world import is_ours, program_on_path

_PRINTABLE = bytes(range(0x20, 0x7F))
_OWN_SIGNS = "○◐◇⊙✓✗…·→⚑├└─│»«"
_FIRST_COMBINING = "\u0300"
_widths: dict[str, int] = dict.fromkeys(_OWN_SIGNS, 1)
"""The columns that characters take, as far as they were met; what we print ourselves needs no table of Unicode."""

_QUOTE_IN_QUOTES = "'\"'\"'"
"""How a shell takes a single quote inside of single quotes."""


def visible(text: str, *, keep: str = "") -> str:
    r"""Returns `text` with control, direction and tag characters written out, such as `\x1b` and `\u202e`."""
    if are_harmless(text):
        return text
    return "".join(escaped(char) if is_harmful(char) and char not in keep else char for char in text)


def all_visible(texts: list[str]) -> list[str]:
    """Returns the texts, each as `visible` gives it; thousands of harmless ones are looked at as one."""
    joined = "".join(texts)
    # Deleting bytes by a table is several times as fast as asking of each character whether it can be printed.
    is_harmless = (
        not joined.encode().translate(None, _PRINTABLE) if joined.isascii() else are_harmless(joined)
    )
    return texts if is_harmless else [visible(text) for text in texts]


def width(text: str) -> int:
    """Returns the columns that `text` takes; wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(_columns(char) for char in text)


def are_narrow(texts: list[str]) -> bool:
    """True if every character of these texts takes one column."""
    joined = "".join(texts)
    return joined.isascii() or all(_columns(char) == 1 for char in set(joined))


def _columns(char: str) -> int:
    if char < _FIRST_COMBINING:
        return 1
    if char not in _widths:
        from unicodedata import combining, east_asian_width

        is_none = combining(char) or char in JOINERS
        _widths[char] = 0 if is_none else 2 if east_asian_width(char) in "WF" else 1
    return _widths[char]


def cut(text: str, columns: int) -> str:
    """Returns `text` cut to at most `columns`, with an ellipsis where something was left out."""
    if width(text) <= columns:
        return text
    taken = 0
    for place, char in enumerate(text):
        taken += _columns(char)
        if taken > columns - 1:
            return text[:place].rstrip() + "…"
    return text


def pad(text: str, columns: int) -> str:
    """Returns `text` filled with spaces to `columns`."""
    return text + " " * max(0, columns - width(text))


def wrap(text: str, columns: int) -> list[str]:
    """Returns `text` broken between words into lines of at most `columns`; a longer word is broken where it must.

    A line holds at least one character, however narrow the room is.
    """
    columns = max(1, columns)
    lines: list[str] = []
    line, taken = "", 0
    for word in text.split(" "):
        wide = width(word)
        if line and taken + 1 + wide <= columns:
            line, taken = f"{line} {word}", taken + 1 + wide
            continue
        if line:
            lines.append(line)
        *full, line = [word] if wide <= columns else _pieces(word, columns)
        lines += full
        taken = width(line)
    return [*lines, line] if line or not lines else lines


def _pieces(word: str, columns: int) -> list[str]:
    """Returns a word broken where it must; each piece has at least one character, with all that combines with it."""
    pieces: list[str] = []
    begin = taken = 0
    for place, char in enumerate(word):
        wide = _columns(char)
        if wide and place > begin and taken + wide > columns:
            pieces.append(word[begin:place])
            begin, taken = place, 0
        taken += wide
    return [*pieces, word[begin:]]


def called() -> str:
    """Returns how this program is called: `gt`, or `gitticks` where that was typed.

    Where a hook or a script started it, it is `gitticks` if the shell would start another tool's gt.
    """
    program = sys.argv[0]
    is_other = program.endswith("/gitticks/__main__.py") and _is_gt_anothers(
        os.environ.get("PATH", os.defpath)
    )
    return "gitticks" if is_other or program.endswith("/gitticks") else "gt"


@cache
def _is_gt_anothers(path: str) -> bool:
    found = program_on_path({"PATH": path})
    return found is not None and not is_ours(found)


def as_called(text: str) -> str:
    """Returns a message whose commands begin with what this program was called by."""
    name = called()
    return text if name == "gt" else text.replace("`gt ", f"`{name} ").replace("`gt`", f"`{name}`")


def from_here(text: str) -> str:
    """Returns a message with the board's folder in its commands as it is called from the current one."""
    text = as_called(text)
    if BOARD_FOLDER not in text or "`" not in text or os.path.lexists(BOARD_FOLDER):
        return text
    board = _board()
    if board is None:
        return text
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
        top = find_repository(here, os.environ).project_place
    except (GitticksError, OSError):
        return None
    if top is None:
        return None
    board = f"{top}/{BOARD_FOLDER}"
    return os.path.relpath(board, here) if os.path.commonpath((top, here)) == top else board


def clock(seconds: float) -> str:
    """Returns a length of time as `6:40` or `1:02:03`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
