"""What another process has done so far, as the kernel tells."""

from __future__ import annotations

import fcntl
import struct
import termios
from typing import IO


def has_read(pipe: IO[str]) -> bool:
    """True if the reader at a pipe's other end has taken everything that was written into it."""
    waiting = fcntl.ioctl(pipe.fileno(), termios.FIONREAD, b"\0" * 4)
    return struct.unpack("i", waiting) == (0,)
