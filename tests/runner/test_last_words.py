"""What an agent spent, and what it was not allowed to do, is known also where its session was ended."""

from __future__ import annotations

import json
import sys

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Awaiting, Status
from gitticks.model.task import Ending
from tests.runner.test_session import SAID, client_of
from tests.support.agents import DATA, write_program
from tests.support.runs import RunProject, project
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]

ASKED = (Status.CLARIFICATION, Awaiting.INPUT)
SPENT = {
    "claude": (450, 150, 0.0034),
    "codex": (200, 100, 0),
    "gemini": (200, 100, 0.000294),
    "opencode": (200, 100, 0.000346),
}
"""What the recorded streams tell as tokens in and out, and dollars."""

CLIENT = """\
import os, pathlib, signal, subprocess, sys, time
stream, ends, *rest = sys.argv[1:]
*lines, last = pathlib.Path(stream).read_text().splitlines()
sys.stdin.read()
def say(line):
    os.write(1, f"{line}\\n".encode())
def interrupted(*_):
    say(last)
    sys.exit(0)
if ends == "when interrupted":
    signal.signal(signal.SIGINT, interrupted)
for line in lines:
    say(line)
if ends != "when interrupted":
    subprocess.run(["gt", "ask", "Which tone?"], check=True, stdout=subprocess.DEVNULL)
    outbox = pathlib.Path(os.environ["GITTICKS_MAILBOX"], "outbox")
    while ends == "by itself" and any(outbox.glob("*.json")):
        time.sleep(0.01)
if ends == "by itself":
    say(last)
else:
    time.sleep(600)
"""


def make_client(project: RunProject, kind: str, ends: str) -> None:
    """Makes a client the agent that prints a recorded stream, asks before its last line, and ends in a way."""
    top = project.path.parent
    (top / "client.py").write_text(CLIENT)
    line = f'exec {sys.executable} -IS {top}/client.py {DATA}/{kind}-ok.jsonl "{ends}" "$@"'
    project.ok("config", f"agents.{kind}.argv", json.dumps([str(write_program(top / kind, line))]))
    project.ok("config", "agent", kind)


@pytest.mark.parametrize("kind", sorted(SPENT))
def test_a_session_that_asks_comes_to_its_own_end_and_tells_what_it_spent(
    project: RunProject, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr("gitticks.runner.requests.LAST_WORDS_SECONDS", LONGEST_SECONDS)
    make_client(project, kind, "by itself")
    project.make()
    assert project.run().code == 3
    assert project.stands() == ASKED
    usage = project.task("k7f2").usage
    assert (usage.tokens_in, usage.tokens_out, usage.cost) == SPENT[kind]
    ended = project.last(EventType.SESSION_ENDED)
    assert ended.data["ending"] == Ending.STOPPED
    assert "estimated" not in ended.data
    assert project.task("k7f2").crash_count == 0


@pytest.mark.parametrize(
    ("kind", "tokens"), [("claude", 450), ("codex", 0), ("gemini", 0), ("opencode", 100)]
)
def test_what_is_missing_of_one_that_had_to_be_stopped_is_reported(
    project: RunProject, monkeypatch: pytest.MonkeyPatch, kind: str, tokens: int
) -> None:
    monkeypatch.setattr("gitticks.runner.requests.LAST_WORDS_SECONDS", 0.0)
    make_client(project, kind, "never")
    project.make()
    project.run()
    assert project.stands() == ASKED
    assert project.task("k7f2").usage.tokens_in == tokens
    assert project.last(EventType.SESSION_ENDED).data["estimated"] is True
    assert "usage incomplete" in project.ok("log", "k7f2")
    assert b"(not all is known)" in (project.store.read("tasks/f2/k7f2/worklog.md") or b"")


def test_claude_tells_what_it_spent_when_a_person_stops_it(project: RunProject) -> None:
    make_client(project, "claude", "when interrupted")
    project.make()
    record = project.path / ".git/gitticks/sessions/k7f2.json"
    with project.running() as process:
        until(lambda: record.exists() and json.loads(record.read_text())["session_id"], "the agent's start")
        project.ok("stop", "k7f2")
        process.wait(LONGEST_SECONDS)
    ended = project.last(EventType.SESSION_ENDED)
    assert (ended.data["ending"], ended.data["cost"]) == ("stopped", 0.0034)
    assert project.task("k7f2").usage.cost == 0.0034


@pytest.mark.parametrize(
    ("kind", "exit_code", "denied"),
    [
        ("claude", 0, "Bash: make test"),
        ("amp", 0, "Bash: make test"),
        ("codex", 0, "run: touch x"),
        ("gemini", 0, "run_shell_command: make test"),
        ("opencode", 0, "write: /w/a.txt"),
    ],
)
def test_what_a_client_did_not_allow_is_reported_everywhere(
    project: RunProject, kind: str, exit_code: int, denied: str
) -> None:
    top = project.shared
    (top / "client.py").write_text(SAID)
    stream = "claude" if kind == "amp" else kind
    for number in range(2):
        (top / f"said-{number}").write_text((DATA / f"{stream}-denied.jsonl").read_text())
    program = write_program(top / kind, f'{sys.executable} -IS {top}/client.py {top} "$@"; exit {exit_code}')
    project.ok("config", f"agents.{kind}.argv", json.dumps([str(program)]))
    project.ok("config", "agent", kind)
    project.make()
    assert f"`{kind}` was not allowed: `{denied}`" in project.run("--max-iterations", "1").err
    assert f"not allowed: {denied}" in project.ok("log", "k7f2")
    status = project.ok("status")
    assert f"not allowed\n  k7f2  {kind}: {denied}  `gt permissions rules`" in status
    assert json.loads(project.ok("status", "--json"))["denied"] == [
        {"id": "k7f2", "agent": kind, "denied": [denied]}
    ]
    project.run("--max-iterations", "1")
    first, second = (str(one["prompt"]) for one in client_of(project))
    assert denied not in first
    assert f"- {denied}\n" in second
    assert "What was denied" in second
