"""What is a section and what only looks like one, row by row."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitticks.document.sections import (
    Body,
    Heading,
    ScriptBlock,
    Scripts,
    _headings,
    find_headings,
    is_empty,
    parse_blocks,
    read_scripts,
)
from gitticks.document.taskfile import TaskFile
from gitticks.document.texts import Source
from gitticks.document.verdict_line import MOST_INLINE_CHARACTERS, review_outcome
from gitticks.errors import DocumentError
from gitticks.model.notes import ReviewOutcome, Section


def body(text: str, first_line: int = 1) -> Body:
    return Body(Source(text, "f", first_line))


def titles(text: str) -> list[str]:
    return [block.title for block in body(text).blocks]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## A\n", ["A"]),
        ("##  A  ##\n", ["A"]),
        ("   ## A\n", ["A"]),
        ("##\tA\n", ["A"]),
        ("A\n---\n", ["A"]),
        ("A\nb\n---\n", ["A b"]),
        ("A\n===\n", ["A"]),
        ("# A\n## B\n### C\n", ["A", "B"]),
        ("text <!--\n## A\n", ["A"]),
        ("<div>\n\n## A\n", ["A"]),
        ("- a\n\n## A\n", ["A"]),
        ("> a\n## A\n", ["A"]),
        ("## A\r\n## B\r## C", ["A", "B", "C"]),
        ("x\u2028## A\n", []),
        ("x\x85## A\n", []),
        ("x\x0c## A\n", []),
        ("    ## A\n", []),
        ("##A\n", []),
        ("\\## A\n", []),
        ("\u00a0## A\n", []),
        ("```\n## A\n```\n", []),
        ("~~~\n## A\n```\n## B\n", []),
        ("<!--\n## A\n-->\n", []),
        ("<div>\n## A\n</div>\n", []),
        ("> ## A\n", []),
        ("- ## A\n", []),
        ("- a\n  ## A\n", []),
        ("a\n\n---\n", []),
        ("#### A\n", []),
    ],
)
def test_headings_are_those_of_commonmark(text: str, expected: list[str]) -> None:
    assert titles(text) == expected


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("## Handoff", "Handoff"),
        ("## HANDOFF  ##", "handoff"),
        ("Handoff\n---", "Handoff"),
        ("## acceptance   criteria", "Acceptance Criteria"),
    ],
)
def test_names_are_equal_whatever_case_and_space(heading: str, name: str) -> None:
    assert body(f"{heading}\n\ntext\n").get(name) == "text"


@pytest.mark.parametrize(
    "heading", ["# Handoff", "### Handoff", "## Handoff:", "## **Handoff**", "## Hand off"]
)
def test_other_headings_are_no_such_section(heading: str) -> None:
    assert body(f"{heading}\n\ntext\n").get("Handoff") is None


@pytest.mark.parametrize("end", ["## B", "# B", "B\n---", "B\n==="])
def test_a_section_ends_before_the_next_heading_of_level_1_or_2(end: str) -> None:
    assert body(f"## A\none\n\n### sub\ntwo\n\n{end}\nthree\n").get("A") == "one\n\n### sub\ntwo"


def test_the_last_of_two_counts_and_a_warning_names_both_lines() -> None:
    found = body("## A\none\n## B\n## a\ntwo\n", first_line=7)
    assert found.get("A") == "two"
    assert found.warnings == ("f: `## a` is on lines 7 and 10: only the last one counts",)


def test_an_emptied_last_section_is_empty_even_if_an_earlier_one_is_not() -> None:
    assert body("## A\none\n## A\n").get("A") is None


def test_a_fence_without_end_is_named() -> None:
    assert body("## A\n\n```sh\nx\n\n## B\n", first_line=5).warnings == (
        "f:7: a code fence never ends: sections after it are not recognised",
    )


@pytest.mark.parametrize(
    "text", ["", " \n\t\n", "<!-- a -->", "<!-- a\n\nb -->\n<!---->", "<!-->", "<!--->\n", "<!-- open\nend"]
)
def test_comments_and_white_space_are_empty(text: str) -> None:
    assert is_empty(text)
    assert body(f"## A\n{text}\n").get("A") is None


@pytest.mark.parametrize("text", ["x", "<!-- a --> x", "<!--> x -->", "-", "`<!-- a -->`"])
def test_anything_else_is_not_empty(text: str) -> None:
    assert not is_empty(text)


def test_text_is_given_with_lf_and_without_blank_lines_around_it() -> None:
    assert body("## A\r\n\r\n    code\r\ntext\r\n\r\n## B\r\n").get("A") == "    code\ntext"


def test_the_preamble_is_what_precedes_the_first_section() -> None:
    assert body("\n# Title\n\nsummary\n\n## A\nx\n").preamble == "# Title\n\nsummary"
    assert body("only text\n").preamble == "only text"


DEEP = (
    "- " * 30 + "x",
    "> " * 30 + "x",
    "1. " * 30 + "x",
    "> - " * 30 + "x",
    "- " * 50_000 + "x",
    "> " * 50_000 + "x",
    "\n".join("  " * depth + "- x" for depth in range(200)),
)


@pytest.mark.parametrize("deep", DEEP, ids=range(len(DEEP)))
def test_a_section_below_it_is_a_section(deep: str) -> None:
    body = Body(Source(f"{deep}\n\n## Handoff\n\nDONE: all\n\n```\ncode\n```\n\n## Review\n\nPASS\n", "f"))
    assert [block.title for block in body.blocks] == ["Handoff", "Review"]
    assert body.get("Review") == "PASS"
    if len(deep) < MOST_INLINE_CHARACTERS:
        assert review_outcome(f"{deep}\n\nFAIL\n") is ReviewOutcome.FAIL


@pytest.mark.parametrize("deep", DEEP[:4], ids=range(4))
def test_a_note_holds_it_and_the_next_one_may_hold_code(deep: str) -> None:
    file = TaskFile.parse(
        f"---\nid: a\ntitle: T\n---\n\n## Notes\n\n### 2026-03-04T05:00:00Z · agent · x\n\n{deep}\n".encode(),
        "f",
    )
    changed = file.with_section(Section.HANDOFF, "```\ncode\n```")
    assert changed.section(Section.HANDOFF) == "```\ncode\n```"
    assert [entry.text for entry in changed.entries(Section.NOTES)] == [deep]


@given(st.lists(st.sampled_from(["- ", "> ", "1. ", "  ", "* "]), max_size=40).map("".join))
def test_the_short_cut_sees_the_same(markers: str) -> None:
    text = f"{markers}x\n\n## Below\n"
    source = Source(text, "f")
    plain = find_headings(source)
    if plain is not None:
        found = [token for token in parse_blocks(source) if token.type == "heading_open"]
        assert len(plain) == len([token for token in found if token.level == 0])


def test_blocks_of_worker_and_reviewer_with_their_lines() -> None:
    text = (
        "x\n\n## Script\n\n```sh\necho 1\n```\n\ntext\n\n~~~ sh  reviewer \nexit 1\n\n~~~\n\n"
        "- step\n\n  ```sh\n  echo 2\n  ```\n\n```python\nno\n```\n\n```\nno\n```\n\n> ```sh\n> no\n> ```\n\n"
        "```bash\nno\n```\n## Other\n```sh\nno\n```\n"
    )
    assert read_scripts(body(text, 5)) == Scripts(
        worker=(ScriptBlock("echo 1\n", 9), ScriptBlock("echo 2\n", 22)),
        reviewer=(ScriptBlock("exit 1\n\n", 15),),
    )


def test_line_breaks_are_lf() -> None:
    assert read_scripts(body("## Script\r\n```sh\r\na\r\nb\r\n```\r\n", 5)).worker == (
        ScriptBlock("a\nb\n", 6),
    )


@pytest.mark.parametrize("text", ["", "## Script\n", "## Script\nsh\n", "```sh\nx\n```\n"])
def test_no_script(text: str) -> None:
    assert read_scripts(body(text, 5)) == Scripts()


def test_an_empty_block_is_a_block() -> None:
    assert read_scripts(body("## Script\n```sh\n```\n", 5)).worker == (ScriptBlock("", 6),)


@pytest.mark.parametrize(
    "text", ["```sh\nrm x\n\n## Notes\n\ntext\n", "```sh", "```sh\n", "- a\n  ```sh\n  x\n\nrest\n"]
)
def test_a_block_without_end_is_refused(text: str) -> None:
    with pytest.raises(DocumentError, match="this script never ends") as caught:
        read_scripts(body(f"## Script\n{text}", 5))
    assert caught.value.line in (6, 7)
    assert caught.value.hint == "end it with a line that holds only ```"


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
