"""The one way in which CommonMark is parsed: blocks alone, whose inline rules run only where they are asked for."""

from __future__ import annotations

from functools import lru_cache

from markdown_it import MarkdownIt

from gitticks.document.nesting import bound_nesting


@lru_cache(maxsize=1)
def block_parser() -> MarkdownIt:
    """Returns the parser; whoever has it leaves its rules as they are."""
    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    bound_nesting(parser)
    return parser
