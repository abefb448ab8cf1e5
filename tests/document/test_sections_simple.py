"""The short cut gives what markdown-it-py gives, or declines."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitticks.document.sections import Heading, _headings, find_headings, parse_blocks
from gitticks.document.texts import Source

LINE_STARTS = (
    "", "# ", "## ", "### ", "#### ", "#", "##", " # ", "    # ", "- ", "- # ", "  - ", "* ", "1. ", "1) ", "> ", "> # ",
    ">## ", "  ", "    ", "===", "---", "- ---", "***", "`", "<!--", "<div>", "- <pre>", "[a]: /b ", '[a]: /b "', "|",
)  # fmt: skip
LINE_ENDS = (
    "",
    "word",
    "two  words",
    "## x",
    "#",
    "# ",
    "\\",
    "-->",
    "`code`",
    '"',
    "é",
    "\u3000",
    "x\u00a0",
    "a | b",
    "&amp;",
    "🎉",
)
LINES = st.builds(
    "{}{}{}".format, st.sampled_from(LINE_STARTS), st.sampled_from(LINE_ENDS), st.sampled_from(LINE_ENDS)
)
ENDS = st.sampled_from(("", "\n"))


def parsed(text: str) -> list[Heading]:
    """Returns the headings as markdown-it-py finds them."""
    source = Source(text, "TASK.md", 1)
    return list(_headings(source, parse_blocks(source)))


@settings(max_examples=1500)
@given(
    st.lists(st.one_of(LINES, st.text("#->*` =<\n.1a[]:\\\t\r", max_size=8)), max_size=8).map("\n".join), ENDS
)
def test_what_is_found_is_what_the_parser_finds(body: str, end: str) -> None:
    found = find_headings(Source(body + end, "TASK.md", 1))
    if found is not None:
        assert list(found) == parsed(body + end)


def test_a_plain_body_is_not_declined() -> None:
    text = "Words, `code` and a list:\n\n- one\n- # two\n\n## Handoff\n\nDone.\n\n### Remaining\n\n1. more\n"
    found = find_headings(Source(text, "f"))
    assert found is not None
    assert [(one.title, one.level, one.line) for one in found] == [("Handoff", 2, 6), ("Remaining", 3, 10)]


@pytest.mark.parametrize(
    "text", ["```\n## no\n```\n", "<!--\n## no\n-->\n", "Title\n---\n", " ## near\n", "## a ##\n"]
)
def test_what_takes_a_parser_is_declined(text: str) -> None:
    assert find_headings(Source(text, "f")) is None
