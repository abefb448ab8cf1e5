"""Three versions of a text become one."""

from __future__ import annotations

from gitticks.git.textmerge import merge_text

BASE = b"1\n2\n3\n4\n5\n"


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
