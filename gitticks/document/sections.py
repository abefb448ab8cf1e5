"""The body's sections and the blocks of `## Script`, as CommonMark sees them.

Headings are those of markdown-it-py's block rules: what looks like a heading inside a code fence, a quote, a list or
a comment is text. A pattern finds them only in bodies that have no such thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from gitticks.document.texts import Source, line_starts, trimmed, with_newlines
from gitticks.errors import DocumentError
from gitticks.model.notes import Section

if TYPE_CHECKING:
    from collections.abc import Callable

    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

    Rule = Callable[[StateBlock, int, int, bool], bool]


DEEPEST = 20
_OF_ONE_RULE = 10
"""No rule of the parser adds as many levels at once, so its own bound is never met."""

_COMMENT = r"(?s)<!--(?:-?>|.*?-->|.*\Z)"
ENTRY_LEVEL = 3
_DOUBTFUL = frozenset({*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA1))} - {"\n"})
"""Tabs, line breaks other than LF, and controls."""
_MARKERS = " >*+.)-0123456789"


class Heading(NamedTuple):
    """A heading of level 1 to 3 that is not inside a fence, quote, list or comment.

    Offsets count characters of the body; `end` is where the line below the heading begins. `line` is the
    heading's line in the file.
    """

    title: str
    level: int
    line: int
    start: int
    end: int


class Block(NamedTuple):
    """A heading of level 1 or 2 and the text below it, up to the next such heading."""

    heading: Heading
    end: int

    @property
    def title(self) -> str:
        """Returns the heading's text."""
        return self.heading.title

    @property
    def start(self) -> int:
        """Returns where the heading begins."""
        return self.heading.start

    @property
    def text_start(self) -> int:
        """Returns where the text below the heading begins."""
        return self.heading.end

    @property
    def is_section(self) -> bool:
        """True if the heading is of level 2."""
        return self.heading.level == 2  # noqa: PLR2004

    def is_named(self, name: str) -> bool:
        """True for a section whose title is `name`, whatever its case and spacing."""
        return self.is_section and same_name(self.title) == same_name(name)


class Outline(NamedTuple):
    """What markdown-it-py finds in a body; `unclosed_fence_line` is a line of the file."""

    headings: tuple[Heading, ...]
    blocks: tuple[Block, ...]
    unclosed_fence_line: int | None


class Body(NamedTuple):
    """The text below the frontmatter; `newline` is the line break that the file uses.

    Its outline is made when it is first asked for: most changes are of fields, and loading markdown-it-py alone
    takes longer than all they do.
    """

    source: Source
    newline: str = "\n"

    @property
    def headings(self) -> tuple[Heading, ...]:
        """Returns the headings of level 1 to 3."""
        return _outline(self.source).headings

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Returns the sections, and what is below headings of level 1."""
        return _outline(self.source).blocks

    @property
    def unclosed_fence_line(self) -> int | None:
        """Returns the line of a top-level code fence that swallows the rest of the body."""
        return _outline(self.source).unclosed_fence_line

    @property
    def text(self) -> str:
        """Returns the exact text."""
        return self.source.text

    @property
    def preamble(self) -> str:
        """Returns the text before the first level-2 heading, without blank lines around it."""
        first = next((block.start for block in self.blocks if block.is_section), len(self.text))
        return with_newlines(trimmed(self.text[:first]), "\n")

    def find(self, name: str) -> tuple[Block, ...]:
        """Returns the sections of that name in file order; the last one counts."""
        return tuple(block for block in self.blocks if block.is_named(name))

    def content(self, block: Block) -> str:
        """Returns a section's text with LF line breaks and without blank lines around it."""
        return with_newlines(trimmed(self.text[block.text_start : block.end]), "\n")

    def get(self, name: str) -> str | None:
        """Returns the text of the section that counts, or None if it is missing or empty."""
        found = self.find(name)
        text = self.content(found[-1]) if found else ""
        return None if is_empty(text) else text

    @property
    def warnings(self) -> tuple[str, ...]:
        """Returns what a person should fix: names that occur twice, a code fence that never ends."""
        path = self.source.path
        lines: dict[str, list[Block]] = {}
        for block in self.blocks:
            if block.is_section:
                lines.setdefault(same_name(block.title), []).append(block)
        found = []
        for blocks in lines.values():
            if len(blocks) > 1:
                places = " and ".join(str(block.heading.line) for block in blocks)
                found.append(
                    f"{path}: `## {blocks[-1].title}` is on lines {places}: only the last one counts"
                )
        if (line := self.unclosed_fence_line) is not None:
            found.append(f"{path}:{line}: a code fence never ends: sections after it are not recognised")
        return tuple(found)


@lru_cache(maxsize=8)
def _outline(source: Source) -> Outline:
    headings, unclosed_fence_line = find_headings(source), None
    if headings is None:
        tokens = parse_blocks(source)
        headings = tuple(_headings(source, tokens))
        unclosed = (
            token.map
            for token in tokens
            if token.type == "fence" and token.level == 0 and token.map and not is_closed(token)
        )
        unclosed_fence_line = next((source.first_line + first for first, _ in unclosed), None)
    tops = [heading for heading in headings if heading.level < ENTRY_LEVEL]
    ends = [*(heading.start for heading in tops[1:]), len(source.text)]
    blocks = tuple(Block(heading, end) for heading, end in zip(tops, ends, strict=False))
    return Outline(headings, blocks, unclosed_fence_line)


@lru_cache(maxsize=1)
def block_parser() -> MarkdownIt:
    """Returns the one parser of CommonMark, of blocks only; its holder leaves its rules as they are."""
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import blockquote, list_block

    def bounded(rule: Rule) -> Rule:
        """Takes what would be nested deeper for text."""
        return lambda state, start, end, silent: state.level < DEEPEST and rule(state, start, end, silent)

    parser = MarkdownIt("commonmark", {"maxNesting": DEEPEST + _OF_ONE_RULE})
    parser.core.ruler.enableOnly(["normalize", "block"])
    ended = ["paragraph", "reference", "blockquote"]
    parser.block.ruler.at("list", bounded(list_block), {"alt": ended})
    parser.block.ruler.at("blockquote", bounded(blockquote), {"alt": [*ended, "list"]})
    return parser


def parse_blocks(source: Source) -> list[Token]:
    """Returns markdown-it-py's block tokens, whose inline text is left as it is."""
    return block_parser().parse(source.text)


def _headings(source: Source, tokens: list[Token]) -> Iterator[Heading]:
    starts = line_starts(source.text)
    for index, token in enumerate(tokens):
        level = int(token.tag[1]) if token.type == "heading_open" and token.level == 0 else 0
        if 1 <= level <= ENTRY_LEVEL:
            first, last = token.map or [0, 0]
            title = " ".join(tokens[index + 1].content.split())
            line = source.first_line + first
            yield Heading(title, level, line, starts[first], starts[min(last, len(starts) - 1)])


def is_empty(text: str) -> bool:
    """True if nothing is left after HTML comments and white space."""
    return not without_comments(text).strip()


def without_comments(text: str) -> str:
    """Returns the text without its HTML comments; one that never ends reaches to the end."""
    if "<!--" not in text:
        return text
    return re.sub(_COMMENT, "", text)


def is_closed(fence: Token) -> bool:
    """True if the fence ends in a line of its own, not with the text around it."""
    first, last = fence.map or [0, 0]
    lines = fence.content.count("\n") + (not fence.content.endswith("\n") and fence.content != "")
    return last - first == lines + 2


def same_name(title: str) -> str:
    """Returns the form in which two titles of one section are equal."""
    return " ".join(title.split()).lower()


def find_headings(source: Source) -> tuple[Heading, ...] | None:
    """Returns the headings of a body in which each is plain to see, or None where it takes a Markdown parser to tell.

    Loading the parser costs more than all else that showing a task does. No construct that could hide a heading or
    make one is taken; there are no patterns, since to compile them would take longer than to read the task.
    """
    text = source.text
    is_plain = text.replace("\n", "").isprintable() if text.isascii() else _DOUBTFUL.isdisjoint(text)
    if "```" in text or "~~~" in text or not is_plain:
        return None
    lines = text.split("\n")
    return None if any(map(_is_doubtful, lines)) else tuple(_plain_headings(source, lines))


def _is_doubtful(line: str) -> bool:
    first = line[:1]
    if first == "#":  # closing signs are no part of the title, and there may be none
        return line.rstrip(" ").endswith(("#", "\\"))
    if first == " " and line.lstrip(" ")[:1] == "#":  # may be a heading, part of a list, or code
        return True
    if "<" in line and not line[: line.index("<")].strip(_MARKERS):  # HTML, which may reach over blank lines
        return True
    words = line.strip(" ")  # `===` and `---` make a heading of the line above
    return bool(words) and not (words.strip("=") and words.strip("-"))


def _plain_headings(source: Source, lines: list[str]) -> Iterator[Heading]:
    place = 0
    for number, line in enumerate(lines, start=source.first_line):
        end = place + len(line) + 1
        title = line.lstrip("#")
        if 0 < len(line) - len(title) <= ENTRY_LEVEL and title[:1] == " ":
            shown = " ".join(title.split())
            yield Heading(shown, len(line) - len(title), number, place, min(end, len(source.text)))
        place = end


class ScriptBlock(NamedTuple):
    """One block of shell text; `line` is the file's line on which its fence opens."""

    text: str
    line: int


class Scripts(NamedTuple):
    """The blocks for the worker (`sh`) and for the reviewer (`sh reviewer`), each in file order."""

    worker: tuple[ScriptBlock, ...] = ()
    reviewer: tuple[ScriptBlock, ...] = ()


def read_scripts(body: Body) -> Scripts:
    """Returns the blocks of `## Script`; fences of other languages and inside quotes are text.

    Raises:
        DocumentError: a block never ends, so what follows it would be run.
    """
    found = body.find(Section.SCRIPT)
    if not found:
        return Scripts()
    block = found[-1]
    text = body.text[block.text_start : block.end]
    first_line = body.source.line(block.text_start)
    blocks: dict[tuple[str, ...], list[ScriptBlock]] = {("sh",): [], ("sh", "reviewer"): []}
    depth = 0
    for token in parse_blocks(Source(text, body.source.path, first_line)):
        depth += (token.type == "blockquote_open") - (token.type == "blockquote_close")
        words = tuple(token.info.split())
        if token.type != "fence" or depth or words not in blocks or token.map is None:
            continue
        line = first_line + token.map[0]
        if not is_closed(token):
            hint = f"end it with a line that holds only {token.markup}"
            raise DocumentError(
                "this script never ends", path=body.source.path, line=line, column=1, hint=hint
            )
        blocks[words].append(ScriptBlock(token.content, line))
    return Scripts(tuple(blocks["sh",]), tuple(blocks["sh", "reviewer"]))
