"""Tells at a glance whether a task's file may hold a script: asked of every change, and never wrong about a "no".

What is overlooked here would run without anybody's trust. So lines end, and titles are trimmed, where the parser of
markdown does it too: at any line break, and at all white space that there is.
"""

from __future__ import annotations

import re

_SCRIPT = b"script"
_WITHOUT_SIGNS = str.maketrans("#*_", "   ")
_LINE_BREAK = re.compile(rb"[\r\n]")


def may_hold_script(content: bytes) -> bool:
    """Returns True if a line begins with the word, after signs and white space at most."""
    text = content.lower()
    at, start = text.find(_SCRIPT), 0
    while at != -1:
        line = max(start, text.rfind(b"\n", start, at) + 1, text.rfind(b"\r", start, at) + 1)
        if not text[line:at].decode("utf-8", "replace").translate(_WITHOUT_SIGNS).strip():
            return True
        end = _LINE_BREAK.search(text, at)
        start = len(text) if end is None else end.end()
        at = text.find(_SCRIPT, start)
    return False
