"""What is a section and what only looks like one, row by row."""

from __future__ import annotations

import pytest

from gitticks.document.sections import Body, is_empty
from gitticks.document.texts import Source


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
