"""The embedded agent, run for real."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitticks.agents.base import AgentReport, AgentSpec, Limits, Request
from gitticks.agents.registry import invoke
from gitticks.agents.session import run_agent
from gitticks.errors import GitticksError
from gitticks.model.settings import AgentKind
from gitticks.model.task import Ending
from tests.support.agents import NOW
from tests.support.waiting import LONGEST_SECONDS

SPEC = AgentSpec("script", AgentKind.SCRIPT)


def run(folder: Path, *blocks: str) -> AgentReport:
    return run_agent(
        invoke(SPEC, Request("", script=blocks)),
        workspace=folder,
        environment={"PATH": os.environ["PATH"]},
        limits=Limits(total_seconds=LONGEST_SECONDS),
        now=lambda: NOW,
    )


def test_blocks_run_in_their_order_each_in_a_shell_of_its_own(tmp_path: Path) -> None:
    report = run(
        tmp_path, "x=1; cd /\necho one", 'echo "two $x"\npwd\n', "cat; echo '<promise>COMPLETE</promise>'"
    )
    assert report.ending is Ending.CLEAN
    assert report.messages == ("one", "two ", str(tmp_path), "<promise>COMPLETE</promise>")


def test_the_first_failing_command_ends_it(tmp_path: Path) -> None:
    report = run(tmp_path, "echo one", "echo two\nfalse\necho three", "echo four")
    assert report.messages == ("one", "two")
    assert (report.ending, report.detail) == (Ending.CRASHED, "exit code 1")


def test_quotes_and_dollars_in_a_block_are_the_blocks_own(tmp_path: Path) -> None:
    assert run(tmp_path, "printf '%s\\n' \"a'b\" '$x' \"`echo c`\"").messages == ("a'b", "$x", "c")


def test_a_task_without_blocks_is_refused() -> None:
    with pytest.raises(GitticksError, match="there is no `sh` block under `## Script`"):
        invoke(SPEC, Request("x"))
