"""The real thing: in a real terminal, driven by keys, on a real run that outlives the view's death."""

from __future__ import annotations

import os
import secrets
import shlex
import signal
import subprocess
from collections.abc import Iterator

import pytest

from gitticks.model.status import Status, TaskType
from gitticks.runner.liveness import is_run_alive_at
from tests.cli.support import command
from tests.support.runs import COMMIT, HANDOFF, NO_REVIEW, RunProject
from tests.support.waiting import until

_AGENT = f"""\
echo "I look at $GITTICKS_TASK"
while [ ! -e "$GO" ]; do sleep 0.05; done
{COMMIT}{HANDOFF}echo '<promise>COMPLETE</promise>'
"""


class Terminal:
    """A tmux server of its own with one window."""

    def __init__(self, name: str) -> None:
        self._name = name

    def tmux(self, *words: str) -> str:
        """Runs a command of tmux and returns what it printed."""
        ran = subprocess.run(["tmux", "-L", self._name, *words], capture_output=True, text=True, check=False)
        return ran.stdout

    def keys(self, *keys: str) -> None:
        """Presses keys, all in one burst."""
        self.tmux("send-keys", *keys)

    @property
    def screen(self) -> str:
        """Returns what the terminal shows."""
        return self.tmux("capture-pane", "-p")

    def sees(self, *words: str) -> None:
        """Waits until the terminal shows all of these words."""
        until(lambda: all(word in self.screen for word in words), f"{words}")

    @property
    def pid(self) -> int:
        """Returns the process in the window."""
        return int(self.tmux("display-message", "-p", "#{pane_pid}"))


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    """Gives a terminal, which is closed at the end."""
    found = Terminal(f"gt-{secrets.token_hex(6)}")
    yield found
    found.tmux("kill-server")


@pytest.mark.debian("tmux")
def test_a_run_goes_on_when_its_view_is_killed(played: RunProject, terminal: Terminal) -> None:
    project = played
    project.settings(NO_REVIEW)
    project.agent(_AGENT)
    project.make("h8d4", title="Parallel runs", type=TaskType.EPIC)
    project.make("k7f2", title="Login loses the URL", parent="h8d4")
    go = project.path.parent / "go"
    variables = {**os.environ, "GO": str(go), "COLORTERM": "truecolor"}
    settings = [
        word
        for name in ("GO", "COLORTERM", "PATH", "HOME", "RUN_MARK")
        for word in ("-e", f"{name}={variables[name]}")
        if name in variables
    ]
    shell = f"exec {shlex.join(command())}"
    window = ["-d", "-x", "100", "-y", "30", "-c", str(project.path), *settings]
    terminal.tmux("-f", "/dev/null", "new-session", *window, shell)
    terminal.tmux("set-option", "remain-on-exit", "on")
    terminal.sees("Parallel runs", "Nothing waits for you")

    terminal.keys("Enter")
    terminal.sees("Tasks of h8d4", "I look at k7f2", "mine")
    os.kill(terminal.pid, signal.SIGKILL)
    until(lambda: "dead" in terminal.tmux("list-panes", "-F", "#{?pane_dead,dead,}"), "the view's death")
    own = str(project.path / ".git/gitticks")
    assert is_run_alive_at(own)

    terminal.tmux("respawn-pane", "-k", *settings, "-c", str(project.path), shell)
    terminal.sees("running", "1 running")
    go.touch()
    terminal.keys("i")
    terminal.sees("Login loses the URL", "merges cleanly", "y approve")
    terminal.keys("y")
    terminal.sees("Approve k7f2 into main?")
    terminal.keys("Enter")
    until(lambda: project.task("k7f2").status is Status.DONE, "the merge")
    terminal.keys("q")
    until(lambda: "dead" in terminal.tmux("list-panes", "-F", "#{?pane_dead,dead,}"), "the end of the view")
    assert is_run_alive_at(own), "leaving stops nothing"
    project.ok("stop")
    until(lambda: not is_run_alive_at(own), "the end of the run")
