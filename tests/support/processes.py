"""What another process has done so far, as the kernel tells."""

from __future__ import annotations

import contextlib
import fcntl
import struct
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import IO


def has_read(pipe: IO[str]) -> bool:
    """True if the reader at a pipe's other end has taken everything that was written into it."""
    waiting = fcntl.ioctl(pipe.fileno(), termios.FIONREAD, b"\0" * 4)
    return struct.unpack("i", waiting) == (0,)


def children(process: int) -> Iterator[int]:
    """Yields the processes that a process started and that have not been reaped; none of one that has ended."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{process}/task").iterdir():
            yield from map(int, (task / "children").read_text(encoding="ascii").split())


def family(process: int) -> Iterator[int]:
    """Yields a process and all below it."""
    yield process
    for child in children(process):
        yield from family(child)


def described(process: int) -> str:
    """Returns what a process is and waits for."""
    folder = Path(f"/proc/{process}")
    try:
        words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        state = (folder / "stat").read_text(errors="replace").rpartition(") ")[2][0]
        waits = (folder / "wchan").read_text()
        files = [f"{file.name} {file.readlink()}" for file in (folder / "fd").iterdir()]
    except OSError as error:
        return f"{process}: {error}"
    return "\n    ".join([f"{process} {state} in {waits}: {words}", *files])
