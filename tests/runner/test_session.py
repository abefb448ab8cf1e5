"""One session: what it writes at its start and end, what it gives its agent, and what it takes back."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gitticks.actions.context import Context
from gitticks.actions.run import run_context
from gitticks.agents.base import AgentReport, AgentSpec
from gitticks.agents.process import StopRequest
from gitticks.errors import GitticksError, NotFoundError, RefusedError
from gitticks.model.event import ENGINE, Actor, Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.settings import AgentKind
from gitticks.model.status import ActorKind, Awaiting, Role, Status
from gitticks.model.task import Ending, Task, Usage
from gitticks.runner import workspaces
from gitticks.runner.context import RunContext
from gitticks.runner.events import AgentSaid, ChecksEnded, RunEvent, SessionBegan, TaskMoved, Warned
from gitticks.runner.options import RunOptions
from gitticks.runner.places.conversation import could_not_go_on
from gitticks.runner.places.place import EarlierSession
from gitticks.runner.session import SessionRun, find_earlier_session
from tests.support.agents import DATA, write_program
from tests.support.projects import make_reviewing
from tests.support.repositories import git
from tests.support.runs import COMMIT, DONE, HANDOFF, NO_REVIEW, RunProject, project
from tests.support.waiting import until

__all__ = ["project"]

K7F2 = TaskId("k7f2")

AT = datetime(2026, 11, 22, 1, 0, tzinfo=UTC)
CLAUDE = AgentSpec("claude", AgentKind.CLAUDE)
ADA = Actor(ActorKind.HUMAN, "Ada")
TASK = Task(TaskId("k7f2"), "Login", status=Status.WORKING, agent_sessions={"claude": "s-1"})
ANSWER = Event(EventType.VERDICT, AT, ADA)
ADVANCED = Event(EventType.ADVANCED, AT, ENGINE)
CLIENT = """\
import json, os, pathlib, sys, time

top = pathlib.Path(sys.argv[1])
asked = {"argv": sys.argv[2:], "prompt": sys.stdin.read()}
with (top / "asked.jsonl").open("a") as file:
    file.write(json.dumps(asked) + "\\n")
resumed = "--resume" in asked["argv"]
if resumed and (top / "gone").exists():
    sys.exit("No conversation found with session ID: s-1")
is_reviewer = os.environ["GITTICKS_ROLE"] == "reviewer"
name = "r-1" if is_reviewer else "s-1"


def say(**event):
    print(json.dumps({"session_id": name, **event}), flush=True)


say(type="system", subtype="init", model="claude-sonnet-4-5")
if (top / "hang").exists():
    time.sleep(600)
section, text = ("Review", "PASS: fine") if is_reviewer else ("Handoff", "- DONE: it")
words = "I looked." if is_reviewer else "<promise>INPUT_NEEDED: Which tone?</promise>"
if is_reviewer or "Friendly." in asked["prompt"]:
    with open(os.environ["GITTICKS_MAILBOX"] + "/TASK.md", "a") as file:
        file.write(f"\\n## {section}\\n\\n{text}\\n")
    words = words if is_reviewer else "<promise>COMPLETE</promise>"
say(type="assistant", message={"id": "m", "content": [{"type": "text", "text": words}]})
say(type="result", subtype="success", is_error=False, result=words, usage={"input_tokens": 5, "output_tokens": 2})
"""
SAID = """\
import json, pathlib, sys
top, *rest = sys.argv[1:]
asked = pathlib.Path(top) / "asked.jsonl"
number = len(asked.read_text().splitlines()) if asked.exists() else 0
with asked.open("a") as file:
    file.write(json.dumps({"argv": rest, "prompt": sys.stdin.read()}) + "\\n")
print(pathlib.Path(top, f"said-{number}").read_text())
"""


def opened(project: RunProject, told: list[RunEvent] | None = None, **options: str) -> RunContext:
    """Returns what a run of this project shares."""
    heard = [] if told is None else told
    return run_context(Context(directory=project.path), heard.append, RunOptions(**options))  # type: ignore[arg-type]


def execute(project: RunProject, told: list[RunEvent] | None = None, role: Role = Role.WORKER) -> SessionRun:
    session = SessionRun(opened(project, told), K7F2, role, StopRequest())
    session.execute()
    return session


def test_a_session_is_shown_from_its_start_to_what_came_of_it(project: RunProject) -> None:
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
        pytest.raises(RefusedError, match="an agent is already working on `k7f2`"),
    ):
        session.execute()
    assert project.stands() == (Status.PENDING, None)


def test_a_session_whose_turn_it_is_not_is_refused_and_leaves_no_dead_one(project: RunProject) -> None:
    make_reviewing(project)
    with pytest.raises(RefusedError, match="no worker can start"):
        execute(project)
    assert project.ok("health").strip() == "no sessions are running, and none are dead"


def test_a_session_that_is_stopped_before_it_starts_counts_nothing(project: RunProject) -> None:
    project.make()
    stop = StopRequest()
    stop.request()
    SessionRun(opened(project), K7F2, Role.WORKER, stop).execute()
    task = project.task("k7f2")
    assert (task.status, task.crash_count) == (Status.WORKING, 0)
    assert project.last(EventType.SESSION_ENDED).data["ending"] == "stopped"


def test_a_set_up_that_fails_is_no_agents_fault_and_nothing_starts(project: RunProject) -> None:
    project.settings("setup: {run: 'echo no network >&2; exit 4'}\n")
    project.agent(f'touch "{project.shared}/ran"')
    project.make()
    execute(project)
    assert not (project.shared / "ran").exists()
    ended = project.last(EventType.SESSION_ENDED)
    assert ended.data["ending"] == "sandbox-failed"
    assert "no network" in (ended.reason or "")
    assert EventType.START_FAILED not in project.kinds()


def test_a_mailbox_that_cannot_be_written_is_a_failed_start(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gitticks.runner.mailbox.fill", full)
    project.make()
    execute(project)
    assert "No space left" in (project.last(EventType.START_FAILED).reason or "")


def test_a_failed_start_names_what_helps(project: RunProject) -> None:
    project.ok("config", "agents.mine.prompt", "argument")
    project.make(body="x" * 140_000)
    execute(project)
    reason = project.last(EventType.START_FAILED).reason or ""
    assert "as one argument; `gt config agents.mine.prompt stdin`" in reason


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


def test_a_dropped_change_is_reported_and_kept(project: RunProject, tmp_path: Path) -> None:
    project.agent('sed -i "s/^title: .*/title: Mine/" "$GITTICKS_MAILBOX/TASK.md"; git switch -qc elsewhere')
    project.make()
    told: list[RunEvent] = []
    execute(project, told)
    assert project.task("k7f2").title == "Login loses the return URL"
    assert "changes to `title` in the frontmatter were dropped" in (
        project.last(EventType.WARNED).reason or ""
    )
    assert any(isinstance(event, Warned) and "`elsewhere`" in event.message for event in told)


def ended(ending: Ending = Ending.CLEAN, role: Role = Role.WORKER, **data: str | int | bool) -> Event:
    actor = Actor(ActorKind.AGENT, "claude", role)
    return Event(
        EventType.SESSION_ENDED, AT, actor, data={"role": role.value, "ending": ending.value, **data}
    )


@pytest.mark.parametrize(
    ("history", "goes_on"),
    [
        ([], True),
        ([ended(session="s-1", iteration=False), ANSWER], True),
        ([ended(session="s-1", iteration=False), ADVANCED], True),
        ([ended(session="s-1"), ended(role=Role.REVIEWER, session="s-9")], True),
        ([ended(Ending.STOPPED, session="s-1")], True),
        ([ended(Ending.OUTAGE, session="s-1")], True),
        ([ended(session="s-1"), ended(Ending.OUTAGE), ended(Ending.START_FAILED)], True),
        ([ended(session="s-1", iteration=True)], False),
        ([ended(session="s-1", iteration=True), ANSWER], True),
        ([ended(Ending.CRASHED, session="s-1"), ANSWER], False),
        ([ended(Ending.TIMED_OUT, session="s-1")], False),
        ([ended(session="s-2")], False),
        ([ended(session="s-1"), ended(Ending.INTERRUPTED)], False),
        ([ended(Ending.INTERRUPTED, session="s-1")], True),
        ([ended(session="s-1"), ended()], False),
    ],
)
def test_when_a_session_goes_on(history: list[Event], goes_on: bool) -> None:
    found = find_earlier_session(TASK, history, CLAUDE)
    assert found == (EarlierSession("s-1") if goes_on else None)


def test_what_the_agent_counted_comes_along() -> None:
    history = [ended(session="s-1", counted_in=200, counted_out=100), ended(Ending.OUTAGE, session="s-1")]
    found = find_earlier_session(TASK, history, CLAUDE)
    assert found == EarlierSession("s-1", Usage(tokens_in=200, tokens_out=100))


@pytest.mark.parametrize("name", ["--dangerously-skip-permissions", "-x", "", "a b", "a\nb", "x" * 201])
def test_a_name_that_would_be_a_flag_is_none(name: str) -> None:
    assert find_earlier_session(replace(TASK, agent_sessions={"claude": name}), [], CLAUDE) is None


def test_only_the_agents_own_sessions_of_a_kind_that_can_go_on() -> None:
    assert find_earlier_session(TASK, [], AgentSpec("codex", AgentKind.CODEX)) is None
    mine = replace(TASK, agent_sessions={"mine": "s-1"})
    assert find_earlier_session(mine, [], AgentSpec("mine", AgentKind.COMMAND)) is None


@pytest.mark.parametrize(
    ("report", "gone"),
    [
        (AgentReport(Ending.START_FAILED), True),
        (AgentReport(Ending.START_FAILED, session_id="s-1"), False),
        (AgentReport(Ending.CRASHED), True),
        (AgentReport(Ending.CRASHED, messages=("I look",)), False),
        (AgentReport(Ending.CRASHED, usage=Usage(tokens_out=1)), False),
        (AgentReport(Ending.OUTAGE), False),
        (AgentReport(Ending.STOPPED), False),
        (AgentReport(Ending.CLEAN), False),
    ],
)
def test_what_says_that_a_session_is_gone(report: AgentReport, gone: bool) -> None:
    assert could_not_go_on(report) is gone


def client_of(project: RunProject) -> list[dict[str, Any]]:
    """Returns what the client was asked, session by session."""
    lines = (project.shared / "asked.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture
def standing_in(project: RunProject) -> RunProject:
    """Gives a project whose agent is a stand-in for claude that asks first, and works once it knows the tone."""
    top = project.shared
    (top / "client.py").write_text(CLIENT)
    program = write_program(top / "claude", f'exec {sys.executable} -IS {top}/client.py {top} "$@"')
    project.ok("config", "agents.claude.argv", json.dumps([str(program)]))
    project.ok("config", "agent", "claude")
    project.make(body="Choose a tone.\n")
    return project


@pytest.fixture
def asking(standing_in: RunProject) -> RunProject:
    """Gives it once the agent has asked."""
    assert standing_in.run().code == 3
    assert standing_in.stands() == (Status.CLARIFICATION, Awaiting.INPUT)
    assert dict(standing_in.task("k7f2").agent_sessions) == {"claude": "s-1"}
    return standing_in


def test_the_answer_reaches_the_session_that_asked(asking: RunProject) -> None:
    asking.ok("respond", "k7f2", "Friendly.")
    assert asking.run().code == 3
    assert asking.stands() == (Status.REVIEWING, Awaiting.REVIEW)
    first, second, review = client_of(asking)
    assert "--resume" not in str(first["argv"])
    assert str(second["argv"]).count("'--resume', 's-1'") == 1
    prompt = str(second["prompt"])
    assert "It has come back to you." in prompt
    assert prompt.index("> Which tone?") < prompt.index("> Friendly.")
    assert "--resume" not in str(review["argv"]), "a reviewer looks with fresh eyes"
    assert dict(asking.task("k7f2").agent_sessions) == {"claude": "s-1"}, "a review has no part in it"


def test_feedback_on_the_work_reaches_it_too(asking: RunProject) -> None:
    asking.ok("respond", "k7f2", "Friendly.")
    asking.run()
    asking.ok("reject", "k7f2", "Not that friendly.")
    asking.run()
    again = client_of(asking)[3]
    assert "'--resume', 's-1'" in str(again["argv"])
    assert "> Not that friendly." in str(again["prompt"])


def test_a_session_that_is_gone_is_begun_again_and_counts_as_nothing(asking: RunProject) -> None:
    (asking.shared / "gone").touch()
    asking.ok("respond", "k7f2", "Friendly.")
    ran = asking.run()
    assert (ran.code, asking.stands()) == (3, (Status.REVIEWING, Awaiting.REVIEW))
    assert (
        "`claude` cannot resume its earlier session (No conversation found with session ID: s-1): "
        "it starts a new one"
    ) in ran.err
    tried, anew = client_of(asking)[1:3]
    assert "--resume" in str(tried["argv"])
    assert "--resume" not in str(anew["argv"])
    assert "You are working on a task" in str(anew["prompt"])
    assert "> Friendly." in str(anew["prompt"])
    task = asking.task("k7f2")
    assert (task.crash_count, task.usage.iterations) == (0, 2)
    assert EventType.START_FAILED not in asking.kinds()


def test_what_the_client_says_of_itself_is_in_the_history(asking: RunProject) -> None:
    assert asking.last(EventType.SESSION_ENDED).data["session"] == "s-1"


def test_a_session_whose_runner_was_killed_goes_on(standing_in: RunProject) -> None:
    hang = standing_in.shared / "hang"
    hang.touch()
    record = standing_in.path / ".git/gitticks/sessions/k7f2.json"
    with standing_in.running() as process:
        until(lambda: record.exists() and json.loads(record.read_text())["session_id"] == "s-1")
        process.kill()
    hang.unlink()
    assert standing_in.run().code == 3
    assert standing_in.stands() == (Status.CLARIFICATION, Awaiting.INPUT)
    ends = [event for event in standing_in.events("k7f2") if event.type is EventType.SESSION_ENDED]
    assert [(end.data["ending"], end.data["session"]) for end in ends] == [
        ("interrupted", "s-1"),
        ("clean", "s-1"),
    ]
    assert "--resume" in client_of(standing_in)[1]["argv"]
    assert standing_in.task("k7f2").crash_count == 0


@pytest.mark.parametrize(
    ("kind", "streams", "words"),
    [
        (
            "codex",
            ("codex-ok.jsonl", "codex-resumed.jsonl"),
            ["resume", "01a20089-c8f3-7fe1-b89d-bc2306a4089a"],
        ),
        ("gemini", ("gemini-ok.jsonl", "gemini-ok.jsonl"), ["--resume"]),
        ("opencode", ("opencode-ok.jsonl", "opencode-ok.jsonl"), ["--session"]),
        ("amp", ("claude-ok.jsonl", "claude-ok.jsonl"), ["threads", "continue"]),
    ],
)
def test_each_client_goes_on_in_its_own_way(
    project: RunProject, kind: str, streams: tuple[str, str], words: list[str]
) -> None:
    top = project.shared
    (top / "client.py").write_text(SAID)
    for number, stream in enumerate(streams):
        (top / f"said-{number}").write_text((DATA / stream).read_text())
    program = write_program(top / kind, f'exec {sys.executable} -IS {top}/client.py {top} "$@"')
    project.ok("config", f"agents.{kind}.argv", json.dumps([str(program)]))
    project.ok("config", "agent", kind)
    project.make()
    project.run("--max-iterations", "1")
    session = project.task("k7f2").agent_sessions[kind]
    project.ok("note", "k7f2", "Mind the hand-off.")
    project.run("--max-iterations", "1")
    first, second = client_of(project)
    assert words[0] not in first["argv"]
    argv = second["argv"]
    assert argv[argv.index(words[0]) :][: len(words)] == words
    assert session in argv
    assert "> Mind the hand-off." in str(second["prompt"])
    if kind == "codex":
        usage = project.task("k7f2").usage
        assert (usage.tokens_in, usage.tokens_out) == (500, 220), "a thread's total is not counted twice"
