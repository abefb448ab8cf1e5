from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.actions.agents import with_block, without_block
from gitticks.errors import GitticksError

TEXT = "## Tasks\n\nuse gt"
FILES = st.lists(
    st.sampled_from([b"# Title", b"words", b"\n", b"\r\n", b"\r", b"  ", b"\xff\xfe", b"<!-- x -->"])
).map(b"".join)


def test_the_block_stands_at_the_end_after_an_empty_line() -> None:
    lines = with_block(b"# Mine\n", TEXT).decode().splitlines()
    assert lines[:2] == ["# Mine", ""]
    assert lines[2].startswith("<!-- gitticks:begin 1 ")
    assert lines[3:] == ["", "## Tasks", "", "use gt", "", "<!-- gitticks:end -->"]


@given(FILES)
def test_taking_it_out_gives_back_the_file_that_it_was_put_into(content: bytes) -> None:
    held = with_block(content, TEXT)
    assert held.startswith(content)
    assert with_block(held, TEXT) == held
    assert without_block(held) == content
    assert without_block(content) == content


@given(FILES, FILES)
def test_another_text_replaces_the_block_alone(before: bytes, after: bytes) -> None:
    held = with_block(before, TEXT) + after
    renewed = with_block(held, "other words")
    assert without_block(renewed) == without_block(held)
    assert renewed.endswith(after)
    assert b"use gt" not in renewed.removesuffix(after)


def test_line_breaks_are_those_of_the_file() -> None:
    held = with_block(b"# Mine\r\n", TEXT)
    assert held.count(b"\r\n") == held.count(b"\n") == 9
    assert without_block(held) == b"# Mine\r\n"


def test_what_is_written_around_it_stays() -> None:
    held = b"above\n" + with_block(b"", TEXT) + b"below\n"
    assert without_block(held) == b"above\nbelow\n"
    moved = with_block(b"x\n", TEXT).removeprefix(b"x\n\n")
    assert without_block(b"word" + b"\n" + moved) == b"word"


BEGIN, END = b"<!-- gitticks:begin 0 -->\n", b"<!-- gitticks:end -->\n"


@pytest.mark.parametrize(
    "content", [BEGIN, END, END + BEGIN, BEGIN + BEGIN + END, BEGIN + END + END, BEGIN + END + BEGIN + END]
)
def test_damaged_markers_are_named_with_their_lines(content: bytes) -> None:
    for change in (without_block, lambda found: with_block(found, TEXT)):
        with pytest.raises(GitticksError, match=r"markers of its block are damaged: `(begin|end)` in line 2"):
            change(b"# Mine\n" + content)


def test_a_marker_within_a_line_is_text() -> None:
    content = b"say `<!-- gitticks:begin -->` to begin\n"
    assert without_block(content) == content
