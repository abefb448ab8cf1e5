"""`gt attach`: another terminal follows an agent at work, to the end of its session or until Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Awaiting, Status
from gitticks.runner.records import Sessions
from gitticks.runner.transcripts import TranscriptReader, transcripts_of
from tests.cli.support import command
from tests.support.projects import SESSION
from tests.support.runs import DONE, TO_REVIEW, RunProject, project
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]

NO_REVIEW = "review: none\n"


def gated(project: RunProject, *, before: str = "echo up", after: str = DONE) -> str:
    """Returns an agent that says `before`, waits for the file `go`, and then does `after`."""
    folder = project.path.parent
    return f'{before}\ntouch "{folder}/up"\nwhile [ ! -e "{folder}/go" ]; do sleep 0.05; done\n{after}'


@contextmanager
def at_work(project: RunProject, *options: str) -> Iterator[subprocess.Popen[str]]:
    """Runs the agent on `k7f2` as far as its wait."""
    project.settings(NO_REVIEW)
    project.make("k7f2")
    with project.running(*options) as process:
        until((project.path.parent / "up").exists, "the agent")
        yield process


def go(project: RunProject) -> None:
    """Lets the agent go on."""
    (project.path.parent / "go").touch()


@contextmanager
def attached(project: RunProject, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Starts `gt attach` as a process of its own."""
    with subprocess.Popen(
        command("attach", *words),
        cwd=project.path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


@pytest.mark.parametrize("words", [(), ("k7",), ("k7f2",)], ids=["none", "prefix", "whole"])
def test_what_came_so_far_is_shown_and_then_what_comes_to_the_end(
    project: RunProject, words: tuple[str, ...]
) -> None:
    project.agent(gated(project, before="echo one; echo two", after=f"echo three\n{DONE}"))
    with at_work(project) as run, attached(project, *words) as process:
        assert [line(process), line(process)] == ["one\n", "two\n"]
        go(project)
        out, err = process.communicate(timeout=LONGEST_SECONDS)
        assert process.returncode == 0, err
        assert out.startswith("three\n")
        assert err.splitlines()[0].startswith("k7f2  mine  worker, at work for ")
        assert err.splitlines()[-1] == "k7f2  session ended: clean; the task is reviewing and awaits review"
        run.communicate(timeout=LONGEST_SECONDS)


def test_ctrl_c_leaves_the_session_alone(project: RunProject) -> None:
    project.agent(gated(project))
    with at_work(project) as run:
        with attached(project, "k7f2") as process:
            assert line(process) == "up\n"
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=LONGEST_SECONDS)
        assert (process.returncode, err.splitlines()[-1]) == (0, "k7f2  the agent keeps running")
        go(project)
        run.communicate(timeout=LONGEST_SECONDS)
    assert project.stands() == TO_REVIEW


def test_a_reader_that_leaves_ends_it(project: RunProject) -> None:
    project.agent(gated(project))
    with at_work(project) as run:
        with attached(project, "k7f2") as process:
            assert line(process) == "up\n"
            assert process.stdout is not None
            process.stdout.close()
            process.wait(LONGEST_SECONDS)
        go(project)
        run.communicate(timeout=LONGEST_SECONDS)


def test_nothing_that_an_agent_prints_steers_the_terminal(project: RunProject) -> None:
    project.agent(gated(project, before=r"printf '\033[2Jgone\r\342\200\256txt\n'"))
    with at_work(project) as run, attached(project, "k7f2") as shown, attached(project, "--raw") as raw:
        assert line(shown) == line(raw) == "\\x1b[2Jgone\\r\\u202etxt\n"
        go(project)
        run.communicate(timeout=LONGEST_SECONDS)


def test_json_is_as_the_run_tells_it_and_ends_with_the_end(project: RunProject) -> None:
    project.agent(gated(project, after="echo sorry >&2; exit 9"))
    with at_work(project) as run, attached(project, "k7f2", "--json") as process:
        assert json.loads(line(process)) == {"schema": 1, "event": "agent.said", "task": "k7f2", "line": "up"}
        go(project)
        out, _ = process.communicate(timeout=LONGEST_SECONDS)
        over = json.loads(out.splitlines()[-1])
        assert (over["event"], over["ending"], over["agent"]) == ("session.over", "crashed", "mine")
        assert "exit code 9" in over["detail"]
        run.communicate(timeout=LONGEST_SECONDS)


def test_of_what_came_before_only_the_end_is_shown(project: RunProject) -> None:
    project.agent(gated(project, before="seq 1000"))
    with at_work(project) as run:
        own_dir = project.path / ".git/gitticks"
        record = Sessions(own_dir).find(project.task("k7f2").id)
        assert record is not None
        (log,) = transcripts_of(own_dir, record.task).iterdir()
        until(lambda: log.read_text().endswith("\n1000\n"), "the last line")
        reader = TranscriptReader(own_dir, record, 100)
        assert reader.read()[-1] == "1000"
        assert reader.left_out > 0
        reader.close()
        go(project)
        run.communicate(timeout=LONGEST_SECONDS)


def test_a_killed_run_is_said(project: RunProject) -> None:
    project.agent(gated(project))
    with at_work(project) as run, attached(project, "k7f2") as process:
        assert line(process) == "up\n"
        run.kill()
        _, err = process.communicate(timeout=LONGEST_SECONDS)
        assert "k7f2  its runner was killed; the task is working" in err
        assert "hint: `gt health` finishes it" in err
    project.ok("health")
    assert project.last(EventType.SESSION_ENDED).data["ending"] == "interrupted"
    words = "error: no agent is working on `k7f2` in this clone: its session was interrupted\n\nhint: `gt run k7f2` continues\n"
    assert project.gt("attach", "k7f2").err == words


def test_a_task_without_a_session_names_the_command(project: RunProject) -> None:
    def refused(task_id: str = "k7f2") -> str:
        ran = project.gt("attach", task_id)
        assert (ran.code, ran.out) == (1, "")
        return ran.err

    assert "no agent is working in this clone" in project.gt("attach").err
    project.make("k7f2")
    assert "it is pending\n\nhint: `gt run k7f2` starts one" in refused()
    project.change("k7f2", status=Status.WORKING)
    assert "it waits for its next session\n\nhint: `gt run k7f2` continues" in refused()
    project.make("hand")
    project.ok("start", "hand")
    assert "a person is working on it on " in refused("hand")
    project.change("k7f2", status=Status.REVIEWING, awaiting=Awaiting.REVIEW)
    assert "it is reviewing and awaits review\n\nhint: `gt review k7f2`" in refused()
    project.change("k7f2", status=Status.STUCK, awaiting=Awaiting.ESCALATION)
    assert "hint: `gt show k7f2`" in refused()
    project.make("m3xq", status=Status.DONE)
    assert "hint: `gt log m3xq` shows what was done" in refused("m3xq")
    assert "there is no task `zzzz`" in refused("zzzz")


def test_words_that_exclude_each_other_and_agents_are_refused(project: RunProject) -> None:
    project.make("k7f2")
    assert project.gt("attach", "k7f2", "--raw", "--json").code == 2
    for words in (("attach", "k7f2"), ("status", "--watch")):
        ran = project.gt(*words, environment=SESSION)
        assert (ran.code, "this is an agent's session" in ran.err) == (3, True), ran.seen
    project.agent(gated(project))
    with project.running() as run:
        until((project.path.parent / "up").exists, "the agent")
        ran = project.gt("attach", "k7f2", "--agent", "mine")
        assert (ran.code, "`--agent` only works for a task that asks something" in ran.err) == (2, True), (
            ran.seen
        )
        go(project)
        run.communicate(timeout=LONGEST_SECONDS)


def test_several_sessions_are_named_and_an_epic_names_its_tasks(project: RunProject) -> None:
    project.agent(gated(project))
    project.settings(NO_REVIEW)
    project.ok("create", "All of it", "-t", "epic")
    (epic,) = (one["id"] for one in json.loads(project.ok("list", "--json"))["tasks"])
    for one in ("k7f2", "m3xq"):
        project.make(one, parent=epic)
    with project.running("--parallel", "2") as run:
        until(lambda: len(json.loads(project.ok("current", "--json"))["tasks"]) == 2, "both agents")
        ran = project.gt("attach")
        assert (ran.code, "2 agents are at work: `k7f2`, `m3xq`" in ran.err) == (2, True)
        assert "hint: `gt attach k7f2` follows one of them" in project.gt("attach", epic).err
        go(project)
        run.communicate(timeout=LONGEST_SECONDS)
