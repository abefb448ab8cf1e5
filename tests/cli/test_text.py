from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.cli.text import visible, width, wrap


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ü 👩\u200d👧 ✔\ufe0f", "plain ü 👩\u200d👧 ✔\ufe0f"),
        ("\x1b[2J\r\n\x7f\x9b", r"\x1b[2J\r\n\x7f\x9b"),
        ("\u202e\u2066\u200f\u200b\u2028", r"\u202e\u2066\u200f\u200b\u2028"),
        ("a\U000e0041\U000e0001", r"a\U000e0041\U000e0001"),
        ("a\U000e0100\U000e01ef\U000e0fff", r"a\U000e0100\U000e01ef\U000e0fff"),
    ],
)
def test_what_could_steer_a_terminal_or_hide_in_it_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_what_is_kept_is_kept() -> None:
    assert visible("a\nb\r", keep="\n") == "a\nb\\r"


@pytest.mark.parametrize(
    ("text", "columns", "lines"),
    [
        ("", 5, [""]),
        ("one two three", 7, ["one two", "three"]),
        ("one two three", 80, ["one two three"]),
        ("abcdefgh ij", 3, ["abc", "def", "gh", "ij"]),
        ("a   b", 10, ["a   b"]),
        ("日本語 x", 4, ["日本", "語 x"]),
        ("日", 1, ["日"]),
    ],
)
def test_text_is_broken_between_words(text: str, columns: int, lines: list[str]) -> None:
    assert wrap(text, columns) == lines


@given(st.text("ab  日\u0301", max_size=40), st.integers(2, 12))
def test_breaking_loses_nothing_and_keeps_to_the_width(text: str, columns: int) -> None:
    lines = wrap(text, columns)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(width(line) <= columns for line in lines)


@pytest.mark.parametrize("columns", [1, 0, -5])
def test_without_room_each_character_has_a_line(columns: int) -> None:
    assert wrap("ab 日本", columns) == ["a", "b", "日", "本"]
    assert wrap("", columns) == [""]


@pytest.mark.parametrize("word", ["x" * 300_000, "日" * 300_000])
def test_one_word_as_long_as_a_file_is_broken_in_one_go(word: str) -> None:
    lines = wrap(word, 4)
    assert "".join(lines) == word
    assert max(map(width, lines)) == 4


def test_what_combines_stays_with_its_character() -> None:
    assert wrap("日\u0301日", 1) == ["日\u0301", "日"]
