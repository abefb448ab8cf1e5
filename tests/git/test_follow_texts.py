"""Three versions of a text become one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.git import follow
from gitticks.git.follow import changed_places, line_distance, merge_text, nearest_first

BASE = b"1\n2\n3\n4\n5\n"

TEXTS = st.lists(st.sampled_from([b"a\n", b"b\n", b"k: 1\n", b"k: 2\n", b"\n", b"d"]), max_size=9).map(
    b"".join
)


def test_edits_apart_are_joined() -> None:
    assert merge_text("a.md", BASE, b"one\n2\n3\n4\n5\n", b"1\n2\n3\n4\nfive\n") == b"one\n2\n3\n4\nfive\n"


def test_edits_of_one_line_exclude_each_other() -> None:
    assert merge_text("a.md", BASE, b"one\n2\n3\n4\n5\n", b"eins\n2\n3\n4\n5\n") is None


def test_what_is_no_text_is_not_merged() -> None:
    assert merge_text("a.png", b"\0", b"\0a", b"\0b") is None


def test_logs_keep_the_lines_of_both() -> None:
    assert merge_text("x/log.jsonl", b"1\n", b"1\n2\n", b"1\n3\n") == b"1\n2\n3\n"


def test_line_ends_and_a_missing_last_one_survive() -> None:
    assert (
        merge_text("a.md", b"1\r\n2\r\n3\r\n4", b"1\r\n2\r\n3\r\n4", b"0\r\n2\r\n3\r\n4")
        == b"0\r\n2\r\n3\r\n4"
    )


@given(TEXTS, TEXTS)
def test_distance_is_a_count_of_lines(one: bytes, other: bytes) -> None:
    assert line_distance(one, one) == 0
    assert (line_distance(one, other) == 0) == (one.splitlines() == other.splitlines())
    assert line_distance(one, one + other) <= len(other.splitlines()) + 1


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        (b"", b"", 0),
        (b"", b"a\nb\n", 2),
        (b"a\nb\nc\n", b"a\nx\nc\n", 2),
        (b"a\nb\n", b"a\n\nb\n", 1),
        (b"a\r\nb", b"a\nb\n", 0),
        (b"a\na\na\n", b"a\n", 2),
        (b"a\nb\n", b"b\na\n", 2),
        (b"a\nk: 1\nb\n", b"a\nk: 2\nb\n", 1),
        (b"k: 1\nb\n", b"b\nk: 2\n", 2),
        (b"k: 1\nj: 1\n", b"k: 2\n", 2),
        (b"  k: 1\n", b"k: 1\n", 2),
        (b"k:\n", b"k: 1\n", 1),
        (b"see http://a\n", b"see http://b\n", 2),
    ],
)
def test_what_was_removed_and_what_was_added_both_count(one: bytes, other: bytes, apart: int) -> None:
    assert line_distance(one, other) == line_distance(other, one) == apart


@given(st.lists(TEXTS, max_size=6), TEXTS)
def test_the_nearest_come_first_and_equally_near_ones_as_they_were_given(
    versions: list[bytes], text: bytes
) -> None:
    wanted = sorted(((line_distance(one, text), one) for one in versions), key=lambda pair: pair[0])
    assert list(nearest_first(versions, text)) == wanted


def test_only_what_may_be_next_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [b"%d\n" % number for number in range(3000)]
    versions = [b"".join([*lines, b"updated %d\n" % number]) for number in range(200)]
    edited = versions[150].replace(b"\n7\n", b"\nseven\n")
    compared: list[bytes] = []

    def compare(one: bytes, other: bytes) -> int:
        compared.append(one)
        return line_distance(one, other)

    monkeypatch.setattr(follow, "line_distance", compare)
    assert next(nearest_first(versions, edited)) == (2, versions[150])
    assert compared == [versions[150]]


def test_lines_beside_one_another_change_in_one_place() -> None:
    assert changed_places(b"a\nb\nc\n", b"a\nb\nc\n") == 0
    assert changed_places(b"a\nb\nc\n", b"a\nx\ny\nc\n") == 1
    assert changed_places(b"a\nb\nc\n", b"x\nb\nc\nd\n") == 2
