"""`gt status` while agents work: who does what, what was left unfinished, and `--watch`, which shows each change."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gitticks.model.task import Usage
from gitticks.runner.liveness import is_session_alive
from tests.cli.commands.test_attach import at_work, gated, go
from tests.cli.support import command
from tests.support.runs import RunProject, project
from tests.support.terminals import shown_till
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]


def status(project: RunProject) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(project.ok("status", "--json"))
    return found


def state(project: RunProject, task_id: str = "k7f2") -> str:
    """Returns the state of a task's session, which listings and the task's own page tell alike."""
    (listed,) = (
        one["session_state"]
        for one in json.loads(project.ok("list", "--all", "--json"))["tasks"]
        if one["id"] == task_id
    )
    assert json.loads(project.ok("show", task_id, "--json"))["task"]["session_state"] == listed
    return str(listed)


@contextmanager
def watching(
    project: RunProject, *options: str, terminal: int | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Starts `gt status --watch`, with stdout to a pipe or to a terminal."""
    with subprocess.Popen(
        command("status", "--watch", *options),
        cwd=project.path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if terminal is None else terminal,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TERM": "xterm"},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_it_says_who_works_on_what_in_which_iteration_at_what_cost(project: RunProject) -> None:
    project.agent(gated(project))
    project.settings("budget: {task: {cost: 3.0}}\n")
    project.make("m3xq", usage=Usage(iterations=2, cost=1.25), priority=4)
    with at_work(project, "--parallel", "1") as run:
        words = project.ok("status").splitlines()[1].split()
        assert words[:5] == ["k7f2", "mine", "worker,", "iteration", "1"]
        assert state(project) == "working"
        assert state(project, "m3xq") == "idle"
        go(project)
        run.communicate(timeout=LONGEST_SECONDS)
    assert state(project) == "needs_human_review"


def test_a_stopped_task_is_not_going_on_until_somebody_says_so(project: RunProject) -> None:
    project.agent(gated(project))
    with at_work(project) as run:
        project.ok("stop", "k7f2")
        out, _ = run.communicate(timeout=LONGEST_SECONDS)
        assert run.returncode == 3
        assert "`k7f2` is held by `gt stop`" in out
        assert "hint: `gt run k7f2` resumes what is held" in out
    assert "not going on\n  k7f2  stopped  `gt run k7f2`" in project.ok("status")
    assert [one["id"] for one in status(project)["left"]] == ["k7f2"]
    assert state(project) == "stopped"
    go(project)
    project.run("k7f2")
    assert (state(project), status(project)["left"]) == ("needs_human_review", [])


def test_what_ctrl_c_twice_stopped_is_stopped(project: RunProject) -> None:
    project.agent(gated(project))
    with at_work(project) as run:
        project.interrupt(run)
        assert run.stdout is not None
        assert any("Ctrl-C again stops them" in line for line in run.stdout)
        project.interrupt(run)
        run.communicate(timeout=LONGEST_SECONDS)
        assert run.returncode == 130
    assert state(project) == "stopped"
    assert project.ok("list").splitlines()[1].endswith("  stopped")


def test_a_killed_runner_leaves_an_interrupted_session_also_after_it_was_finished(
    project: RunProject,
) -> None:
    project.agent(gated(project))
    with at_work(project) as run:
        run.kill()
        run.wait()
    sessions = f"{project.path}/.git/gitticks/sessions"
    until(lambda: not is_session_alive(sessions, "k7f2"), "the end of the session")
    assert state(project) == "interrupted"
    assert "not going on\n  k7f2  interrupted  `gt run`" in project.ok("status")
    project.ok("health")
    assert state(project) == "interrupted"
    go(project)
    project.run()
    assert state(project) == "needs_human_review"


def test_each_change_is_an_object_until_interrupted(project: RunProject) -> None:
    project.make("k7f2")
    with watching(project, "--json") as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        assert [one["id"] for one in first["ready"]] == ["k7f2"]
        project.ok("pause")
        assert json.loads(process.stdout.readline())["paused"] is True
        project.ok("cancel", "k7f2")
        assert json.loads(process.stdout.readline())["ready"] == []
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=LONGEST_SECONDS)
        assert (process.returncode, err) == (0, "")


def test_on_a_pipe_the_page_comes_again_with_each_change(project: RunProject) -> None:
    project.make("k7f2")
    with watching(project) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        project.ok("cancel", "k7f2")
        while (line := process.stdout.readline()) != "1 task: 1 cancelled\n":
            assert line
        process.stdout.close()
        assert process.wait(LONGEST_SECONDS) == 0


def test_on_a_terminal_it_is_redrawn_in_place_and_left_behind(project: RunProject) -> None:
    project.make("k7f2", title="Clears \x1b[2J the screen")
    ours, theirs = pty.openpty()
    with watching(project, terminal=theirs) as process:
        os.close(theirs)
        shown = shown_till(ours, b"1 pending")
        assert shown.startswith(b"\x1b[?1049h")
        assert b"Clears \\x1b[2J the screen" in shown
        project.ok("cancel", "k7f2")
        shown = shown_till(ours, b"1 cancelled")
        assert b"\x1b[H" in shown
        process.send_signal(signal.SIGINT)
        shown = shown_till(ours, b"\x1b[?1049l", b"1 cancelled")
        assert process.wait(LONGEST_SECONDS) == 0
    os.close(ours)
