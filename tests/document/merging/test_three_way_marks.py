"""Git's conflict markers: found, and taken apart into the sides that they were made of."""

from __future__ import annotations

import pytest

from gitticks.document.merging.three_way import (
    END_MARK,
    Version,
    conflict_line,
    marked,
    split_sides,
    versions_of,
)
from gitticks.document.texts import Source

MERGE = "a\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\nb\n"
DIFF3 = "a\n<<<<<<< HEAD\nours\n||||||| 123\nold\n=======\ntheirs\n>>>>>>> other\nb\n"


def test_sides_of_both_styles() -> None:
    for text, base in (
        (MERGE, None),
        (DIFF3, "a\nold\nb\n"),
        (DIFF3.replace("\n", "\r\n"), "a\r\nold\r\nb\r\n"),
    ):
        sides = split_sides(text)
        assert sides is not None
        newline = "\r\n" if "\r" in text else "\n"
        assert (sides.base, sides.ours, sides.theirs) == (
            base,
            newline.join(["a", "ours", "b", ""]),
            newline.join(["a", "theirs", "b", ""]),
        )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<<<<<<< a\n",
        "=======\n",
        ">>>>>>> a\n",
        "<<<<<<< a\nx\n>>>>>>> b\n",
        " <<<<<<<\n=======\n>>>>>>>\n",
    ],
)
def test_markers_that_stand_alone_are_text(text: str) -> None:
    assert split_sides(text) is None
    assert conflict_line(Source(text, "f")) is None


def test_a_conflict_is_found_outside_of_code_only() -> None:
    ours = marked([Version("1", "one"), Version("2", "two")])
    assert conflict_line(Source(f"text\n\n{ours}", "f", 5)) == 7
    assert conflict_line(Source(MERGE, "f", 1)) == 2
    for text in (ours, MERGE):
        assert conflict_line(Source(f"````\n{text}\n````\n", "f")) is None


def test_versions_are_kept_once_and_come_back() -> None:
    versions = (Version("1", "one\n\nmore"), Version("2", "two"))
    text = marked([*reversed(versions), versions[0]])
    assert versions_of(text.rstrip("\n")) == versions
    assert versions_of("plain") is None
    assert versions_of(f"before\n{text}".rstrip("\n")) is None
    assert "~~~~~markdown" in marked([Version("1", "~~~~\nopen"), Version("2", "b")], fenced=True)


def test_as_many_marks_as_a_file_can_hold_are_looked_for_at_once() -> None:
    marks = f"{END_MARK}\n" * 19_000
    text = f"~~~\n{marks}~~~\n" + END_MARK
    assert conflict_line(Source(text, "f")) == 19_003
