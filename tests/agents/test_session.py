"""A whole session: a stand-in client, the supervisor and the reader."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitticks.agents.base import AgentReport, AgentSpec, Limits, Request
from gitticks.agents.process import StopRequest
from gitticks.agents.registry import invoke
from gitticks.agents.session import run_agent
from gitticks.model.settings import AgentKind
from gitticks.model.task import Ending
from tests.support.agents import DATA, NOW, asked_of, fake_client, python_agent
from tests.support.waiting import LONGEST_SECONDS

ENVIRONMENT = {"PATH": os.environ["PATH"]}


def run(
    spec: AgentSpec, folder: Path, texts: list[str] | None = None, stop: StopRequest | None = None
) -> AgentReport:
    return run_agent(
        invoke(spec, Request("do it ✓", session_id="s1")),
        workspace=folder,
        environment=ENVIRONMENT,
        limits=Limits(total_seconds=LONGEST_SECONDS, grace_seconds=LONGEST_SECONDS),
        now=lambda: NOW,
        stop=stop,
        on_text=([] if texts is None else texts).append,
    )


@pytest.mark.parametrize("kind", [AgentKind.CLAUDE, AgentKind.CODEX, AgentKind.GEMINI, AgentKind.OPENCODE])
def test_a_client_is_asked_and_understood(tmp_path: Path, kind: AgentKind) -> None:
    stdout = (DATA / f"{kind.value}-ok.jsonl").read_text()
    program = fake_client(tmp_path, kind.value, stdout=stdout, stderr="a warning\n")
    texts: list[str] = []
    report = run(AgentSpec(kind.value, kind, (str(program),)), tmp_path, texts)
    assert report.ending is Ending.CLEAN
    assert report.text.endswith("<promise>COMPLETE</promise>")
    assert "".join(texts).endswith("<promise>COMPLETE</promise>")
    asked = asked_of(tmp_path, kind.value)
    assert asked["stdin"] == "do it ✓"
    assert isinstance(asked["argv"], list)
    assert "s1" in asked["argv"]


def test_a_client_that_fails_before_it_speaks_never_started(tmp_path: Path) -> None:
    program = fake_client(
        tmp_path, "claude", stderr="No conversation found with session ID: s1\n", exit_code=1
    )
    report = run(AgentSpec("claude", AgentKind.CLAUDE, (str(program),)), tmp_path)
    assert (report.ending, report.detail) == (
        Ending.START_FAILED,
        "No conversation found with session ID: s1",
    )


def test_a_private_key_is_shown_in_neither_output(tmp_path: Path) -> None:
    marker, body = "PRIVATE KEY", "MIIEowIBAAKCAQEA0Z3VS5JJcds3xfn+ygWyF8PbnGy0AHB7MhgwMbRvI0MBZhpI"
    text = f"-----BEGIN {marker}-----\\n{body}\\n{body}\\n-----END {marker}-----\\n"
    argv, seen = ("sh", "-c", f"printf -- '{text}'; printf -- '{text}' >&2"), list[str]()
    report = run_agent(
        invoke(AgentSpec("mine", AgentKind.COMMAND, argv), Request("x")),
        workspace=tmp_path,
        environment=ENVIRONMENT,
        limits=Limits(total_seconds=LONGEST_SECONDS),
        now=lambda: NOW,
        on_text=seen.append,
        on_line=seen.append,
    )
    assert report.ending is Ending.CLEAN
    assert sum("(masked private key)" in text for text in seen) >= 4
    assert body not in "".join((*seen, report.text))


def test_a_missing_program_is_a_failed_start(tmp_path: Path) -> None:
    report = run(AgentSpec("claude", AgentKind.CLAUDE, ("no-such-claude",)), tmp_path)
    assert report.ending is Ending.START_FAILED
    assert report.detail == "cannot start `no-such-claude`: no such file or directory"


def test_a_stopped_session_is_stopped_and_keeps_its_words(tmp_path: Path) -> None:
    stop = StopRequest()
    lines = (DATA / "claude-ok.jsonl").read_text().splitlines()[:2]
    argv = python_agent(
        tmp_path, f"import time\nfor line in {lines!r}: print(line, flush=True)\ntime.sleep(600)"
    )
    spec = AgentSpec("claude", AgentKind.CLAUDE, argv)
    invocation = invoke(spec, Request("x"))
    report = run_agent(
        invocation,
        workspace=tmp_path,
        environment=ENVIRONMENT,
        limits=Limits(grace_seconds=LONGEST_SECONDS),
        now=lambda: NOW,
        stop=stop,
        on_text=lambda _text: stop.request(),
    )
    assert (report.ending, report.messages) == (Ending.STOPPED, ("I look at the parser first.",))
