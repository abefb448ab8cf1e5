"""One session: what it writes at its start and end, what it gives its agent, and what it takes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.actions.run import run_context
from gitticks.agents.stopping import StopRequest
from gitticks.errors import GitticksError, NotFoundError, RefusedError
from gitticks.model.event import EventType
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.status import Awaiting, Role, Status
from gitticks.runner import workspaces
from gitticks.runner.context import RunContext
from gitticks.runner.events import AgentSaid, ChecksEnded, RunEvent, SessionBegan, TaskMoved, Warned
from gitticks.runner.options import RunOptions
from gitticks.runner.session import SessionRun
from tests.support.projects import make_reviewing
from tests.support.repositories import git
from tests.support.runs import COMMIT, DONE, HANDOFF, NO_REVIEW, RunProject, project

__all__ = ["project"]

K7F2 = TaskId("k7f2")


def opened(project: RunProject, told: list[RunEvent] | None = None, **options: str) -> RunContext:
    """Returns what a run of this project shares."""
    heard = [] if told is None else told
    return run_context(Context(directory=project.path), heard.append, RunOptions(**options))  # type: ignore[arg-type]


def execute(project: RunProject, told: list[RunEvent] | None = None, role: Role = Role.WORKER) -> SessionRun:
    session = SessionRun(opened(project, told), K7F2, role, StopRequest())
    session.execute()
    return session


def test_a_session_is_told_from_its_start_to_what_came_of_it(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.agent(f"echo hello\n{COMMIT}{HANDOFF}")
    project.make()
    told: list[RunEvent] = []
    execute(project, told)
    assert [type(event) for event in told] == [SessionBegan, AgentSaid, ChecksEnded, TaskMoved]
    assert isinstance(told[-1], TaskMoved)
    assert (told[-1].source, told[-1].target) == (Status.WORKING, Status.REVIEWING)


def test_the_start_is_one_commit_and_the_end_another(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.make()
    before = project.tip()
    execute(project)
    subjects = git("log", "--reverse", "--format=%s", f"{before}..gitticks/state", at=project.path)
    assert subjects.splitlines() == ["k7f2: pending → working", "k7f2: working → reviewing"]


def test_what_was_spent_is_counted_and_the_worklog_tells_it(project: RunProject) -> None:
    project.agent("echo I tried; sleep 0.1")
    project.make()
    session = execute(project)
    usage = project.task("k7f2").usage
    assert usage.iterations == 1
    assert usage.seconds > 0
    assert session.report is not None
    worklog = project.store.read("tasks/f2/k7f2/worklog.md") or b""
    assert b"mine" in worklog
    assert b"I tried" in worklog


def test_the_transcript_stays_in_the_clone_and_is_the_users_alone(project: RunProject) -> None:
    project.agent("echo to stdout; echo to stderr >&2")
    project.make()
    execute(project)
    (transcript,) = (project.path / ".git/gitticks/transcripts/k7f2").iterdir()
    assert sorted(transcript.read_text().splitlines()) == ["to stderr", "to stdout"]
    assert transcript.stat().st_mode & 0o777 == 0o600


def test_the_agent_commits_under_its_own_name(project: RunProject) -> None:
    project.make()
    execute(project)
    assert git("log", "-1", "--format=%an", "gitticks/work/k7f2", at=project.path).startswith("mine ")
    assert "Task: k7f2" in git("log", "-1", "--format=%B", "gitticks/work/k7f2", at=project.path)


def test_another_session_on_the_task_is_refused(project: RunProject) -> None:
    project.make()
    run = opened(project)
    session = SessionRun(run, K7F2, Role.WORKER, StopRequest())
    plan = workspaces.plan(session.file.task, TaskGraph.of([session.file.task]), run.settings, run.repository)
    with (
        run.sessions.hold(session._record(plan)),
        pytest.raises(RefusedError, match="an agent works on `k7f2` already"),
    ):
        session.execute()
    assert project.stands() == (Status.PENDING, None)


def test_a_session_whose_turn_it_is_not_is_refused_and_leaves_no_dead_one(project: RunProject) -> None:
    make_reviewing(project)
    with pytest.raises(RefusedError, match="no worker can start"):
        execute(project)
    assert project.ok("health").strip() == "no session is alive, and none is dead"


def test_a_session_that_is_stopped_before_it_starts_counts_nothing(project: RunProject) -> None:
    project.make()
    stop = StopRequest()
    stop.request()
    SessionRun(opened(project), K7F2, Role.WORKER, stop).execute()
    task = project.task("k7f2")
    assert (task.status, task.crash_count) == (Status.WORKING, 0)
    assert project.last(EventType.SESSION_ENDED).data["ending"] == "stopped"


def test_a_set_up_that_fails_is_a_failed_start_and_nothing_starts(project: RunProject) -> None:
    project.settings("setup: {run: 'echo no network >&2; exit 4'}\n")
    project.agent(f'touch "{project.path.parent}/ran"')
    project.make()
    execute(project)
    assert not (project.path.parent / "ran").exists()
    assert "no network" in (project.last(EventType.START_FAILED).reason or "")


def test_a_mailbox_that_cannot_be_written_is_a_failed_start(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gitticks.runner.mailbox.fill", full)
    project.make()
    execute(project)
    assert "No space left" in (project.last(EventType.START_FAILED).reason or "")


def test_a_review_is_waived_where_nobody_can_review(project: RunProject) -> None:
    project.ok("config", "agent", "script")
    make_reviewing(project, status=Status.AGENT_REVIEW, awaiting=None)
    execute(project, role=Role.REVIEWER)
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)
    assert project.kinds().count(EventType.WAIVED) == 1


@pytest.mark.parametrize(("asked", "own", "seen"), [("big", "small", "big"), (None, "small", "small")])
def test_the_model_that_was_asked_for_goes_before_the_tasks_own(
    project: RunProject, asked: str | None, own: str, seen: str
) -> None:
    project.make(model=own)
    run = opened(project) if asked is None else opened(project, model=asked)
    assert SessionRun(run, K7F2, Role.WORKER, StopRequest()).agent.model == seen


def test_the_agent_that_was_asked_for_goes_before_the_tasks_own(project: RunProject) -> None:
    project.make(agent="claude")
    assert SessionRun(opened(project), K7F2, Role.WORKER, StopRequest()).agent.name == "claude"
    asked = SessionRun(opened(project, agent="mine"), K7F2, Role.WORKER, StopRequest())
    assert asked.agent.name == "mine"


def test_an_agent_that_does_not_exist_starts_nothing(project: RunProject) -> None:
    project.make(agent="clod")
    with pytest.raises(NotFoundError):
        SessionRun(opened(project), K7F2, Role.WORKER, StopRequest())


def test_the_script_agent_needs_a_script(project: RunProject) -> None:
    project.make(agent="script")
    with pytest.raises(GitticksError, match="has no `sh` block under `## Script`"):
        execute(project)
    assert project.stands() == (Status.PENDING, None)


def test_the_script_agent_runs_the_blocks(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.make(agent="script", body=f"Do it.\n\n## Script\n\n```sh\n{DONE}```\n")
    execute(project)
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)


def test_a_dropped_change_is_told_and_kept(project: RunProject, tmp_path: Path) -> None:
    project.agent('sed -i "s/^title: .*/title: Mine/" "$GITTICKS_MAILBOX/TASK.md"; git switch -qc elsewhere')
    project.make()
    told: list[RunEvent] = []
    execute(project, told)
    assert project.task("k7f2").title == "Login loses the return URL"
    assert "changes to `title` in the frontmatter were dropped" in (
        project.last(EventType.WARNED).reason or ""
    )
    assert any(isinstance(event, Warned) and "`elsewhere`" in event.message for event in told)
