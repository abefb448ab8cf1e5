"""Continuous output, until Ctrl-C or until its reader is gone; redrawn in place on a terminal."""

from __future__ import annotations

import contextlib
import gc
import os
import select
import sys
import threading
from collections.abc import Iterator, Sequence

from gitticks.cli.render import say
from gitticks.runner.jobs import interrupting

_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_HOME, _REST_OF_LINE, _REST_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"
_USUAL_ROWS = 24


@contextlib.contextmanager
def until_interrupted() -> Iterator[threading.Event]:
    """Gives an event that Ctrl-C sets while the block runs."""
    over = threading.Event()
    gc.enable()  # which a command that answers at once does without
    with interrupting(lambda _: over.set()):
        yield over


class InPlace:
    """A page on the terminal's other screen, drawn over the one before."""

    def __init__(self) -> None:
        self._last: Sequence[str] = ()

    @classmethod
    @contextlib.contextmanager
    def on_terminal(cls, *, is_wanted: bool) -> Iterator[InPlace | None]:
        """Gives the place while the block runs, and leaves its last page; None where stdout is no terminal for it."""
        if not is_wanted or not sys.stdout.isatty() or os.environ.get("TERM", "dumb") == "dumb":
            yield None
            return
        place = cls()
        place._write(_ENTER)
        try:
            yield place
        finally:
            place._write(_LEAVE)
            say(*place._last)

    def show(self, lines: Sequence[str]) -> None:
        """Draws a page; of one that is too long the beginning, and how much is left out."""
        self._last = lines
        rows = _terminal_rows()
        if len(lines) > rows:
            lines = [*lines[: rows - 1], f"… {len(lines) - rows + 1} more lines"]
        self._write(_HOME + "\n".join(f"{line}{_REST_OF_LINE}" for line in lines) + _REST_OF_SCREEN)

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def _terminal_rows() -> int:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).lines or _USUAL_ROWS
    except (OSError, ValueError):
        return _USUAL_ROWS


def is_reader_gone() -> bool:
    """True if nobody reads stdout any more, which a pipe tells only to those who ask or write."""
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))
    except (OSError, ValueError, AttributeError):  # it is no file of the system's
        return False
