"""Lines of three versions: what one side changed stands, what both changed is told."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.document.merging.three_way import (
    END_MARK,
    Version,
    conflict_line,
    marked,
    merge_lines,
    merge_text,
    split_sides,
    union_of_lines,
    versions_of,
)
from gitticks.document.texts import Source

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "d\r\n"]), max_size=8).map("".join)


@pytest.mark.parametrize(
    ("base", "one", "other", "merged"),
    [
        ("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n"),
        ("a\nb\nc\n", "b\nc\n", "a\nb\nc\nd\n", "b\nc\nd\n"),
        ("a\n", "b\n", "c\n", None),
        ("a\nb\n", "A\nb\n", "a\nB\n", None),
        ("", "a\n", "a\n", "a\n"),
        ("a\nb\nc\n", "a\nx\nb\nc\n", "a\nx\nb\nC\n", "a\nx\nb\nC\n"),
    ],
)
def test_texts(base: str, one: str, other: str, merged: str | None) -> None:
    assert merge_text(base, one, other) == merged
    assert merge_text(base, other, one) == merged


@given(TEXTS, TEXTS, TEXTS)
def test_no_side_is_preferred_and_no_change_is_lost(base: str, one: str, other: str) -> None:
    assert merge_text(base, one, other) == merge_text(base, other, one)
    assert merge_text(base, one, base) == one
    unions = union_of_lines(base, one, other), union_of_lines(base, one, other, is_prose=True)
    for side, union in product((one, other), unions):
        assert {line for line in side.split("\n") if line not in base.split("\n")} <= set(union.split("\n"))


FENCED = "### {0}\n\n{0} needs:\n\n```\nmake\n```\n"


@pytest.mark.parametrize(
    ("base", "start"),
    [
        ("", ""),
        ("first\n", "first\n"),
        ("first", "first\n"),
        ("first", "first\n\n"),
        ("first\n", "first\n\n"),
    ],
)
def test_paragraphs_that_both_sides_added_stay_whole(base: str, start: str) -> None:
    one, other = FENCED.format("k1"), FENCED.format("k2")
    assert union_of_lines(base, start + one, start + other, is_prose=True) == f"{start}{one}\n{other}"
    assert (
        union_of_lines(base, start + one, f"{start}{one}\n{other}", is_prose=True) == f"{start}{one}\n{other}"
    )


def test_paragraphs_that_begin_alike_stay_whole() -> None:
    one, other = "\n```\nmake\n```\n", "\n```\ntest\n```\n"
    assert union_of_lines("a\n", f"a\n{one}", f"a\n{other}", is_prose=True) == f"a\n{one}{other}"


def test_a_text_that_would_take_long_to_compare_is_told_to_clash() -> None:
    base = ["x\n"] * 5000
    stretches = merge_lines(base, ["a\n", *base[1:-1], "b\n"], ["c\n", *base[1:-1], "d\n"])
    assert any(stretch.clash is not None for stretch in stretches)


def test_a_text_whose_lines_were_all_parted_clashes_rather_than_taking_long() -> None:
    def sides(count: int) -> tuple[str, str, str]:
        base = [f"{number}\n" for number in range(count)]
        parted = [
            line for at, one in enumerate(base) for line in ([f"x{one}", one] if at % 3 == 0 else [one])
        ]
        return "".join(base), "".join(parted), "".join([*base[:100], "z\n", *base[101:]])

    base, parted, other = sides(300)
    assert merge_text(base, parted, other) == parted.replace("\n100\n", "\nz\n")
    assert merge_text(*sides(9000)) is None


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
