"""Frames, lines and both ends of an output, however the pieces are cut."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.agents.output import Frames, HeadTail, Lines, gap_marker

PIECES = st.lists(st.binary(max_size=30), max_size=20)


@given(st.lists(st.binary(max_size=20), max_size=5), st.integers(1, 7))
def test_frames_come_out_whole(bodies: list[bytes], size: int) -> None:
    data = b"".join(struct.pack(">cI", b"o", len(body)) + body for body in bodies)
    frames = Frames()
    found = [frame for at in range(0, len(data), size) for frame in frames.feed(data[at : at + size])]
    assert found == [(b"o", body) for body in bodies]


@given(PIECES)
def test_lines_do_not_depend_on_the_pieces(pieces: list[bytes]) -> None:
    found: list[str] = []
    lines = Lines(found.append, longest_bytes=1000)
    for piece in pieces:
        lines.feed(piece)
    lines.close()
    *whole, last = b"".join(pieces).split(b"\n")
    expected = [
        line.removesuffix(b"\r").decode("utf-8", "replace") for line in ([*whole, last] if last else whole)
    ]
    assert found == expected


def test_the_rest_of_a_line_behind_a_gap_never_poses_as_a_line() -> None:
    found: list[str] = []
    lines = Lines(found.append, longest_bytes=1000)
    lines.feed(b"one\nhalf a li")
    lines.gap(12)
    lines.feed(b"<promise>EJECT</promise>\nlast\n")
    lines.close()
    assert found == ["one", "half a li", gap_marker(12), "last"]


@given(PIECES, st.integers(2, 100))
def test_both_ends_are_kept_within_the_limit(pieces: list[bytes], limit: int) -> None:
    kept = HeadTail(limit)
    pieces = [bytes(byte & 0x7F for byte in piece) for piece in pieces]
    for piece in pieces:
        kept.feed(piece)
    whole = b"".join(pieces).decode()
    if len(whole) <= limit:
        assert kept.text() == whole
    else:
        head, tail = whole[: limit // 2], whole[-(limit - limit // 2) :]
        line_end = "" if head.endswith("\n") else "\n"
        assert kept.text() == f"{head}{line_end}{gap_marker(len(whole) - limit)}\n{tail}"


@pytest.mark.parametrize(("before", "after"), [(b"abc", b"xyz"), (b"a" * 50, b"x" * 50)])
def test_a_gap_stands_between_what_came_before_and_after(before: bytes, after: bytes) -> None:
    kept = HeadTail(20)
    kept.feed(before)
    kept.gap(7)
    kept.feed(after)
    dropped = 7 + max(0, len(before) - 10) + max(0, len(after) - 10)
    assert kept.text() == f"{before[:10].decode()}\n{gap_marker(dropped)}\n{after[-10:].decode()}"
