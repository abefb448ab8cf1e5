"""Continuous output, until Ctrl-C or until its reader is gone; redrawn in place on a terminal."""

from __future__ import annotations

import contextlib
import gc
import os
import select
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Sequence

from gitticks.cli.render import say
from gitticks.runner.jobs import interrupting

_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_HOME, _REST_OF_LINE, _REST_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"


@contextlib.contextmanager
def until_interrupted() -> Iterator[threading.Event]:
    """Gives an event that Ctrl-C sets while the block runs."""
    over = threading.Event()
    gc.enable()  # which a command that answers at once does without
    with interrupting(lambda _: over.set()):
        yield over


@contextlib.contextmanager
def in_place(*, is_wanted: bool) -> Iterator[Callable[[Sequence[str]], None] | None]:
    """Gives what draws a page over the one before, on the terminal's other screen while the block runs; then leaves the last.

    None where stdout is no terminal for that. Of a page that is too long the beginning is shown, and how much is left out.
    """
    if not is_wanted or not sys.stdout.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        yield None
        return
    last: Sequence[str] = ()

    def show(lines: Sequence[str]) -> None:
        nonlocal last
        last = lines
        rows = shutil.get_terminal_size().lines
        if len(lines) > rows:
            lines = [*lines[: rows - 1], f"… {len(lines) - rows + 1} more lines"]
        _write(_HOME + "\n".join(f"{line}{_REST_OF_LINE}" for line in lines) + _REST_OF_SCREEN)

    _write(_ENTER)
    try:
        yield show
    finally:
        _write(_LEAVE)
        say(*last)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def is_reader_gone() -> bool:
    """True if nobody reads stdout any more, which a pipe tells only to those who ask or write."""
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))
    except (OSError, ValueError, AttributeError):  # it is no file of the system's
        return False
