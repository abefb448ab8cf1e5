"""What keeps an agent from its work is no crash: a full context window, a silent service, a limit of any command's."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Awaiting, Status
from tests.runner.test_session import SAID, client_of
from tests.support.agents import lines_of, write_program
from tests.support.runs import DONE, NO_REVIEW, TO_REVIEW, RunProject, project
from tests.support.tasks import write_files
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]

SESSION = "5f0c8a52-9d1e-4a7b-8c64-0e2f6b1d7a93"
TOO_LONG = "Prompt is too long · the request is ~216327 tokens (limit 200000)"
ROOM = "Codex ran out of room in the model's context window. Start a new thread or clear earlier history."
COUNT = "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."
MAXIMUM = "This model's maximum context length is 128000 tokens. However, your messages resulted in 216327."

INIT = {"type": "system", "subtype": "init", "session_id": SESSION, "model": "m"}
CLAUDE_FULL = {
    "type": "result",
    "subtype": "success",
    "is_error": True,
    "api_error_status": 400,
    "result": TOO_LONG,
    "session_id": SESSION,
    "total_cost_usd": 0.5,
    "usage": {"input_tokens": 100, "output_tokens": 50},
}
FULL: dict[str, Sequence[object]] = {
    "claude": (INIT, CLAUDE_FULL),
    "amp": (INIT, {**CLAUDE_FULL, "api_error_status": None}),
    "codex": (
        {"type": "thread.started", "thread_id": SESSION},
        {"type": "turn.started"},
        {"type": "error", "message": ROOM},
        {"type": "turn.failed", "error": {"message": ROOM}},
    ),
    "gemini": (
        {"type": "init", "session_id": SESSION, "model": "m"},
        {
            "type": "result",
            "status": "error",
            "error": {"type": "unknown", "message": f"[API Error: {COUNT}]"},
        },
    ),
    "opencode": (
        {
            "type": "error",
            "sessionID": f"ses_{SESSION}",
            "error": {"name": "ContextOverflowError", "data": {"message": MAXIMUM}},
        },
    ),
    "command": ({"gitticks": "context-full", "message": "too much to read"},),
}
SILENT: dict[str, Sequence[object]] = {
    "claude": (
        INIT,
        {
            "type": "assistant",
            "message": {"id": "m", "content": [{"type": "tool_use", "id": "t", "name": "Bash"}]},
        },
        {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t"}]}},
    ),
    "codex": (
        {"type": "thread.started", "thread_id": SESSION},
        {"type": "turn.started"},
        {"type": "item.started", "item": {"id": "i", "type": "command_execution", "command": "ls"}},
        {"type": "item.completed", "item": {"id": "i", "type": "command_execution", "exit_code": 0}},
    ),
    "gemini": (
        {"type": "init", "session_id": SESSION, "model": "m"},
        {"type": "tool_use", "tool_id": "t", "tool_name": "run_shell_command", "parameters": {}},
        {"type": "tool_result", "tool_id": "t", "status": "success"},
    ),
    "opencode": (),
}
SILENT["amp"] = SILENT["claude"]
RETRY = {
    "claude": {"type": "system", "subtype": "api_retry", "error_status": None, "error": "unknown"},
    "codex": {"type": "error", "message": "Reconnecting... waiting for network (Connection failed: refused)"},
}
BACK_TO_WORK = (Status.WORKING, None)


def standing_in(project: RunProject, kind: str, program: str) -> None:
    """Makes a client whose program is a shell script the agent."""
    path = write_program(project.path.parent / kind, program)
    project.ok("config", f"agents.{kind}.type", kind)
    project.ok("config", f"agents.{kind}.argv", json.dumps([str(path)]))
    project.ok("config", "agent", kind)


def recorder(project: RunProject, answers: Sequence[str], *, exit_code: int) -> str:
    """Returns a program that gives one answer after the other, and notes what it was asked."""
    top = project.shared
    (top / "client.py").write_text(SAID)
    for number, answer in enumerate(answers):
        (top / f"said-{number}").write_text(answer)
    return f'{sys.executable} -IS {top}/client.py {top} "$@"\nexit {exit_code}'


def endings(project: RunProject) -> list[object]:
    return [event.data["ending"] for event in project.events("k7f2") if event.type is EventType.SESSION_ENDED]


@pytest.mark.parametrize("kind", sorted(FULL))
def test_a_full_context_window_is_no_crash_and_the_next_session_starts_again_with_less(
    project: RunProject, kind: str
) -> None:
    project.settings("limits: {prompt: 20kB}\n")
    exit_code = 75 if kind == "command" else 1
    standing_in(project, kind, recorder(project, [lines_of(FULL[kind])] * 3, exit_code=exit_code))
    project.make()
    assert project.run("--max-iterations", "2").code == 1
    assert (endings(project), project.stands()) == (["context-full"] * 2, BACK_TO_WORK)
    assert project.task("k7f2").crash_count == 0
    first, second = client_of(project)
    assert SESSION not in str(second["argv"]), "it goes on with no session that is full"
    assert "ran out of its context window" not in str(first["prompt"])
    assert "ran out of its context window" in str(second["prompt"])
    project.run()
    assert project.stands() == (Status.STUCK, Awaiting.ESCALATION)
    assert "context window was full 3 times in a row" in project.ok("status")
    assert EventType.CRASHED not in project.kinds()


def test_a_prompt_that_was_too_long_is_cut(project: RunProject) -> None:
    standing_in(project, "claude", recorder(project, [lines_of(FULL["claude"])] * 3, exit_code=1))
    project.make()
    project.settings("limits: {prompt: 24kB}\n")
    write_files(project.store, {"tasks/f2/k7f2/scratchpad.md": b"- mind the gap\n" * 1000})
    project.run("--max-iterations", "2")
    first, second = (len(str(one["prompt"])) for one in client_of(project))
    assert first > 12_000
    assert second <= 12_000


def test_a_reviewer_whose_context_window_is_full_is_no_crash_either(project: RunProject) -> None:
    full = json.dumps(FULL["command"][0])
    project.agent(f"if [ $GITTICKS_ROLE = worker ]; then {DONE}else echo '{full}'; exit 75; fi")
    project.make()
    assert project.run().code == 4
    assert project.stands() == (Status.STUCK, Awaiting.ESCALATION)
    assert endings(project) == ["clean", *["context-full"] * 3]
    assert EventType.CRASHED not in project.kinds()


def until_outage(project: RunProject, process: subprocess.Popen[str]) -> None:
    """Waits for an outage and ends the run; of a client that took `limits.idle` to begin it was rightly none."""
    until(lambda: "outage" in endings(project) or process.poll() is not None, "the outage")
    project.ok("stop", "k7f2")
    process.wait(LONGEST_SECONDS)
    assert "outage" in endings(project)
    assert project.task("k7f2").crash_count == endings(project).count("timed-out")


@pytest.mark.parametrize("kind", sorted(SILENT))
def test_a_service_that_falls_silent_is_an_outage(project: RunProject, kind: str) -> None:
    project.settings("limits: {idle: 2s}\n")
    (project.path.parent / "said").write_text(lines_of(SILENT[kind]))
    standing_in(project, kind, f'cat "{project.path.parent}/said"; sleep 600')
    project.make()
    with project.running() as process:
        until_outage(project, process)
    assert project.stands() == BACK_TO_WORK


@pytest.mark.parametrize("kind", ["claude", "codex", "gemini"])
def test_a_tool_that_hangs_is_the_agents_own_time_out(project: RunProject, kind: str) -> None:
    project.settings("limits: {idle: 1s}\n")
    (project.path.parent / "said").write_text(lines_of(SILENT[kind][:-1]))
    standing_in(project, kind, f'cat "{project.path.parent}/said"; sleep 600')
    project.make()
    project.run("--max-iterations", "1")
    assert endings(project) == ["timed-out"]
    assert project.task("k7f2").crash_count == 1


@pytest.mark.parametrize("kind", sorted(RETRY))
def test_a_client_that_only_tries_again_is_ended_as_a_silent_one(project: RunProject, kind: str) -> None:
    project.settings("limits: {idle: 2s}\n")
    retry = lines_of([RETRY[kind]]).strip()
    standing_in(project, kind, f"while :; do echo '{retry}'; sleep 0.1; done")
    project.make()
    with project.running() as process:
        until_outage(project, process)


@pytest.mark.parametrize(
    ("body", "ending", "words"),
    [
        ("exit 75", "rate-limited", "exit code 75"),
        ("echo 'slow down' >&2; exit 75", "rate-limited", "slow down"),
        (
            """echo '{"gitticks": "rate-limit", "retry_after": 0}'; exit 75""",
            "rate-limited",
            "too many requests",
        ),
        (
            """echo '{"gitticks": "usage-limit", "message": "all spent", "retry_after": 1}'; exit 75""",
            "usage-limited",
            "all spent",
        ),
        ("""echo '{"gitticks": "outage"}'; exit 75""", "outage", "the service is down"),
        ("echo 'Error: 429 Too Many Requests' >&2; exit 1", "rate-limited", "429 Too Many Requests"),
        ("echo 'litellm.RateLimitError: retry in 1s' >&2; exit 1", "rate-limited", "RateLimitError"),
    ],
)
def test_a_command_says_that_it_is_kept_from_its_work(
    project: RunProject, body: str, ending: str, words: str
) -> None:
    project.settings(NO_REVIEW)
    here = project.path.parent
    project.agent(f'if [ ! -e "{here}/kept" ]; then touch "{here}/kept"; {body}; fi\n{DONE}')
    project.make()
    ran = project.run()
    assert endings(project) == [ending, "clean"]
    assert project.stands() == TO_REVIEW
    assert project.task("k7f2").crash_count == 0
    assert "`mine` rests" in ran.err
    assert words in ran.err


@pytest.mark.parametrize(
    "body",
    [
        """echo '{"gitticks": "rate-limit"}'; exit 1""",
        "echo 'we hit 429 lines' >&2; exit 1",
        "echo 'connection refused' >&2; exit 1",
    ],
)
def test_other_words_of_a_command_leave_a_crash_a_crash(project: RunProject, body: str) -> None:
    project.agent(body)
    project.make()
    project.run("--max-iterations", "1")
    assert endings(project) == ["crashed"]


def test_a_script_that_speaks_of_limits_has_crashed(project: RunProject) -> None:
    script = "Do it.\n\n## Script\n\n```sh\necho 'Too many requests' >&2; exit 1\n```\n"
    project.make(agent="script", body=script)
    project.run("--max-iterations", "1")
    assert endings(project) == ["crashed"]
