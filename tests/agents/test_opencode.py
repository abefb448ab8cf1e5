"""OpenCode's flags and events."""

from __future__ import annotations

import json

import pytest

from gitticks.agents.base import AgentSpec, Ended, EndReason, Request
from gitticks.agents.opencode import OpencodeReader, invocation
from gitticks.model.settings import AgentKind, PermissionMode
from gitticks.model.task import Ending, Usage
from tests.support.agents import NOW, fixture, read_fixture


def test_a_good_session_adds_up_its_steps() -> None:
    report = read_fixture(OpencodeReader(), "opencode-ok.jsonl")
    assert report.ending is Ending.CLEAN
    assert report.messages == ("I look first.", "Done.\n<promise>COMPLETE</promise>")
    assert report.session_id == "ses_dff760cecffessBze6mIsmZrX2"
    assert report.usage == Usage(tokens_in=200, tokens_out=100, cost=0.000346, seconds=1.5)
    assert (report.cost, report.cached_tokens) == (0.000346, 60)


def test_a_run_that_a_denied_permission_ended_is_no_success() -> None:
    report = read_fixture(OpencodeReader(), "opencode-denied.jsonl")
    assert (report.ending, report.denied) == (Ending.CRASHED, ("write: /w/a.txt",))
    assert report.detail == "stopped because it was not allowed: write: /w/a.txt"


@pytest.mark.parametrize(
    ("name", "exit_code", "ending"),
    [
        ("opencode-401.jsonl", 1, Ending.START_FAILED),
        ("opencode-429.jsonl", 1, Ending.RATE_LIMITED),
        ("opencode-refused.jsonl", 0, Ending.REFUSED),
    ],
)
def test_errors_are_classified(name: str, exit_code: int, ending: Ending) -> None:
    assert read_fixture(OpencodeReader(), name, exit_code=exit_code).ending is ending


def test_a_rate_limit_tells_when_to_try_again() -> None:
    report = read_fixture(OpencodeReader(), "opencode-429.jsonl", exit_code=1)
    assert report.retry_after_seconds == 7
    assert report.resets_at is not None
    assert (report.resets_at - NOW).total_seconds() == 7


def test_silence_within_a_step_is_a_time_out_and_between_two_the_services() -> None:
    reader = OpencodeReader()
    reader.feed(fixture("opencode-ok.jsonl")[0])
    report = reader.report(Ended(EndReason.IDLE, signal=15), NOW)
    assert (report.ending, report.detail) == (Ending.TIMED_OUT, "printed nothing for `limits.idle`")
    report = read_fixture(OpencodeReader(), "opencode-denied.jsonl", exit_code=None, reason=EndReason.IDLE)
    assert (report.ending, report.detail) == (Ending.OUTAGE, "its service did not answer for `limits.idle`")


@pytest.mark.parametrize(
    ("mode", "flags", "permission"),
    [
        (PermissionMode.INTERACTIVE, [], {"edit": "ask", "bash": "ask"}),
        (
            PermissionMode.AUTO_EDIT,
            [],
            {
                "edit": "allow",
                "bash": {
                    "*": "deny",
                    "git add*": "allow",
                    "git commit*": "allow",
                    "git diff*": "allow",
                    "git log*": "allow",
                    "git mv*": "allow",
                    "git rm*": "allow",
                    "git show*": "allow",
                    "git status*": "allow",
                    "gt*": "allow",
                },
            },
        ),
        (PermissionMode.AUTO_ALL, ["--auto"], {"edit": "allow", "bash": "allow"}),
        (PermissionMode.YOLO, ["--auto"], "allow"),
    ],
)
def test_modes_are_permissions(mode: PermissionMode, flags: list[str], permission: object) -> None:
    started = invocation(AgentSpec("opencode", AgentKind.OPENCODE, mode=mode), Request("x"))
    assert list(started.argv) == ["opencode", "run", "--format", "json", *flags]
    assert json.loads(started.environment["OPENCODE_CONFIG_CONTENT"])["permission"] == permission


@pytest.mark.parametrize(("model", "asked"), [("m", "p/m"), ("other/m", "other/m")])
def test_a_provider_stands_before_a_bare_model(model: str, asked: str) -> None:
    spec = AgentSpec("opencode", AgentKind.OPENCODE, model=model, provider="p")
    assert invocation(spec, Request("x", session_id="ses_1")).argv[-4:] == ("-m", asked, "--session", "ses_1")
