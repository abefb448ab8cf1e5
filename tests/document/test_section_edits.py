"""Writes change one section and nothing else, or are refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitticks.document.section_edits import append_to_section, remove_section, set_section
from gitticks.document.sections import Body
from gitticks.document.texts import Source, trimmed, with_newlines
from gitticks.errors import DocumentError
from gitticks.model.notes import Section


def body(text: str, newline: str = "\n") -> Body:
    return Body(Source(text, "f"), newline)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("## A\nold\n", "## A\n\nnew\n"),
        ("## A", "## A\n\nnew\n"),
        ("## A\n\nold\n\n\n## B\nb\n", "## A\n\nnew\n\n## B\nb\n"),
        ("A\n---\nold\n\nB\n---\nb", "A\n---\n\nnew\n\nB\n---\nb"),
        ("## A\none\n## A\ntwo\n", "## A\none\n## A\n\nnew\n"),
        ("# H\ntext\n", "# H\ntext\n\n## A\n\nnew\n"),
        ("", "\n## A\n\nnew\n"),
        ("text", "text\n\n## A\n\nnew\n"),
    ],
)
def test_set(before: str, after: str) -> None:
    assert set_section(body(before), "A", "\nnew\n\n").text == after


def test_new_sections_stand_in_the_order_of_the_specification() -> None:
    found = body("")
    for section in sorted(Section):
        found = set_section(found, section, "x")
    assert [block.title for block in found.blocks] == [section.value for section in Section]


def test_sections_of_people_stay_where_they_are() -> None:
    found = set_section(body("## Mine\nx\n## Notes\ny\n## Other\nz\n"), Section.HANDOFF, "h")
    assert found.text == "## Mine\nx\n\n## Handoff\n\nh\n\n## Notes\ny\n## Other\nz\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("## A\nold\n", ""),
        ("x\n\n## A\nold\n\n## B\n", "x\n\n## B\n"),
        ("x\n## A\nold\n\nB\n---\n", "x\n\nB\n---\n"),
        ("## A\n1\n## B\n2\n## a\n3\n", "## B\n2\n"),
        ("## B\n", "## B\n"),
    ],
)
def test_remove_takes_every_section_of_the_name(before: str, after: str) -> None:
    assert remove_section(body(before), "A").text == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("## A\n\nold\n", "## A\n\nold\n\nnew\n"),
        ("## A\n\nold", "## A\n\nold\n\nnew\n"),
        ("## A\n\nold\n\n\n## B\n", "## A\n\nold\n\nnew\n\n\n## B\n"),
        ("## A\nold\nB\n---\n", "## A\n\nnew\n\nold\nB\n---\n"),
        ("## A\n## B\n", "## A\n\nnew\n\n## B\n"),
        ("## A", "## A\n\nnew\n"),
        ("x\n", "x\n\n## A\n\nnew\n"),
    ],
)
def test_append(before: str, after: str) -> None:
    assert append_to_section(body(before), "A", "new").text == after


def test_line_breaks_are_those_of_the_file() -> None:
    assert set_section(body("## A\r\nx\r\n", "\r\n"), "A", "a\nb").text == "## A\r\n\r\na\r\nb\r\n"


@pytest.mark.parametrize(
    "text",
    [
        "## Review\nPASS",
        "# H",
        "x\n---",
        "x\n===",
        "```\nopen",
        "~~~\nopen",
        "<!-- open",
        "<pre>\n",
        "<div>\n\n## X",
        "<?php",
    ],
)
@pytest.mark.parametrize("before", ["## A\nx\n## B\ny\n", "## B\ny\n\n## A\nx\n", "## B\n"])
def test_text_that_would_change_other_sections_is_refused(before: str, text: str) -> None:
    with pytest.raises(DocumentError, match="would change the sections around it") as caught:
        set_section(body(before), "A", text)
    assert caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "### sub",
        "- # list",
        "> ## quoted",
        "```\n## code\n```",
        "<!-- ## x -->",
        "a\n\n---\n\nb",
        "    ## code",
        "\\## x",
    ],
)
def test_text_that_only_looks_like_structure_is_taken(text: str) -> None:
    changed = set_section(body("## A\nx\n## B\ny\n"), "A", text)
    assert changed.content(changed.find("A")[0]) == text
    assert changed.get("B") == "y"


def test_a_hidden_heading_is_not_replaced_by_a_forged_one() -> None:
    with pytest.raises(DocumentError):
        set_section(body("## A\nx\n## B\ny\n"), "A", "## B\n<!--")


@pytest.mark.parametrize("text", ["a\0b", "a\ud800"])
def test_what_no_file_can_hold_is_refused(text: str) -> None:
    with pytest.raises(DocumentError, match="a file cannot"):
        set_section(body(""), "A", text)


def test_the_line_of_an_open_fence_is_named() -> None:
    with pytest.raises(DocumentError, match="opens on line 3 never ends"):
        set_section(body("## B\n\n```\nx\n"), "Handoff", "text")


def test_an_open_fence_below_does_not_hinder_a_write_above_it() -> None:
    assert set_section(body("## A\nx\n## Z\n```\nopen\n"), "A", "y").text == "## A\n\ny\n\n## Z\n```\nopen\n"


LINES = st.sampled_from(
    [
        "## A",
        "## B",
        "# H",
        "A",
        "text",
        "---",
        "===",
        "```",
        "~~~",
        "<!--",
        "-->",
        "<div>",
        "",
        "",
        "> q",
        "- l",
        "    c",
    ]
) | st.sampled_from(["x\u2028## C", "\x85", "### s", "\t", "[r]: /u", "é 🎉"])
DOCUMENTS = st.lists(LINES, max_size=14)


@given(
    DOCUMENTS, DOCUMENTS, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.sampled_from(["A", "Handoff"])
)
@settings(max_examples=150)
def test_one_section_changes_and_no_other_byte(
    lines: list[str], new: list[str], newline: str, ends: bool, name: str
) -> None:
    before = body(newline.join(lines) + (newline if ends else ""), newline)
    text = "\n".join(new)
    try:
        after = set_section(before, name, text)
    except DocumentError:
        return
    assert after.find(name)
    written = after.find(name)[-1]
    assert after.content(written) == with_newlines(trimmed(text), "\n")
    others = [(block.title, before.text[block.start : block.end]) for block in before.blocks]
    if before.find(name):
        replaced = before.find(name)[-1]
        assert after.text.startswith(before.text[: replaced.text_start])
        assert after.text.endswith(before.text[replaced.end :])
        assert [block.title for block in after.blocks] == [title for title, _ in others]
    else:
        offset = next(at for at in range(len(before.text) + 1) if _is_inserted(before.text, after.text, at))
        assert after.text.startswith(before.text[:offset])
        removed = remove_section(after, name)
        assert [block.title for block in removed.blocks] == [title for title, _ in others]


def _is_inserted(before: str, after: str, at: int) -> bool:
    return after.startswith(before[:at]) and after.endswith(before[at:])


def test_as_many_sections_of_a_name_as_a_file_can_hold_are_removed_at_once() -> None:
    found = remove_section(body("## A\nx\n\n## B\n" * 4_900), "A")
    assert found.text == "## B\n\n" * 4_899 + "## B\n"
