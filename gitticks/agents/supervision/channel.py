"""One output of a command, and what is kept of it if there is too much."""

from __future__ import annotations

import os
from collections import deque

CHUNK = 65536
LARGEST_PIPE = 1_048_576
LINE_COST = 32
"""Each line counts as so many bytes more, because it costs its reader time: a flood of empty lines is a flood too."""


class Channel:
    """One output of the command: its head goes out at once, of what follows only the tail is kept."""

    def __init__(self, descriptor: int, letter: bytes, limit: int) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor: int | None = descriptor
        self.letter = letter
        self.pending = bytearray()
        self.tail: deque[bytearray] = deque()
        self.tail_limit = limit // 4
        self.head_left = limit - self.tail_limit
        self.tail_cost = 0
        self.dropped = 0

    def read(self) -> bool:
        """Takes what there is, one chunk of it; True if there was something."""
        if self.descriptor is None:
            return False
        try:
            data = os.read(self.descriptor, CHUNK)
        except BlockingIOError:
            return False
        if not data:
            os.close(self.descriptor)
            self.descriptor = None
            return False
        self._feed(data)
        return True

    def read_rest(self) -> None:
        """Takes what the pipe still holds; not more, for something that outlived the tree may continue writing."""
        for _ in range(LARGEST_PIPE // CHUNK):
            if not self.read():
                return

    def _feed(self, data: bytes) -> None:
        cost = _cost(data)
        if cost > self.head_left:
            cut = self.head_left * len(data) // cost
            self.head_left = 0
            self.pending += data[:cut]
            self._keep(data[cut:])
        else:
            self.head_left -= cost
            self.pending += data

    def _keep(self, data: bytes) -> None:
        """Adds to the tail; small pieces are joined, because a million tiny objects would break the limit."""
        if not self.tail or len(self.tail[-1]) >= CHUNK:
            self.tail.append(bytearray())
        self.tail[-1] += data
        self.tail_cost += _cost(data)
        while (first := _cost(self.tail[0])) <= self.tail_cost - self.tail_limit:
            self.dropped += len(self.tail.popleft())
            self.tail_cost -= first

    def cut_tail(self) -> None:
        """Cuts the tail to its limit exactly, which is done only once, at the end."""
        excess = self.tail_cost - self.tail_limit
        if excess > 0:
            block = self.tail[0]
            cut = -(-excess * len(block) // _cost(block))
            del block[:cut]
            self.dropped += cut


def _cost(data: bytes | bytearray) -> int:
    return len(data) + LINE_COST * data.count(b"\n")
