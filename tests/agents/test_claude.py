"""Claude Code's flags and stream."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from gitticks.agents.base import AgentSpec, EndReason, Request
from gitticks.agents.claude import ClaudeReader, invocation
from gitticks.model.settings import AgentKind, PermissionMode
from gitticks.model.task import Ending, Usage
from tests.support.agents import fixture, read_fixture

SESSION = "5f0c8a52-9d1e-4a7b-8c64-0e2f6b1d7a93"


def test_a_good_session_is_clean_and_counts_side_calls() -> None:
    report = read_fixture(ClaudeReader(), "claude-ok.jsonl")
    assert report.ending is Ending.CLEAN
    assert report.messages == ("I look at the parser first.", "All tests pass.\n<promise>COMPLETE</promise>")
    assert report.final_message == "All tests pass.\n<promise>COMPLETE</promise>"
    assert (report.session_id, report.model) == (SESSION, "claude-sonnet-4-5")
    assert report.usage == Usage(tokens_in=450, tokens_out=150, cost=0.0034, seconds=1.5)
    assert (report.cost, report.cached_tokens, report.denied) == (0.0034, 90, ())


def test_what_is_shown_is_its_words_and_its_tools() -> None:
    reader = ClaudeReader()
    shown = [text for line in fixture("claude-ok.jsonl") if (text := reader.feed(line))]
    assert shown == [
        "I look at the parser first.",
        "[Write] /w/a.txt",
        "All tests pass.\n<promise>COMPLETE</promise>",
    ]


def test_a_denied_tool_is_reported_though_the_session_is_clean() -> None:
    report = read_fixture(ClaudeReader(), "claude-denied.jsonl")
    assert (report.ending, report.denied) == (Ending.CLEAN, ("Bash: make test",))


@pytest.mark.parametrize(
    ("name", "ending", "detail"),
    [
        ("claude-401.jsonl", Ending.START_FAILED, "Failed to authenticate. API Error: 401 invalid key"),
        ("claude-429.jsonl", Ending.RATE_LIMITED, "API Error: Request rejected (429) · slow down"),
        ("claude-usage-limit.jsonl", Ending.USAGE_LIMITED, "You've hit your limit · resets 3pm (UTC)"),
        ("claude-turns.jsonl", Ending.CRASHED, "Reached maximum number of turns (3)"),
    ],
)
def test_an_error_is_never_taken_for_a_result(name: str, ending: Ending, detail: str) -> None:
    report = read_fixture(ClaudeReader(), name, exit_code=1)
    assert (report.ending, report.detail, report.final_message) == (ending, detail, None)
    assert detail not in report.messages


def test_a_usage_limit_tells_when_it_ends() -> None:
    report = read_fixture(ClaudeReader(), "claude-usage-limit.jsonl", exit_code=1)
    assert report.resets_at == datetime(2026, 11, 22, 15, tzinfo=UTC)


def test_a_refusal_is_none_of_the_agents_ends() -> None:
    assert read_fixture(ClaudeReader(), "claude-refused.jsonl").ending is Ending.REFUSED


def test_a_retry_that_helped_is_forgotten() -> None:
    assert read_fixture(ClaudeReader(), "claude-recovered.jsonl").ending is Ending.CLEAN


def test_a_limit_that_ends_retries_without_a_service_is_an_outage() -> None:
    report = read_fixture(ClaudeReader(), "claude-offline.jsonl", exit_code=None, reason=EndReason.IDLE)
    assert report.ending is Ending.OUTAGE


def _uses(message: str, tool: str, parent: str | None = None) -> str:
    content = [{"type": "tool_use", "id": tool, "name": "Read", "input": {}}]
    event = {
        "type": "assistant",
        "message": {"id": message, "content": content},
        "parent_tool_use_id": parent,
    }
    return json.dumps(event)


def test_what_it_says_next_shows_that_its_tools_are_done_though_a_result_was_too_long_to_read() -> None:
    reader = ClaudeReader()
    for line in (_uses("m1", "a"), _uses("m1", "b"), _uses("m2", "c", parent="b")):
        reader.feed(line)
    assert set(reader.open_tools) == {"a", "c"}
    reader.feed(_uses("m3", "d"))
    assert set(reader.open_tools) == {"c", "d"}


def test_a_cut_off_stream_is_a_crash_that_keeps_what_was_said_and_spent() -> None:
    reader = ClaudeReader()
    for line in fixture("claude-ok.jsonl")[:3]:
        reader.feed(line)
    report = read_fixture(reader, "claude-offline.jsonl", exit_code=None, reason=EndReason.KILLED)
    assert report.ending is Ending.CRASHED
    assert report.messages == ("I look at the parser first.",)
    assert (report.usage.tokens_in, report.session_id) == (150, SESSION)


@pytest.mark.parametrize(
    ("mode", "flags"),
    [
        (PermissionMode.INTERACTIVE, ["--permission-mode", "default"]),
        (
            PermissionMode.AUTO_EDIT,
            [
                "--permission-mode",
                "acceptEdits",
                "--allowedTools",
                (
                    "Bash(git add:*),Bash(git commit:*),Bash(git diff:*),Bash(git log:*),Bash(git mv:*),"
                    "Bash(git rm:*),Bash(git show:*),Bash(git status:*),Bash(gt:*)"
                ),
            ],
        ),
        (PermissionMode.YOLO, ["--dangerously-skip-permissions"]),
    ],
)
def test_modes_are_flags(mode: PermissionMode, flags: list[str]) -> None:
    argv = invocation(AgentSpec("claude", AgentKind.CLAUDE, mode=mode), Request("x")).argv
    assert list(argv) == ["claude", "-p", "--output-format", "stream-json", "--verbose", *flags]


def test_only_where_it_is_answered_and_interactive_it_asks_by_its_stdin() -> None:
    modes = [
        mode
        for mode in PermissionMode
        if "stdio"
        in invocation(AgentSpec("claude", AgentKind.CLAUDE, mode=mode), Request("x", is_answered=True)).argv
    ]
    assert modes == [PermissionMode.INTERACTIVE]


def test_all_may_run_any_tool_but_skips_no_check() -> None:
    spec = AgentSpec("claude", AgentKind.CLAUDE, mode=PermissionMode.AUTO_ALL)
    argv = invocation(spec, Request("x")).argv
    assert "Bash" in argv[-1].split(",")
    assert "--dangerously-skip-permissions" not in argv


def test_the_prompt_goes_by_stdin_and_a_session_is_resumed() -> None:
    spec = AgentSpec("claude", AgentKind.CLAUDE, ("/opt/claude",), model="opus", args=("--max-turns", "3"))
    started = invocation(spec, Request("a long prompt ✓", session_id="abc"))
    assert started.stdin == "a long prompt ✓".encode()
    assert started.argv[0] == "/opt/claude"
    assert started.argv[-6:] == ("--model", "opus", "--resume", "abc", "--max-turns", "3")
    assert started.environment["CLAUDE_CODE_MAX_RETRIES"] == "1"
