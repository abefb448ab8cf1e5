"""A task's text as rows: Markdown by the same renderer as the command's, in the interface's colours."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from rich.style import Style

from gitticks.cli.render import MOST_CHARACTERS
from gitticks.cli.text import visible, wrap
from gitticks.tui.theme import glyph
from gitticks.tui.widgets.lines import Line, Span, harmless, line

WIDEST = 88
"""Prose is read more easily in lines that are no longer."""
_TAB = 4
_BOX = re.compile(r"^( *)\S \[([ xX])\] ")
_TOKENS = {
    "markdown.paragraph": "fg",
    "markdown.text": "fg",
    "markdown.em": "strong",
    "markdown.emph": "strong",
    "markdown.strong": "*strong",
    "markdown.code": "word",
    "markdown.code_block": "fg",
    "markdown.code_info": "faint",
    "markdown.block_quote": "muted",
    "markdown.list": "fg",
    "markdown.item": "fg",
    "markdown.item.bullet": "faint",
    "markdown.item.number": "faint",
    "markdown.hr": "line",
    "markdown.h1.border": "line",
    **{f"markdown.h{level}": "*strong" for level in range(1, 8)},
    "markdown.link": "focus",
    "markdown.link_url": "focus",
    "markdown.s": "faint",
    "markdown.table.border": "line",
    "markdown.table.header": "*fg",
}


@cache
def _styles() -> dict[str, Style]:
    return {name: Style(meta={"token": token}) for name, token in _TOKENS.items()}


def markdown_rows(text: str, width: int, *, colour: str = "fg") -> list[Line]:
    """Returns a text as rows of at most `width` columns; `colour` is that of what has none of its own."""
    from gitticks.cli.rich_markdown import rendered_segments

    columns = max(8, min(width, WIDEST))
    plain = "\n".join(visible(one.expandtabs(_TAB)).rstrip() for one in text.splitlines())
    pieces = rendered_segments(columns, plain, _styles()) if len(plain) <= MOST_CHARACTERS else None
    if pieces is None:
        return wrapped(plain, columns, colour)
    rows: list[Line] = []
    for segments in pieces:
        spans = _spans(((one.text, one.style) for one in segments if not one.control), colour)
        if spans or (rows and rows[-1].left):
            rows.append(Line(spans))
    while rows and not rows[-1].left:
        rows.pop()
    return rows


def _spans(parts: Iterable[tuple[str, Style | None]], token: str) -> tuple[Span, ...]:
    spans = [(text, style.meta.get("token", token) if style else token) for text, style in parts if text]
    while spans and not spans[-1][0].strip():
        spans.pop()
    if spans and (found := _BOX.match("".join(text for text, _ in spans))):
        spans = _without(spans, found.end())
        mark = (glyph("done"), "good") if found[2] in "xX" else (glyph("pending"), "muted")
        spans = [(found[1], "fg"), mark, (" ", "fg"), *spans]
    return tuple((text, token if kind == "fg" else kind) for text, kind in spans if text)


def _without(spans: list[Span], taken: int) -> list[Span]:
    left = []
    for text, token in spans:
        left.append((text[taken:], token))
        taken = max(0, taken - len(text))
    return left


def paragraphs(text: str, width: int, most: int | None = None) -> list[str]:
    """Returns the lines of a text, each broken to the width; with `most` only the first, and a sign for the rest."""
    lines = [
        part
        for one in text.strip().splitlines()
        for part in (wrap(harmless(one.rstrip()), max(8, width)) or [""])
    ]
    if most is not None and len(lines) > most:
        return [*lines[: most - 1], f"{lines[most - 1]} {glyph('more')}"]
    return lines


def wrapped(text: str, width: int, colour: str = "fg", most: int | None = None) -> list[Line]:
    """Returns plain text as rows, as `paragraphs` breaks it."""
    return [line((part, colour)) for part in paragraphs(text, width, most)]
