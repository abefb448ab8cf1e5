"""Renders Markdown for a terminal with rich.

What Markdown would drop (tags, comments, the address of an image, definitions of links) is shown as it stands, the
line breaks of the writer stay, and code is coloured as a whole: a highlighter would have to parse what a stranger
wrote.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Self

from markdown_it import MarkdownIt
from rich.console import Console
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.padding import Padding
from rich.text import Text
from rich.theme import Theme

if TYPE_CHECKING:
    from markdown_it.token import Token
    from rich.console import ConsoleOptions, JustifyMethod, RenderResult
    from rich.segment import Segment
    from rich.style import Style

    from gitticks.cli.render import Screen


_DEEPEST = 15
_BLANK_END = re.compile(r"(?:\s|\x1b\[[0-9;]*m)+\Z")
_UNWANTED = ("html_block", "html_inline", "image", "reference", "autolink")
"""Rules whose result a terminal cannot show whole."""
_STYLES = {
    "markdown.code": "cyan",
    "markdown.code_block": "cyan",
    "markdown.code_info": "dim",
    "markdown.h1": "bold",
    "markdown.h2": "bold",
    "markdown.h3": "bold",
    "markdown.link": "none",
    "markdown.link_url": "underline",
    "markdown.block_quote": "none",
}


def rendered_lines(on: Screen, text: str) -> list[str] | None:
    """Returns the lines that rich makes of Markdown; None for one that is nested too deep for it."""
    markdown = parsed(text)
    if markdown is None:
        return None
    shown = io.StringIO()
    _console(on.columns, shown, _STYLES).print(markdown)
    lines = ["", *map(_without_blank_end, shown.getvalue().split("\n"))]
    kept = [line for before, line in pairwise(lines) if line or before]
    return kept if not kept or kept[-1] else kept[:-1]


def rendered_segments(columns: int, text: str, styles: dict[str, Style]) -> list[list[Segment]] | None:
    """Returns what rich makes of Markdown as pieces with their styles; None for one that is nested too deep for it.

    `styles` are those of rich's own names, such as `markdown.h2`.
    """
    markdown = parsed(text)
    return (
        None
        if markdown is None
        else _console(columns, io.StringIO(), styles).render_lines(markdown, pad=False)
    )


def _without_blank_end(line: str) -> str:
    end = _BLANK_END.search(line)
    if end is None or not end.start():
        return line if end is None else ""
    return line[: end.start()] + ("\x1b[0m" if "\x1b" in end[0] else "")


def _console(columns: int, file: io.StringIO, styles: Mapping[str, str | Style]) -> Console:
    return Console(
        file=file,
        width=max(1, columns),
        color_system="standard",
        force_terminal=True,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
        theme=Theme(styles),
        _environ={},
    )


def parsed(text: str) -> Markdown | None:
    """Returns Markdown for rich; None for one that is nested too deep for it."""
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST + 2})
    parser.enable(["strikethrough", "table"]).disable(list(_UNWANTED), ignoreInvalid=True)
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]  # shown as it is written
    tokens = parser.parse(text)
    if any(token.level > _DEEPEST for token in tokens):
        return None
    return PlainMarkdown.of(list(_with_all_that_is_written(tokens)))


def _with_all_that_is_written(tokens: Iterable[Token]) -> Iterator[Token]:
    """Yields the tokens with the writer's line breaks, and with the titles of links."""
    for token in tokens:
        for child in token.children or ():
            if child.type == "softbreak":
                child.type = "hardbreak"
            elif child.type == "link_open" and child.attrs.get("title"):
                child.attrs["href"] = f'{child.attrs.get("href", "")} "{child.attrs["title"]}"'
        yield token


class _LeftHeading(Heading):
    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = {}


class _PlainCode(CodeBlock):
    """Code, below what stands behind the fence that begins it: its language, or for whom it is."""

    info = ""

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> Self:
        """Returns the element of a token."""
        code = cls("text", markdown.code_theme)
        code.info = token.info.strip()
        return code

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.info:
            yield Text(self.info, style="markdown.code_info", overflow="fold")
        code = str(self.text).rstrip("\n")
        if code:
            yield Padding(Text(code, style="markdown.code_block", overflow="fold"), (0, 0, 0, 2))


class PlainMarkdown(Markdown):
    """Markdown that was parsed already, without hyperlinks, which could lead elsewhere than they say."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _LeftHeading,
        "fence": _PlainCode,
        "code_block": _PlainCode,
    }

    @classmethod
    def of(cls, tokens: list[Token]) -> Self:
        """Returns what shows these tokens."""
        markdown = cls("", hyperlinks=False)
        markdown.parsed = tokens
        return markdown
