"""`gt close` beside an agent: it is asked for, the agent ends first, and what it committed is merged."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gitticks.git.repository import discover
from gitticks.model.status import Status
from gitticks.runner.liveness import Holds, is_run_alive_at
from gitticks.runner.records import Sessions
from tests.cli.support import command
from tests.support.records import make_session
from tests.support.repositories import commit_file, git
from tests.support.runs import COMMIT, DONE, NO_REVIEW, RunProject, project
from tests.support.stores import write_task_file
from tests.support.terminals import typed
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]


@contextmanager
def worked_on(project: RunProject, work: str) -> Iterator[list[str]]:
    """Runs an agent that does `work` and then goes on until it is stopped; the list gets what the run says."""
    up = project.shared / "up"
    project.settings(NO_REVIEW)
    project.agent(f'{work}touch "{up}"; sleep 600')
    project.make()
    with project.running() as process:
        until(up.exists, "the agent")
        said: list[str] = []
        yield said
        said.append(process.communicate(timeout=LONGEST_SECONDS)[0])
    assert not is_run_alive_at(discover(project.path).own_place)


def test_it_is_refused_with_the_flag_that_stops_the_agent(project: RunProject) -> None:
    with worked_on(project, COMMIT):
        ran = project.gt("close", "k7f2")
        assert ran.code == 3
        assert ran.err.startswith("error: an agent is working on `k7f2`\n\nhint: `gt close k7f2 --stop`")
        assert project.task("k7f2").status is Status.WORKING
        project.ok("close", "k7f2", "--stop")
    assert project.task("k7f2").status is Status.DONE
    assert "k7f2.txt" in project.files()
    assert "k7f2" not in project.gt("run").out


@pytest.mark.parametrize(
    ("words", "status"), [(("close", "--stop"), Status.DONE), (("cancel",), Status.CANCELLED)]
)
def test_the_run_does_not_call_held_what_was_decided(
    project: RunProject, words: tuple[str, ...], status: Status
) -> None:
    with worked_on(project, COMMIT) as said:
        project.ok(words[0], "k7f2", *words[1:])
    assert project.task("k7f2").status is status
    assert "k7f2  stopped" in said[0]
    assert "held" not in said[0]


@pytest.mark.parametrize(("answer", "status"), [("y\n", Status.DONE), ("n\n", Status.WORKING)])
def test_on_a_terminal_it_is_asked(project: RunProject, answer: str, status: Status) -> None:
    with worked_on(project, COMMIT):
        ran = typed("close", "k7f2", at=project.path, answers=[("Stop it", answer)])
        assert ran.code == (0 if status is Status.DONE else 3), ran.seen
        project.gt("stop", "k7f2")
    assert project.task("k7f2").status is status


def test_uncommitted_work_of_a_stopped_agent_is_said_and_stays(project: RunProject) -> None:
    with worked_on(project, "echo half > half.txt\n"):
        ran = project.gt("close", "k7f2", "--stop")
        assert ran.code == 3
        assert "uncommitted changes: `half.txt`" in ran.err
        assert "its agent was stopped, and `gt run k7f2` starts it again" in ran.err
    assert (project.workspace() / "half.txt").read_text() == "half\n"
    assert project.task("k7f2").status is Status.WORKING


def test_commits_beside_the_branch_are_not_closed_over(project: RunProject) -> None:
    with worked_on(project, f"git checkout -q -b other\n{COMMIT}"):
        ran = project.gt("close", "k7f2", "--stop")
        assert ran.code == 3
        assert "git checkout gitticks/work/k7f2 && git merge other" in ran.err
    git("checkout", "-q", "--detach", "gitticks/work/k7f2", at=project.workspace())
    commit_file(project.workspace(), "more.txt", "more\n")
    assert "would not be merged" in project.gt("close", "k7f2").err
    git("checkout", "-q", "--detach", "main", at=project.workspace())
    project.ok("close", "k7f2")


def test_cancelling_stops_the_agent_and_keeps_its_work(project: RunProject) -> None:
    with worked_on(project, COMMIT):
        ran = project.gt("cancel", "k7f2", "-m", "not wanted any more")
        assert ran.code == 0, ran.seen
        assert "warning: the agent of `k7f2` was stopped" in ran.err
    assert project.task("k7f2").status is Status.CANCELLED
    assert "k7f2.txt" in project.files("gitticks/work/k7f2")
    assert "k7f2.txt" not in project.files()
    project.ok("reopen", "k7f2")
    project.agent(DONE)
    project.run()  # nothing holds it back
    assert project.task("k7f2").status is Status.REVIEWING


def test_a_cancel_that_fails_after_it_stopped_the_agent_says_that_the_task_is_held(
    project: RunProject,
) -> None:
    project.make()
    own_dir = project.store.repository.own_dir
    with Sessions(own_dir).hold(make_session("k7f2")):
        cancel = subprocess.Popen(
            command("cancel", "k7f2"), cwd=project.path, stderr=subprocess.PIPE, text=True
        )
        until(lambda: Holds(own_dir).being_decided() == ("k7f2",), "the cancel")
        write_task_file(project.store, "k7f2", "---\nid: [\n---\n")
    said = cancel.communicate(timeout=LONGEST_SECONDS)[1]
    assert cancel.returncode != 0, said
    assert "its agent was stopped, and `gt run k7f2` starts it again" in said
    assert Holds(own_dir).held() == {"k7f2"}
    assert Holds(own_dir).being_decided() == ()


def test_a_saved_file_that_cancels_stops_the_agent_and_the_run_says_so(project: RunProject) -> None:
    with worked_on(project, COMMIT) as said:
        project.save("k7f2", "status: working", "status: cancelled")
    assert project.task("k7f2").status is Status.CANCELLED
    assert "k7f2  cancelled by Ada Lovelace, so its agent was stopped" in said[0]
