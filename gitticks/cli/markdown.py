"""A task's text on a terminal: rendered Markdown with colour, else wrapped text; nothing is lost.

Where there is no colour, the signs stay, because nothing else would say what they say. Loading rich takes as long as
the rest of a call, so texts without any sign are only wrapped.
"""

from __future__ import annotations

from collections.abc import Iterator

from gitticks.cli.render import GAP, Screen
from gitticks.cli.text import visible, wrap

MOST_CHARACTERS = 64_000
_SIGNS = r"(?m)[*_`~\\]|^[ \t]*(?:[#>+-]|\d+[.)])|\||\]\(|&\w+;|^(?: {4}|\t)"
_TAB = 4


def prose(on: Screen, text: str, indent: str = GAP) -> Iterator[str]:
    """Yields a text as it is below its heading."""
    for line in shown_text(on.narrower(len(indent)), text):
        yield (indent + line).rstrip()


def shown_text(on: Screen, text: str) -> list[str]:
    """Returns a text of a task as lines for a terminal of `on.columns`; elsewhere each line as it was written."""
    lines = [visible(line.expandtabs(_TAB)).rstrip() for line in text.splitlines()]
    if not on.is_terminal:
        return lines
    import re  # piped texts are spared the pattern

    plain = "\n".join(lines)
    if on.has_colour and on.has_glyphs and len(plain) <= MOST_CHARACTERS and re.search(_SIGNS, plain):
        from gitticks.cli.rich_markdown import rendered_lines

        rendered = rendered_lines(on, plain)
        if rendered is not None:
            return rendered
    return [part for line in lines for part in _wrapped(line, on.columns)]


def _wrapped(line: str, columns: int) -> list[str]:
    indent = line[: len(line) - len(line.lstrip(" "))][: max(0, columns // 2)]
    return [indent + part for part in wrap(line.strip(" "), max(1, columns - len(indent)))]
