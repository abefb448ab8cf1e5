"""Reads what a person types on a terminal, line by line, up to an empty line."""

from __future__ import annotations

import os
import select
import sys

_CHUNK = 65536
_PASTE_SECONDS = 0.05


def is_typed_to() -> bool:
    """True if a person sits before stdin."""
    return sys.stdin.isatty()


def typed_lines() -> str | None:
    """Returns the lines up to an empty one, which may be none; None if there are none and stdin has ended.

    An empty line that comes with more behind it was pasted, and is a part of the text.
    """
    terminal = sys.stdin.fileno()
    typed = b""
    while True:
        line = os.read(terminal, _CHUNK)
        typed += line
        if not line:
            return _text(typed) or None
        if not line.strip() and not _has_more(terminal):
            return _text(typed)


def _text(typed: bytes) -> str:
    return typed.decode("utf-8", "replace").strip()


def _has_more(terminal: int) -> bool:
    return bool(select.select([terminal], [], [], _PASTE_SECONDS)[0])
