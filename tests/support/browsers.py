"""Looks at pages as a reader does: in Debian's chromium, without a window, and without any way to the network."""

from __future__ import annotations

import re
import struct
import subprocess
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.waiting import LONGEST_SECONDS

Colour = tuple[int, int, int]
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--enable-logging=stderr",
    "--v=0",
)
_OF_ONE_PICTURE = (
    "--virtual-time-budget=2000",
    "--run-all-compositor-stages-before-draw",  # else a busy machine leaves parts of a picture out
)
_BROWSERS_OWN = ("google.com", "googleapis.com")
"""Whom the browser itself asks for updates and accounts, whatever the page is."""
_DARK, _LIGHT = 0, 1
_PNG, _HEADER_BYTES, _RGB = b"\x89PNG\r\n\x1a\n", 8, 2


@dataclass(frozen=True, slots=True)
class Seen:
    """What a browser made of a page: its elements, what it complained about, and which addresses the page asked for."""

    dom: str
    complaints: tuple[str, ...]
    requests: tuple[str, ...]


def open_page(file: Path, scratch: Path) -> Seen:
    """Opens a file; `scratch` is a folder for what the browser writes."""
    log = scratch / "net.json"
    done = _run(file, scratch, f"--log-net-log={log}", "--dump-dom")
    asked = dict.fromkeys(re.findall(r'"url":"(https?://[^"]+)"', log.read_text("utf-8")))
    return Seen(
        done.stdout.decode(),
        tuple(line for line in done.stderr.decode("utf-8", "replace").splitlines() if "CONSOLE" in line),
        tuple(url for url in asked if not (urlsplit(url).hostname or "").endswith(_BROWSERS_OWN)),
    )


def colours_of(
    file: Path, scratch: Path, *, is_dark: bool = False, columns: int = 640, rows: int = 900
) -> Counter[Colour]:
    """Returns how many points of a window of that size have each colour once a file is drawn in it."""
    picture = scratch / "picture.png"
    _run(
        file,
        scratch,
        f"--window-size={columns},{rows}",
        f"--blink-settings=preferredColorScheme={_DARK if is_dark else _LIGHT}",
        f"--screenshot={picture}",
    )
    return Counter(_points(picture.read_bytes()))


def _run(file: Path, scratch: Path, *flags: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [
            "chromium",
            *FLAGS,
            *_OF_ONE_PICTURE,
            f"--user-data-dir={scratch / 'profile'}",
            *flags,
            file.absolute().as_uri(),
        ],
        capture_output=True,
        check=True,
        timeout=LONGEST_SECONDS,
    )


def _points(data: bytes) -> Iterator[Colour]:
    """Yields the points of a PNG file as browsers write it: eight bits each of red, green and blue, not interlaced."""
    assert data.startswith(_PNG)
    packed, place = b"", _HEADER_BYTES
    while place < len(data):
        (size,) = struct.unpack_from(">I", data, place)
        kind, chunk = data[place + 4 : place + 8], data[place + 8 : place + 8 + size]
        if kind == b"IHDR":
            columns, _, depth, colour_type, *_ = struct.unpack(">IIBBBBB", chunk)
            assert (depth, colour_type) == (8, _RGB)
        elif kind == b"IDAT":
            packed += chunk
        place += size + 12
    stride = columns * 3
    raw, above = zlib.decompress(packed), bytearray(stride)
    for begin in range(0, len(raw), stride + 1):
        above = _unfiltered(raw[begin], bytearray(raw[begin + 1 : begin + 1 + stride]), above)
        yield from zip(above[::3], above[1::3], above[2::3], strict=True)


def _unfiltered(kind: int, line: bytearray, above: bytearray) -> bytearray:
    """Returns a line of a picture as it was before it was made easier to compress."""
    for place in range(len(line)):
        left, corner = (line[place - 3], above[place - 3]) if place > 2 else (0, 0)
        up = above[place]
        line[place] = (line[place] + _predicted(kind, left, up, corner)) & 0xFF
    return line


def _predicted(kind: int, left: int, up: int, corner: int) -> int:
    if kind < 4:
        return (0, left, up, (left + up) // 2)[kind]
    return min((left, up, corner), key=lambda one: abs(left + up - corner - one))
