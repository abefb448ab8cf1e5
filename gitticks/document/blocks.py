"""The one way CommonMark is parsed: blocks only, with limited nesting."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from markdown_it.rules_block import blockquote, list_block

if TYPE_CHECKING:
    from collections.abc import Callable

    from markdown_it.rules_block import StateBlock

    Rule = Callable[[StateBlock, int, int, bool], bool]

DEEPEST = 20
_OF_ONE_RULE = 10
"""No rule adds as many levels at once, so the parser's own bound is never met."""


def bound_nesting(parser: MarkdownIt) -> None:
    """Lets a parser take what would be nested deeper than `DEEPEST` for text."""
    parser.options["maxNesting"] = DEEPEST + _OF_ONE_RULE
    ended = ["paragraph", "reference", "blockquote"]
    parser.block.ruler.at("list", _bounded(list_block), {"alt": ended})
    parser.block.ruler.at("blockquote", _bounded(blockquote), {"alt": [*ended, "list"]})


def _bounded(rule: Rule) -> Rule:
    def bounded(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        return state.level < DEEPEST and rule(state, start, end, silent)

    return bounded


@lru_cache(maxsize=1)
def block_parser() -> MarkdownIt:
    """Returns the parser; its holder leaves its rules as they are."""
    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    bound_nesting(parser)
    return parser
