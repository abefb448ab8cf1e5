"""Reads what a supervised command prints: the supervisor's frames, whole lines, and a bounded memory of both ends.

Nothing here may cost more memory than its limits, whatever an agent prints: 1 GiB, or one line of 200 MB.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gitticks.agents.supervision.supervisor import FRAME


def gap_marker(dropped_bytes: int) -> str:
    """Returns the line that stands where output was left out."""
    return f"[gitticks: {dropped_bytes} bytes of output left out here]"


class Frames:
    """The supervisor's report, cut into its frames."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yields the letter and the body of every frame that is complete now."""
        self._data += data
        while len(self._data) >= FRAME.size:
            letter, length = FRAME.unpack_from(self._data)
            if len(self._data) < FRAME.size + length:
                return
            body = bytes(self._data[FRAME.size : FRAME.size + length])
            del self._data[: FRAME.size + length]
            yield letter, body


class Lines:
    """Bytes in, whole lines out; a line that is too long is cut and says so, so that no cut end poses as a line."""

    def __init__(self, deliver: Callable[[str], None], longest_bytes: int) -> None:
        self._deliver = deliver
        self._longest = longest_bytes
        self._line = bytearray()
        self._cut = 0
        self._is_skipping = False

    def feed(self, data: bytes) -> None:
        """Takes more output and delivers each line that it ends, without its line end."""
        first, *others = data.split(b"\n")
        self._add(first)
        for piece in others:
            self._end_line()
            self._add(piece)

    def gap(self, dropped_bytes: int) -> None:
        """Ends the line before output that was left out, says so, and skips to the next line's beginning."""
        self.close()
        self._deliver(gap_marker(dropped_bytes))
        self._is_skipping = True

    def close(self) -> None:
        """Delivers the last line, if no line end came after it."""
        if self._line or self._cut:
            self._end_line()
        self._is_skipping = False

    def _add(self, piece: bytes) -> None:
        room = self._longest - len(self._line)
        self._line += piece[:room]
        self._cut += max(0, len(piece) - room)

    def _end_line(self) -> None:
        line, cut, skipped = self._line, self._cut, self._is_skipping
        self._line, self._cut, self._is_skipping = bytearray(), 0, False
        if skipped:
            return
        text = line.removesuffix(b"\r").decode("utf-8", "replace")
        self._deliver(f"{text} [gitticks: {cut} bytes of this line left out]" if cut else text)


class HeadTail:
    """Both ends of an output, as much as fits into a limit."""

    def __init__(self, limit_bytes: int) -> None:
        self._head_limit = limit_bytes // 2
        self._tail_limit = limit_bytes - limit_bytes // 2
        self._head, self._tail = bytearray(), bytearray()
        self._dropped = 0

    def feed(self, data: bytes) -> None:
        """Takes more output; what is neither among the first nor the last bytes is forgotten."""
        room = 0 if self._dropped else self._head_limit - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * self._tail_limit:
            self._forget(len(self._tail) - self._tail_limit)

    def gap(self, dropped_bytes: int) -> None:
        """Notes output that was left out before it came here."""
        self._forget(len(self._tail))
        self._dropped += dropped_bytes

    def text(self) -> str:
        """Returns head, a line that says how much is missing, and tail; or all of it, if nothing is missing."""
        self._forget(len(self._tail) - self._tail_limit)
        head, tail = self._head.decode("utf-8", "replace"), self._tail.decode("utf-8", "replace")
        if not self._dropped:
            return head + tail
        line_end = "" if not head or head.endswith("\n") else "\n"
        return f"{head}{line_end}{gap_marker(self._dropped)}\n{tail}"

    def _forget(self, count: int) -> None:
        if count > 0:
            del self._tail[:count]
            self._dropped += count
