"""`gt run` when its terminal is closed: it ends as Ctrl-C ends it, and continues where that is ignored."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import time

from gitticks.model.status import Status
from gitticks.runner.outcome import RunExit
from tests.cli.support import command
from tests.support.runs import DONE, RunProject, project
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]


def slow(project: RunProject) -> None:
    """Makes two tasks, for an agent that says when it is up and then works until it is let go."""
    project.settings("review: none\nparallel: 1\n")
    project.agent(
        f'touch "{project.shared}/up"; until [ -e "{project.shared}/go" ]; do sleep 0.05; done\n{DONE}'
    )
    project.make("aaaa")
    project.make("bbbb")


def hung_up(project: RunProject, *ignoring: str, is_stopped: bool = False) -> int:
    """Runs on a terminal that is closed while the agent is at work, and returns the exit code."""
    slow(project)
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        ["setsid", "--ctty", *ignoring, *command("run", "--debounce", "0")],
        cwd=project.path,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as run:
        os.close(theirs)
        until((project.shared / "up").exists, "the agent")
        if is_stopped:
            project.ok("stop")
        os.close(ours)
        run.send_signal(signal.SIGHUP)  # the shell's own, after the kernel's
        if is_stopped:
            time.sleep(2)
        (project.shared / "go").touch()
        return run.wait(LONGEST_SECONDS)


def test_a_closed_terminal_ends_it_after_its_iteration(project: RunProject) -> None:
    assert hung_up(project) == RunExit.INTERRUPTED
    assert {project.task(one).status for one in ("aaaa", "bbbb")} == {Status.REVIEWING, Status.PENDING}
    assert "interrupted as its terminal was closed" in project.ok("status")


def test_one_that_is_to_end_already_lets_its_iteration_end_all_the_same(project: RunProject) -> None:
    assert hung_up(project, is_stopped=True) == RunExit.INTERRUPTED
    assert {project.task(one).status for one in ("aaaa", "bbbb")} == {Status.REVIEWING, Status.PENDING}
    assert "interrupted by `gt stop`" in project.ok("status")


def test_where_a_hangup_is_ignored_it_continues(project: RunProject) -> None:
    assert hung_up(project, "sh", "-c", 'trap "" HUP; exec "$@"', "sh") == RunExit.WAITS
    assert {project.task(one).status for one in ("aaaa", "bbbb")} == {Status.REVIEWING}
