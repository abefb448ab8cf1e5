"""Codex's flags and events."""

from __future__ import annotations

import json

import pytest

from gitticks.agents.base import AgentSpec, Ended, EndReason, Request
from gitticks.agents.codex import CodexReader, invocation
from gitticks.model.settings import AgentKind, PermissionMode
from gitticks.model.task import Ending, Usage
from tests.support.agents import NOW, fixture, read_fixture

SPEC = AgentSpec("codex", AgentKind.CODEX)


@pytest.mark.parametrize("mode", [PermissionMode.AUTO_EDIT, PermissionMode.AUTO_ALL])
def test_behind_walls_it_builds_none_of_its_own(mode: PermissionMode) -> None:
    spec = AgentSpec("codex", AgentKind.CODEX, mode=mode)
    argv = invocation(spec, Request("x", commit_folders=("/git",), is_walled=True)).argv
    assert argv[6:8] == ("--sandbox", "danger-full-access")
    assert "--add-dir" not in argv


def test_a_good_session_is_clean_and_has_no_cost() -> None:
    report = read_fixture(CodexReader(), "codex-ok.jsonl")
    assert report.ending is Ending.CLEAN
    assert report.messages == ("I look first.", "Done.\n<promise>COMPLETE</promise>")
    assert report.session_id == "01a20089-c8f3-7fe1-b89d-bc2306a4089a"
    assert report.usage == Usage(tokens_in=200, tokens_out=100, seconds=1.5)
    assert (report.cost, report.cached_tokens) == (None, 60)


def test_a_resumed_session_counts_only_what_is_new() -> None:
    report = read_fixture(CodexReader(Usage(tokens_in=200, tokens_out=100)), "codex-resumed.jsonl")
    assert (report.usage.tokens_in, report.usage.tokens_out) == (300, 120)
    assert report.total_usage == Usage(tokens_in=500, tokens_out=220)


def test_a_total_smaller_than_before_belongs_to_another_thread() -> None:
    report = read_fixture(CodexReader(Usage(tokens_in=9000, tokens_out=1)), "codex-resumed.jsonl")
    assert (report.usage.tokens_in, report.usage.tokens_out) == (500, 220)


def test_what_is_shown_is_its_words_commands_and_edits() -> None:
    reader = CodexReader()
    shown = [text for line in fixture("codex-ok.jsonl") if (text := reader.feed(line))]
    assert shown == [
        "I look first.",
        "[run] cat notes",
        "[edit] /w/a.txt",
        "Done.\n<promise>COMPLETE</promise>",
    ]


def test_a_denied_command_is_reported() -> None:
    report = read_fixture(CodexReader(), "codex-denied.jsonl")
    assert (report.ending, report.denied) == (Ending.CLEAN, ("run: touch x",))


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("codex-401.jsonl", Ending.START_FAILED),
        ("codex-429.jsonl", Ending.RATE_LIMITED),
        ("codex-usage-limit.jsonl", Ending.USAGE_LIMITED),
        ("codex-disconnected.jsonl", Ending.OUTAGE),
    ],
)
def test_a_failed_turn_is_classified(name: str, ending: Ending) -> None:
    report = read_fixture(CodexReader(), name, exit_code=1)
    assert (report.ending, report.messages) == (ending, ())


def test_a_usage_limit_tells_how_long_it_lasts() -> None:
    report = read_fixture(CodexReader(), "codex-usage-limit.jsonl", exit_code=1)
    assert report.resets_at is not None
    assert (report.resets_at - NOW).total_seconds() == 2 * 86_400 + 3 * 3600 + 4 * 60


def test_waiting_for_the_network_until_a_limit_is_an_outage() -> None:
    report = read_fixture(CodexReader(), "codex-offline.jsonl", exit_code=None, reason=EndReason.TIMED_OUT)
    assert report.ending is Ending.OUTAGE


@pytest.mark.parametrize(
    ("kind", "ending"),
    [
        ("file_change", Ending.TIMED_OUT),
        ("mcp_tool_call", Ending.TIMED_OUT),
        ("reasoning", Ending.TIMED_OUT),
        ("error", Ending.OUTAGE),
    ],
)
def test_whatever_it_does_next_says_that_its_service_is_back(kind: str, ending: Ending) -> None:
    reader = CodexReader()
    for event in (
        {"type": "error", "message": "Reconnecting... 1/5 (Connection failed)"},
        {"type": "item.completed", "item": {"id": "item_1", "type": kind}},
    ):
        reader.feed(json.dumps(event))
    assert reader.report(Ended(EndReason.TIMED_OUT, signal=15), NOW).ending is ending


@pytest.mark.parametrize(
    ("kind", "ending"), [("todo_list", Ending.OUTAGE), ("command_execution", Ending.TIMED_OUT)]
)
def test_a_plan_is_no_tool_that_hangs_while_the_service_is_silent(kind: str, ending: Ending) -> None:
    reader = CodexReader()
    for event in (
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "item.started", "item": {"id": "item_1", "type": kind}},
    ):
        reader.feed(json.dumps(event))
    assert reader.report(Ended(EndReason.IDLE, signal=15), NOW).ending is ending


def test_a_stream_without_its_last_event_is_a_crash_whatever_the_exit_code() -> None:
    reader = CodexReader()
    for line in fixture("codex-ok.jsonl")[:-1]:
        reader.feed(line)
    report = read_fixture(reader, "codex-offline.jsonl")
    assert (report.ending, report.detail) == (Ending.CRASHED, "ended without its final result")


@pytest.mark.parametrize(
    ("mode", "flags"),
    [
        (PermissionMode.INTERACTIVE, ["--sandbox", "read-only"]),
        (PermissionMode.AUTO_EDIT, ["--sandbox", "workspace-write"]),
        (
            PermissionMode.AUTO_ALL,
            ["--sandbox", "workspace-write", "-c", "sandbox_workspace_write.network_access=true"],
        ),
        (PermissionMode.YOLO, ["--dangerously-bypass-approvals-and-sandbox"]),
    ],
)
def test_modes_are_flags(mode: PermissionMode, flags: list[str]) -> None:
    argv = invocation(AgentSpec("codex", AgentKind.CODEX, mode=mode), Request("x")).argv
    start = ["codex", "exec", "--json", "--skip-git-repo-check", "-c", "allow_login_shell=false"]
    assert list(argv) == [*start, *flags, "-"]


def test_a_resumed_session_comes_after_the_flags() -> None:
    started = invocation(SPEC, Request("go on", session_id="01a", spent_before=Usage(tokens_in=1)))
    assert started.argv[-3:] == ("resume", "01a", "-")
    assert started.stdin == b"go on"


def test_a_read_only_option_tightens_the_mode() -> None:
    spec = AgentSpec("codex", AgentKind.CODEX, mode=PermissionMode.YOLO, sandbox_mode="read-only")
    assert invocation(spec, Request("x")).argv[6:8] == ("--sandbox", "read-only")


def test_what_a_commit_writes_to_is_inside_its_walls() -> None:
    request = Request("x", commit_folders=("/r/.git/objects", "/r/.git/worktrees/k7f2"))
    argv = list(invocation(AgentSpec("codex", AgentKind.CODEX), request).argv)
    assert argv[argv.index("--add-dir") :] == [
        *["--add-dir", "/r/.git/objects", "--add-dir", "/r/.git/worktrees/k7f2", "-"],
    ]
    reading = AgentSpec("codex", AgentKind.CODEX, mode=PermissionMode.INTERACTIVE)
    assert "--add-dir" not in invocation(reading, request).argv
