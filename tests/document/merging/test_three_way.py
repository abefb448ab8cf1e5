"""Lines of three versions: what one side changed stands, what both changed is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.document.merging.three_way import merge_lines, merge_text, union_of_lines

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
    union = union_of_lines(base, one, other)
    for side in (one, other):
        assert {line for line in side.split("\n") if line not in base.split("\n")} <= set(union.split("\n"))


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
