"""The table of known agents."""

from __future__ import annotations

import pytest

from gitticks.agents.base import AgentKind, AgentSpec, Request
from gitticks.agents.presets import CLIENTS, DEFAULT_ORDER, PRESETS, granted_mode, invoke
from gitticks.model.settings import PermissionMode


def test_every_kind_has_its_preset() -> None:
    assert set(PRESETS) == set(AgentKind)
    assert all(preset.kind is kind for kind, preset in PRESETS.items())
    assert set(DEFAULT_ORDER) < set(CLIENTS)


@pytest.mark.parametrize("kind", CLIENTS)
@pytest.mark.parametrize("mode", list(PermissionMode))
def test_no_agent_gets_a_looser_mode_than_asked_for(kind: AgentKind, mode: PermissionMode) -> None:
    order = list(PermissionMode)
    assert order.index(granted_mode(PRESETS[kind], mode)) <= order.index(mode)


def test_a_mode_that_an_agent_lacks_falls_to_the_next_stricter_with_a_warning() -> None:
    started = invoke(AgentSpec("gemini", AgentKind.GEMINI, mode=PermissionMode.AUTO_ALL), Request("x"))
    assert started.argv[started.argv.index("--approval-mode") + 1] == "auto_edit"
    assert started.warnings == ("`gemini` has no mode `auto-all`: it runs as `auto-edit`",)


@pytest.mark.parametrize("kind", CLIENTS)
def test_prompts_never_stand_in_the_arguments_of_a_client(kind: AgentKind) -> None:
    started = invoke(AgentSpec(kind.value, kind), Request("a secret prompt", session_id="s1"))
    assert started.stdin == b"a secret prompt"
    assert "a secret prompt" not in started.argv
    assert "s1" in started.argv


def test_amp_is_read_like_claude_and_resumed_by_its_thread() -> None:
    spec = AgentSpec("amp", AgentKind.AMP, model="high", mode=PermissionMode.YOLO)
    started = invoke(spec, Request("x", session_id="T-1"))
    assert list(started.argv) == [
        *[
            "amp",
            "threads",
            "continue",
            "T-1",
            "-x",
            "--stream-json",
            "--dangerously-allow-all",
            "--mode",
            "high",
        ]
    ]
