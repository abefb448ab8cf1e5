from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gitticks.agents.base import AgentReport, PermissionHook
from gitticks.model.task import Ending, Usage
from tests.support.waiting import LONGEST_SECONDS


def test_a_session_counts_once_and_costs_what_the_agent_told_else_what_was_reckoned() -> None:
    used = Usage(tokens_in=5, cost=0.1, seconds=2.0)
    assert AgentReport(Ending.CLEAN, usage=used).spent == Usage(1, 5, 0, 0.1, 2.0)
    assert AgentReport(Ending.CLEAN, usage=used, cost=0.5).spent == Usage(1, 5, 0, 0.5, 2.0)
    assert AgentReport(Ending.CLEAN, usage=used, cost=0.0).spent.cost == 0.0


@pytest.mark.parametrize(
    ("program", "code"),
    [("exit 0", 0), ("exit 1", 2), ("exit 70", 2), ("kill -KILL $$", 2), ("kill -INT $PPID", 2)],
)
def test_a_hook_that_does_not_end_well_refuses(program: str, code: int) -> None:
    hook = PermissionHook(("sh", "-c", program), 1, Path(), Path())
    process = subprocess.Popen(hook.command, shell=True, start_new_session=True)  # noqa: S602
    assert process.wait(LONGEST_SECONDS) == code
