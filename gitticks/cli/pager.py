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

from gitticks.cli.render import wants_pager
from gitticks.cli.text import width

R = TypeVar("R")
_AS_GIT = {"LESS": "FRX", "LV": "-c"}
"""What git tells pagers that nobody configured: to leave where all fits, to show colours, to clear nothing."""
_SHELL_SIGNS = frozenset("|&;<>()$`\\\"' \t\n*?[#~=%")


class _Held(io.StringIO):
    """Stdout that keeps text back until it is known whether a pager is to show it."""

    def __init__(self, terminal: TextIO) -> None:
        super().__init__()
        self._terminal = terminal

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._terminal.encoding

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._terminal.fileno()

    def release(self) -> None:
        """Prints what is kept; what is longer than the terminal is shown by a pager, until the user leaves it."""
        text = self.getvalue()
        self.seek(0)
        self.truncate()
        columns, rows = shutil.get_terminal_size()
        taken = sum(1 + max(0, width(line) - 1) // columns for line in text.splitlines())
        command = _pager() if taken >= rows else None
        if command is None:
            self._terminal.write(text)
            self._terminal.flush()
            return
        words = ["sh", "-c", command] if _SHELL_SIGNS & set(command) else [command]
        environment = {**_AS_GIT, **os.environ}
        with subprocess.Popen(
            words, stdin=subprocess.PIPE, text=True, encoding=self.encoding, env=environment
        ) as pager:
            before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the pager's
            try:
                pager.communicate(text)  # a user who has seen enough may leave before the end
            finally:
                signal.signal(signal.SIGINT, before)


def paged(answer: Callable[[], R]) -> R:
    """Runs what answers; where it prints more than a terminal shows, a pager shows it."""
    if not wants_pager():
        return answer()
    terminal = sys.stdout
    held = _Held(terminal)
    sys.stdout = held
    try:
        return answer()
    finally:
        sys.stdout = terminal
        held.release()


def _pager() -> str | None:
    """Returns the pager's command line, asked for in git's order; None where it is empty, missing or would only print."""
    from gitticks.git.config import read_own_setting

    command = os.environ.get("GIT_PAGER")
    if command is None:
        command = read_own_setting("core.pager")
    if command is None:
        command = os.environ.get("PAGER", "less")
    try:
        # Variables may come before the program, as in `LESS=FRX less`.
        program = next((word for word in shlex.split(command) if "=" not in word), "")
    except ValueError:
        return None
    return None if program == "cat" or shutil.which(program) is None else command
