"""Shows long output in the user's pager, as git does."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import TextIO, TypeVar

from gitticks.cli.text import width

R = TypeVar("R")
_AS_GIT = {"LESS": "FRX", "LV": "-c"}
"""What git tells pagers that nobody configured: to leave where all fits, to show colours, to clear nothing."""
_SHELL_SIGNS = frozenset("|&;<>()$`\\\"' \t\n*?[#~=%")


class _Held(io.TextIOBase):
    """Stdout that keeps text back until it is more than the terminal shows; then a pager gets all of it."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal
        self._size = shutil.get_terminal_size()
        self._kept: list[str] = []
        self._lines = 0
        self._pager: subprocess.Popen[str] | None = None
        self._has_none = False

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._terminal.encoding

    def isatty(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._terminal.fileno()

    def write(self, text: str) -> int:
        if self._pager is not None and self._pager.stdin is not None:
            self._pager.stdin.write(text)
        elif self._has_none:
            self._terminal.write(text)
        else:
            self._kept.append(text)
            self._lines += sum(
                1 + max(0, width(line) - 1) // self._size.columns for line in text.splitlines()
            )
            if self._lines >= self._size.lines:
                self._start()
        return len(text)

    def _start(self) -> None:
        command = _pager()
        if command is None:
            self._has_none = True
            self.release()
            return
        words = ["sh", "-c", command] if _SHELL_SIGNS & set(command) else [command]
        environment = {**_AS_GIT, **os.environ}
        self._pager = subprocess.Popen(
            words, stdin=subprocess.PIPE, text=True, encoding=self.encoding, env=environment
        )
        kept, self._kept = self._kept, []
        self.write("".join(kept))

    def release(self) -> None:
        """Prints what is kept, as it is; what comes later may still take a pager."""
        if self._pager is None:
            self._terminal.write("".join(self._kept))
            self._terminal.flush()
            self._kept, self._lines = [], 0

    def finish(self) -> None:
        """Prints the rest, and waits for the user to leave the pager."""
        if self._pager is None:
            self.release()
            return
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the pager's
        try:
            if self._pager.stdin is not None:
                self._pager.stdin.close()
        except BrokenPipeError:
            pass  # the user has seen enough
        finally:
            self._pager.wait()
            signal.signal(signal.SIGINT, before)


def paged(answer: Callable[[], R]) -> R:
    """Runs what answers; where it prints more than the terminal shows, a pager shows it."""
    terminal = sys.stdout
    held = _Held(terminal)
    sys.stdout = held
    try:
        return answer()
    finally:
        sys.stdout = terminal
        held.finish()


def _pager() -> str | None:
    """Returns the pager's command line, asked for in git's order; None where there is none, or it would only print."""
    from gitticks.git.config import read_own_setting

    command = (
        os.environ.get("GIT_PAGER") or read_own_setting("core.pager") or os.environ.get("PAGER") or "less"
    )
    try:
        program = shlex.split(command)[0]
    except (ValueError, IndexError):
        return None
    return None if program == "cat" or shutil.which(program) is None else command
