"""What an agent sees of the runner's environment."""

from __future__ import annotations

import pytest

from gitticks.agents.base import agent_environment
from gitticks.model.settings import AgentKind

OUTER = {
    "PATH": "/bin",
    "HOME": "/home/ada",
    "LC_ALL": "C.UTF-8",
    "ANTHROPIC_API_KEY": "a",
    "OPENAI_API_KEY": "o",
    "DATABASE_PASSWORD": "d",
    "GIT_DIR": "/elsewhere",
    "GITTICKS_TASK": "other",
}


def test_a_client_sees_the_common_variables_and_its_own() -> None:
    seen = agent_environment(AgentKind.CLAUDE, ("ANTHROPIC_",), OUTER, {"GITTICKS_TASK": "k7f2"})
    assert set(seen) == {"PATH", "HOME", "LC_ALL", "ANTHROPIC_API_KEY", "GITTICKS_TASK"}
    assert seen["GITTICKS_TASK"] == "k7f2"


@pytest.mark.parametrize("kind", [AgentKind.COMMAND, AgentKind.SCRIPT])
def test_a_command_sees_all_but_gits_and_gitticks_own(kind: AgentKind) -> None:
    assert set(agent_environment(kind, (), OUTER, {})) == set(OUTER) - {"GIT_DIR", "GITTICKS_TASK"}
