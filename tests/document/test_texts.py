"""Lines are those of YAML and CommonMark, not those of `str.splitlines`."""

from __future__ import annotations

import os

import pytest

from gitticks.document.texts import Source, encodable, is_encodable, line_starts, trimmed, with_newlines


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", [0]),
        ("a", [0, 1]),
        ("a\n", [0, 2]),
        ("a\nb", [0, 2, 3]),
        ("a\r\nb\rc\n", [0, 3, 5, 7]),
        ("a\x0b\x0c\x1c\x85\u2028\u2029b", [0, 8]),
    ],
)
def test_only_cr_and_lf_break_lines(text: str, starts: list[int]) -> None:
    assert line_starts(text) == starts


def test_line_breaks_are_replaced_whole() -> None:
    assert with_newlines("a\r\nb\rc\nd", "\r\n") == "a\r\nb\r\nc\r\nd"


def test_trimming_keeps_the_first_lines_indentation() -> None:
    assert trimmed(" \n\r\n    code\n\n text \t\r\n\n") == "    code\n\n text"


def test_half_a_surrogate_pair_is_in_no_file() -> None:
    assert not is_encodable("a\ud800")
    assert is_encodable("🎉ü")


def test_a_byte_that_is_not_utf_8_is_written_as_an_escape() -> None:
    assert encodable(os.fsdecode(b"unc\xe9 \xc3\xa9\0") + "\ud800") == "unc\\xe9 é\ufffd\ufffd"


def test_an_error_names_line_and_column_of_the_file() -> None:
    error = Source("a\r\nbc", "tasks/TASK.md", first_line=2).error("is odd", 4)
    assert str(error) == "tasks/TASK.md:3:2: is odd"
    assert (error.line, error.column) == (3, 2)
