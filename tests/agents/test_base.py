from __future__ import annotations

from gitticks.agents.base import AgentReport
from gitticks.model.task import Ending, Usage


def test_a_session_counts_once_and_costs_what_the_agent_told_else_what_was_reckoned() -> None:
    used = Usage(tokens_in=5, cost=0.1, seconds=2.0)
    assert AgentReport(Ending.CLEAN, usage=used).spent == Usage(1, 5, 0, 0.1, 2.0)
    assert AgentReport(Ending.CLEAN, usage=used, cost=0.5).spent == Usage(1, 5, 0, 0.5, 2.0)
    assert AgentReport(Ending.CLEAN, usage=used, cost=0.0).spent.cost == 0.0
