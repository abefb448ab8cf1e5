"""Text for a terminal: nothing that came from a file, a task or an agent may steer the screen."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_CHARACTERS_KEPT = 4096
_HARMFUL = {"Cc", "Cf", "Zl", "Zp", "Cs", "Co"}
_HIDING = frozenset(map(chr, range(0xE0000, 0xE1000)))
"""Tags and the further variation selectors: never seen, and room for any message to whoever reads the bytes."""
_JOINERS = {"\u200d", "\ufe0f", "\u200c"}
"""Format characters that emoji and some scripts cannot be written without."""


def visible(text: str, *, keep: str = "") -> str:
    r"""Returns `text` with control, direction and tag characters written out, such as `\x1b` and `\u202e`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_written(char) if is_harmful(char) and char not in keep else char for char in text)


@lru_cache(_CHARACTERS_KEPT)
def is_harmful(char: str) -> bool:
    """True for a character that could steer a terminal, or hide in it, or that no file can hold."""
    return (unicodedata.category(char) in _HARMFUL and char not in _JOINERS) or char in _HIDING


def _written(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def width(text: str) -> int:
    """Returns the columns that `text` takes; wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(_columns(char) for char in text)


@lru_cache(_CHARACTERS_KEPT)
def _columns(char: str) -> int:
    if unicodedata.combining(char) or char in _JOINERS:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


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
