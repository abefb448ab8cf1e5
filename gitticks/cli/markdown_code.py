"""Rich's Markdown with headings to the left, and code that no highlighter looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.padding import Padding
from rich.text import Text

if TYPE_CHECKING:
    from markdown_it.token import Token
    from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult


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
        """Yields what is shown."""
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
