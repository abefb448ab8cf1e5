"""A task's text on a terminal: rendered Markdown with colour, else wrapped text; nothing is lost.

Where there is no colour, the signs stay, because nothing else would say what they say. Loading rich takes as long as
the rest of a call, so texts without any sign are only wrapped.
"""

from __future__ import annotations

import re

from gitticks.cli.render import Screen
from gitticks.cli.text import visible, wrap

MOST_CHARACTERS = 64_000
_SIGNS = re.compile(r"(?m)[*_`~\\]|^[ \t]*(?:[#>+-]|\d+[.)])|\||\]\(|&\w+;|^(?: {4}|\t)")
_TAB = 4


def shown_text(on: Screen, text: str) -> list[str]:
    """Returns a text of a task as lines for a terminal of `on.columns`; elsewhere each line as it was written."""
    lines = [visible(line.expandtabs(_TAB)).rstrip() for line in text.splitlines()]
    if not on.is_terminal:
        return lines
    plain = "\n".join(lines)
    if on.has_colour and on.has_glyphs and len(plain) <= MOST_CHARACTERS and _SIGNS.search(plain):
        from gitticks.cli.rich_markdown import rendered_lines

        rendered = rendered_lines(on, plain)
        if rendered is not None:
            return rendered
    return [part for line in lines for part in _wrapped(line, on.columns)]


def _wrapped(line: str, columns: int) -> list[str]:
    indent = line[: len(line) - len(line.lstrip(" "))][: max(0, columns // 2)]
    return [indent + part for part in wrap(line.strip(" "), max(1, columns - len(indent)))]
