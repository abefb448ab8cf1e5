"""A real terminal, driven by keys: a tmux server of its own with one window."""

from __future__ import annotations

import os
import secrets
import shlex
import subprocess
from pathlib import Path

from tests.cli.support import command
from tests.support.waiting import until

_KEPT = ("PATH", "HOME", "RUN_MARK", "GO", "VISUAL", "SHELL")


class Terminal:
    """One window, and what it shows."""

    def __init__(self) -> None:
        self._name = f"gt-{secrets.token_hex(6)}"
        self._words: list[str] = []

    def tmux(self, *words: str) -> str:
        """Runs a command of tmux and returns what it printed."""
        ran = subprocess.run(
            ["tmux", "-L", self._name, *words],
            capture_output=True,
            text=True,
            check=False,
            env={
                name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "SHELL")
            },
        )
        return ran.stdout

    def open(self, at: Path, *words: str, size: tuple[int, int] = (100, 30)) -> None:
        """Opens the window with `gt` and these words; it stays when that has ended."""
        variables = {**os.environ, "COLORTERM": "truecolor"}
        names = [name for name in ("COLORTERM", *_KEPT) if name in variables]
        program = ["env", *(f"{name}={variables[name]}" for name in names), *command(*words)]
        self._words = ["-c", str(at), f"exec {shlex.join(program)}"]
        across, down = map(str, size)
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", across, "-y", down, *self._words)
        self.tmux("set-option", "remain-on-exit", "on")

    def open_again(self) -> None:
        """Opens the same in the same window, once it has ended."""
        self.tmux("respawn-pane", "-k", *self._words)

    def close(self) -> None:
        """Ends the server and what runs in it."""
        self.tmux("kill-server")

    def keys(self, *keys: str) -> None:
        """Presses keys, all in one burst."""
        self.tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Types a text, once a field to type into is there."""
        self.tmux("send-keys", "-l", text)
        self.sees(text)

    @property
    def screen(self) -> str:
        """Returns what the terminal shows."""
        return self.tmux("capture-pane", "-p")

    def sees(self, *words: str) -> None:
        """Waits until the terminal shows all of these words."""
        try:
            until(lambda: all(word in self.screen for word in words), f"{words}")
        except AssertionError as error:
            raise AssertionError(f"{error}:\n{self.screen}") from None

    @property
    def pid(self) -> int:
        """Returns the process in the window."""
        return int(self.tmux("display-message", "-p", "#{pane_pid}"))

    def ends(self) -> None:
        """Waits until what runs in the window has ended."""
        until(lambda: "dead" in self.tmux("list-panes", "-F", "#{?pane_dead,dead,}"), "the end of it")
