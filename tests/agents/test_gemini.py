"""Gemini CLI's flags and events."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from gitticks.agents.base import AgentSpec, Ended, EndReason, PermissionHook, Request
from gitticks.agents.gemini import GeminiReader, invocation
from gitticks.errors import GitticksError
from gitticks.model.settings import AgentKind, PermissionMode
from gitticks.model.task import Ending, Usage
from tests.support.agents import DATA, NOW, fixture, read_fixture


def test_a_good_session_is_clean_and_its_pieces_are_joined() -> None:
    report = read_fixture(GeminiReader(), "gemini-ok.jsonl")
    assert report.ending is Ending.CLEAN
    assert report.messages == ("I look first.", "Done.\n<promise>COMPLETE</promise>")
    assert report.usage == Usage(tokens_in=200, tokens_out=100, seconds=1.5)
    assert (report.cached_tokens, report.cost, report.model) == (60, None, "gemini-2.5-flash")


def test_thoughts_are_counted_though_only_the_total_has_them() -> None:
    reader = GeminiReader()
    stats = {"total_tokens": 1300, "input_tokens": 200, "output_tokens": 100, "cached": 0}
    reader.feed(json.dumps({"type": "result", "status": "success", "stats": stats}))
    assert reader.usage == Usage(tokens_in=200, tokens_out=1100)


def test_a_denied_tool_is_reported() -> None:
    report = read_fixture(GeminiReader(), "gemini-denied.jsonl")
    assert (report.ending, report.denied) == (Ending.CLEAN, ("run_shell_command: make test",))


def test_an_end_without_a_result_is_a_crash_though_the_exit_code_is_0() -> None:
    reader = GeminiReader()
    for line in fixture("gemini-ok.jsonl")[:-1]:
        reader.feed(line)
    assert reader.report(Ended(EndReason.EXITED, 0), NOW).ending is Ending.CRASHED


@pytest.mark.parametrize(
    ("name", "exit_code", "ending"),
    [("gemini-429.jsonl", 173, Ending.RATE_LIMITED), ("gemini-turns.jsonl", 53, Ending.CRASHED)],
)
def test_a_result_with_an_error_is_classified(name: str, exit_code: int, ending: Ending) -> None:
    assert read_fixture(GeminiReader(), name, exit_code=exit_code).ending is ending


@pytest.mark.parametrize(
    ("errors", "exit_code", "ending", "words"),
    [
        ((DATA / "gemini-401.stderr").read_text(), 145, Ending.START_FAILED, "bad key"),
        ((DATA / "gemini-no-login.stderr").read_text(), 41, Ending.START_FAILED, "Please set an Auth method"),
        ("", 55, Ending.START_FAILED, "exit code 55"),
        ("", 173, Ending.RATE_LIMITED, "status 429"),
        ("", 244, Ending.OUTAGE, "status 500"),
        ("Unknown argument: frobnicate", 1, Ending.START_FAILED, "Unknown argument: frobnicate"),
        ("{ broken", 1, Ending.START_FAILED, "{ broken"),
    ],
)
def test_a_failure_before_the_stream_is_read_from_stderr_and_the_exit_code(
    errors: str, exit_code: int, ending: Ending, words: str
) -> None:
    report = GeminiReader().report(Ended(EndReason.EXITED, exit_code, errors=errors), NOW)
    assert report.ending is ending
    assert words in report.detail


def test_modes_are_flags_and_the_prompt_goes_by_stdin() -> None:
    spec = AgentSpec("gemini", AgentKind.GEMINI, model="flash", mode=PermissionMode.YOLO)
    started = invocation(spec, Request("do it", session_id="s"))
    assert list(started.argv) == [
        *["gemini", "-o", "stream-json", "--skip-trust", "--approval-mode", "yolo"],
        *["-m", "flash", "--resume", "s"],
    ]
    assert started.stdin == b"do it"
    assert started.environment["GEMINI_CLI_NO_RELAUNCH"] == "true"


def test_under_auto_edit_there_is_a_shell_for_what_hands_work_over() -> None:
    started = invocation(AgentSpec("gemini", AgentKind.GEMINI), Request("do it"))
    allowed = started.argv[started.argv.index("--allowed-tools") + 1].split(",")
    assert "run_shell_command(git commit)" in allowed
    assert "run_shell_command(gt)" in allowed
    assert not any("git push" in one for one in allowed)


def test_its_hook_stands_among_the_persons_own_settings_in_a_home_of_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, folder = tmp_path / "home", tmp_path / "mailbox/gemini"
    theirs, ours = home / ".gemini", folder / ".gemini"
    (theirs / "tmp").mkdir(parents=True)
    (theirs / "projects.json").write_text("{}")
    (home / ".env").write_text("GEMINI_API_KEY=made-up\n")
    (theirs / "settings.json").write_text(
        '{"a": "http://b", // a comment\n "hooks": {"BeforeTool": [{"matcher": "x"}]}}'
    )
    monkeypatch.setenv("HOME", str(home))
    hook = PermissionHook(("gt", "hook"), 300, folder, tmp_path)
    made = invocation(AgentSpec("gemini", AgentKind.GEMINI), Request("p", hook=hook))
    assert made.environment["GEMINI_CLI_HOME"] == str(folder)
    settings = made.files[ours / "settings.json"]
    assert isinstance(settings, bytes)
    called = {"name": "gitticks", "type": "command", "command": hook.command, "timeout": 300_000}
    assert json.loads(settings) == {
        "a": "http://b",
        "hooks": {"BeforeTool": [{"matcher": "x"}, {"matcher": ".*", "hooks": [called]}]},
        "hooksConfig": {"enabled": True},
    }
    assert {path: what for path, what in made.files.items() if isinstance(what, Path)} == {
        ours / "tmp": theirs / "tmp",
        folder / ".env": home / ".env",
    }


@pytest.mark.parametrize(
    ("settings", "called"),
    [
        (None, 1),
        ('{"hooks": {"BeforeTool": [{}]}, "hooksConfig": {"enabled": false}}', 1),
        ('{"hooks": [], "hooksConfig": 3}', 1),
        ("{ broken", None),
    ],
)
def test_it_is_called_whatever_the_person_has_switched_off_and_broken_settings_stay_broken(
    settings: str | None, called: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    if settings is not None:
        (tmp_path / ".gemini").mkdir()
        (tmp_path / ".gemini/settings.json").write_text(settings)
    hook = PermissionHook(("gt", "hook"), 300, tmp_path / "own", tmp_path / "workspace")
    made = invocation(AgentSpec("gemini", AgentKind.GEMINI), Request("p", hook=hook))
    written = made.files[tmp_path / "own/.gemini/settings.json"]
    assert isinstance(written, bytes)
    if called is None:
        assert written.decode() == settings
    else:
        given = json.loads(written)
        assert (len(given["hooks"]["BeforeTool"]), given["hooksConfig"]["enabled"]) == (called, True)


@pytest.mark.parametrize(
    ("settings", "is_refused"),
    [
        ('{"hooks": {}, "hooksConfig": {"enabled": true, "disabled": []}} // fine', False),
        ('{"hooksConfig": {"enabled": false}}', True),
        ('{"hooksConfig": {"enabled": "$UNSET"}}', True),
        ('{"hooksConfig": {"disabled": ["gitticks"]}}', True),
        ('{"hooksConfig": null}', True),
        ("{ broken", True),
    ],
)
def test_a_workspace_that_may_switch_its_hook_off_is_refused(
    settings: str, is_refused: bool, tmp_path: Path
) -> None:
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini/settings.json").write_text(settings)
    request = Request("p", hook=PermissionHook(("gt", "hook"), 300, tmp_path / "own", tmp_path))
    with pytest.raises(GitticksError, match="switch off the hook") if is_refused else nullcontext():
        invocation(AgentSpec("gemini", AgentKind.GEMINI), request)
