"""Changes bytes of files as editors, merges, disks and pranks do; the same seed makes the same change again."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

_TOKENS = (
    b"---\n",
    b"---",
    b"...\n",
    b"\n",
    b"\r\n",
    b"\r",
    b"\0",
    b"\xff",
    b"\xc3",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"\xe2\x80\xa8",
    b"\xe2\x80\xae",
    b"\xc2\x85",
    b"\x1b[2J",
    b"\t",
    b": ",
    b":",
    b" #",
    b"- ",
    b"[",
    b"]",
    b"{",
    b"}",
    b",",
    b"&a ",
    b"*a",
    b"!!str ",
    b"? ",
    b"|\n",
    b">-\n",
    b"'",
    b'"',
    b'"\\ud800"',
    b'"\\x00"',
    b"%YAML 1.1\n",
    b"<<: ",
    b"null",
    b"~",
    b"0x1F",
    b"1e999",
    b"-0",
    b"9" * 5000,
    b"2026-02-30",
    b"99999-01-01T00:00:00Z",
    b"<<<<<<< HEAD\n",
    b"=======\n",
    b">>>>>>> theirs\n",
    b"```\n",
    b"~~~~\n",
    b"<!--",
    b"-->",
    b"# ",
    b"## Review\n",
    b"## Notes\n",
    b"### 2026-01-02T03:04:05Z \xc2\xb7 human \xc2\xb7 Ada\n",
    b"    ",
    b"> ",
    b"\\",
    b"FAIL",
    b"PASS",
    b'{"type":',
    b"}\n",
    b'"at":"2026-01-02T03:04:05Z"',
    b"id: zzzz\n",
    b"status: done\n",
    b"verdict: approved\n",
    b"manual: true\n",
)
_MOST_CHANGES = 6
_LONGEST_CUT = 60
_MOST_REPEATS = 400

Change = Callable[[random.Random, bytearray, Sequence[bytes]], None]


def mutated(draw: random.Random, originals: Sequence[bytes]) -> bytes:
    """Returns one of the originals with one to six changes."""
    data = bytearray(draw.choice(originals))
    for _ in range(draw.randint(1, _MOST_CHANGES)):
        draw.choice(_CHANGES)(draw, data, originals)
    return bytes(data)


def _flip(draw: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    if data:
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)


def _set(draw: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    if data:
        data[draw.randrange(len(data))] = draw.randrange(256)


def _cut(draw: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = _place(draw, data)
    del data[at : at + draw.randint(1, _LONGEST_CUT)]


def _end(draw: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    del data[_place(draw, data) :]


def _insert(draw: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = _place(draw, data)
    data[at:at] = draw.choice(_TOKENS) * draw.choice((1, 1, 1, 2, 17))


def _insert_at_line(draw: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = data.find(b"\n", _place(draw, data)) + 1
    data[at:at] = draw.choice(_TOKENS)


def _repeat(draw: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = _place(draw, data)
    data[at:at] = bytes(data[at : at + draw.randint(1, _LONGEST_CUT)]) * draw.randint(1, _MOST_REPEATS)


def _swap_lines(draw: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    lines = bytes(data).split(b"\n")
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    data[:] = b"\n".join(lines)


def _splice(draw: random.Random, data: bytearray, originals: Sequence[bytes]) -> None:
    other = draw.choice(originals)
    del data[_place(draw, data) :]
    data += other[_place(draw, bytearray(other)) :]


def _line_ends(draw: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    data[:] = bytes(data).replace(b"\n", draw.choice((b"\r\n", b"\r", b"\n\n")))


def _place(draw: random.Random, data: bytearray) -> int:
    return draw.randint(0, len(data))


_CHANGES: tuple[Change, ...] = (
    _flip,
    _set,
    _cut,
    _end,
    _insert,
    _insert,
    _insert_at_line,
    _insert_at_line,
    _repeat,
    _swap_lines,
    _splice,
    _line_ends,
)
