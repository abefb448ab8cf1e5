"""What a dead session left is judged once, and never for more than it was."""

from __future__ import annotations

from typing import Any

import pytest

from gitticks.actions.context import Context
from gitticks.actions.run import run_context
from gitticks.agents.process import StopRequest
from gitticks.model.event import EventType
from gitticks.model.ids import TaskId, task_path
from gitticks.model.notes import Section
from gitticks.model.status import Awaiting, Role, Status
from gitticks.runner import finishing, mailbox, requests, workspaces
from gitticks.runner.context import RunContext
from gitticks.runner.finishing import recover
from gitticks.runner.outcome import RunExit
from gitticks.runner.session import SessionRun
from gitticks.store.transaction import Transaction
from tests.support.runs import COMMIT, DONE, HANDOFF, NO_REVIEW, TO_REVIEW, RunProject, project
from tests.support.tasks import write_files

__all__ = ["project"]

K7F2 = TaskId("k7f2")


class Killed(BaseException):
    """Stands for SIGKILL: the record stays as a killed process leaves it."""


def opened(project: RunProject) -> RunContext:
    return run_context(Context(directory=project.path), lambda _: None)


def run_and_die(
    project: RunProject, monkeypatch: pytest.MonkeyPatch, owner: object, name: str, *, after: bool = False
) -> None:
    """Runs a session that is killed before (or right after) a function is called."""
    real = getattr(owner, name)

    def die(*arguments: object, **named: object) -> object:
        if after:
            real(*arguments, **named)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, die)
        with pytest.raises(Killed):
            SessionRun(opened(project), K7F2, Role.WORKER, StopRequest()).execute()


def returned(project: RunProject) -> None:
    """Makes a task that has handed off once and was sent back, with its old hand-off still in the mailbox."""
    project.settings(NO_REVIEW)
    project.make()
    project.run()
    project.ok("reject", "k7f2", "again")
    assert "## Handoff" in (project.workspace() / ".gt/TASK.md").read_text()


def test_nothing_dead_is_nothing_to_do(project: RunProject) -> None:
    assert recover(opened(project)) == []


def test_a_finished_agents_work_is_taken(project: RunProject, monkeypatch: pytest.MonkeyPatch) -> None:
    project.settings(NO_REVIEW)
    project.make()
    run_and_die(project, monkeypatch, SessionRun, "_finish")
    assert recover(opened(project)) == ["k7f2"]
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)
    assert recover(opened(project)) == []


def test_a_session_that_was_finished_before_the_kill_is_not_finished_again(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.agent("exit 9")
    project.make()
    run_and_die(project, monkeypatch, SessionRun, "_finish", after=True)
    tip = project.tip()
    assert recover(opened(project)) == []
    assert project.tip() == tip
    assert project.task("k7f2").crash_count == 1


def test_a_session_that_never_started_is_no_session(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.make()
    run_and_die(project, monkeypatch, SessionRun, "_start")
    tip = project.tip()
    assert recover(opened(project)) == []
    assert project.tip() == tip
    assert project.stands() == (Status.PENDING, None)


@pytest.mark.parametrize("at", ["prepare", "fill"])
def test_an_old_hand_off_in_the_mailbox_is_not_taken_for_a_new_one(
    project: RunProject, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    returned(project)
    run_and_die(project, monkeypatch, workspaces if at == "prepare" else mailbox, at)
    assert recover(opened(project)) == ["k7f2"]
    assert project.stands() == (Status.WORKING, None)
    assert project.file("k7f2").section(Section.HANDOFF) is None
    assert project.task("k7f2").crash_count == 0


def test_a_file_that_cannot_be_read_keeps_its_own_dead_session_alone(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.settings(NO_REVIEW)
    project.make()
    run_and_die(project, monkeypatch, SessionRun, "_finish")
    sound = project.file("k7f2").data
    write_files(project.store, {task_path(K7F2): b"---\nid: [\n---\n"})
    project.make("m3xq")
    assert project.run().code == RunExit.WAITS
    assert project.stands("m3xq") == TO_REVIEW
    write_files(project.store, {task_path(K7F2): sound})
    assert project.run().code == RunExit.WAITS
    assert project.stands() == TO_REVIEW
    assert project.kinds().count(EventType.SESSION_ENDED) == 1


def test_a_kill_while_the_end_is_written_is_found(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.settings(NO_REVIEW)
    project.make()
    run_and_die(project, monkeypatch, finishing, "_write_end")
    assert recover(opened(project)) == ["k7f2"]
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)
    assert project.kinds().count(EventType.SESSION_ENDED) == 1


def test_work_without_a_hand_off_is_no_crash_and_stays(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.agent("echo half > half.txt")
    project.make()
    run_and_die(project, monkeypatch, SessionRun, "_finish")
    recover(opened(project))
    assert project.stands() == (Status.WORKING, None)
    assert EventType.CRASHED not in project.kinds()
    assert (project.workspace() / "half.txt").exists()


def test_what_others_wrote_meanwhile_is_not_taken_for_the_agents_change(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.make()
    project.agent("sleep 0")
    run_and_die(project, monkeypatch, SessionRun, "_finish")
    project.ok("note", "k7f2", "mind the gap")
    project.ok("update", "k7f2", "--title", "Login loses it")
    assert recover(opened(project)) == [K7F2]
    assert EventType.WARNED not in project.kinds()
    assert project.notes("k7f2") == ["mind the gap"]


def test_a_person_who_moved_the_task_meanwhile_is_not_overruled(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.agent(f"{COMMIT}{HANDOFF}")
    project.make()
    run_and_die(project, monkeypatch, SessionRun, "_finish")
    project.ok("cancel", "k7f2")
    recover(opened(project))
    assert project.stands() == (Status.CANCELLED, None)
    assert project.last(EventType.SESSION_ENDED).data["ending"] == "interrupted"


def test_a_workspace_that_is_gone_has_nothing_to_give(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.agent(DONE)
    project.make()
    run_and_die(project, monkeypatch, SessionRun, "_finish")
    project.workspace().rename(project.path.parent / "elsewhere")
    assert recover(opened(project)) == ["k7f2"]
    assert project.stands() == (Status.WORKING, None)


def test_a_task_that_is_gone_is_forgotten(project: RunProject, monkeypatch: pytest.MonkeyPatch) -> None:
    project.make()
    run_and_die(project, monkeypatch, SessionRun, "_finish")
    write_files(project.store, {"tasks/f2/k7f2/TASK.md": None, "tasks/f2/k7f2/history.jsonl": None})
    assert recover(opened(project)) == []
    assert opened(project).sessions.dead() == []


def test_a_loop_recovers_what_it_finds(project: RunProject, monkeypatch: pytest.MonkeyPatch) -> None:
    project.settings(NO_REVIEW)
    project.make()
    run_and_die(project, monkeypatch, SessionRun, "_finish")
    project.agent("exit 9")
    project.run()
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)


def test_a_bug_with_one_session_is_reported_and_ends_no_other(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.settings(NO_REVIEW)
    project.make("k7f2")
    project.make("m3q8")
    real = finishing._write_end

    def fail(transaction: Transaction, task_id: TaskId, *more: Any, **named: Any) -> object:
        if task_id == K7F2:
            raise KeyError("odd")
        return real(transaction, task_id, *more, **named)

    with monkeypatch.context() as patched:
        patched.setattr(finishing, "_write_end", fail)
        for _ in range(2):
            ran = project.run()
            assert (ran.code, project.stands("m3q8")) == (RunExit.LIMIT, TO_REVIEW), ran
            said = next(
                line for line in ran.seen.splitlines() if "this is a bug in gitticks: KeyError" in line
            )
            assert "k7f2: skipped in this run: " in said
            assert "gitticks-report-" in said
            assert "`gt run k7f2` tries again" in said
        looked = project.gt("health")
        assert "its interrupted session could not be processed: this is a bug" in looked.seen
    project.run("k7f2")
    assert project.stands() == TO_REVIEW


def test_what_a_session_left_in_git_is_found_when_its_runner_was_killed(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.settings(NO_REVIEW)
    project.agent(f"{DONE}git config core.pager less\n")
    project.make()
    run_and_die(project, monkeypatch, requests, "look_for_left_behind")
    said = "`core.pager` was added during the session of k7f2"
    assert said not in [event.reason for event in project.events("k7f2")]
    recover(opened(project))
    assert said in [event.reason for event in project.events("k7f2")]
    assert said in project.gt("status").err
