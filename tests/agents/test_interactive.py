"""The interactive commands of agents: what made them headless is gone, and the prompt is a file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gitticks.agents.base import AgentSpec, Request
from gitticks.agents.interactive import interactive, require_interactive
from gitticks.agents.tmux import require_tmux
from gitticks.errors import GitticksError
from gitticks.model.settings import AgentKind, PermissionMode, PromptWay
from tests.support.agents import write_program

REQUEST = Request("Do it.", prompt_file="/w/.gt/prompt.md")
READ = "Read `/w/.gt/prompt.md` and do what it says."


def argv(kind: AgentKind, **more: object) -> tuple[str, ...]:
    spec = AgentSpec(kind.value, kind, mode=PermissionMode.INTERACTIVE, **more)  # type: ignore[arg-type]
    invocation = interactive(spec, REQUEST)
    assert invocation.stdin is None
    return invocation.argv


def test_clients_are_started_as_a_person_would_start_them() -> None:
    assert argv(AgentKind.CLAUDE, model="opus") == (
        "claude", READ, "--permission-mode", "default", "--model", "opus",
    )  # fmt: skip
    assert argv(AgentKind.CODEX)[:2] == ("codex", READ)
    assert {"exec", "--json", "-"}.isdisjoint(argv(AgentKind.CODEX))
    assert argv(AgentKind.GEMINI)[:3] == ("gemini", "-i", READ)
    assert {"-o", "stream-json"}.isdisjoint(argv(AgentKind.GEMINI))
    assert argv(AgentKind.OPENCODE) == ("opencode", "--prompt", READ)


def test_words_of_the_settings_are_no_headless_ones() -> None:
    assert argv(AgentKind.OPENCODE, argv=("npx", "run")) == ("npx", "run", "--prompt", READ)


def test_a_command_is_what_it_is() -> None:
    mine = {"argv": ("./mine", "-v")}
    assert argv(AgentKind.COMMAND, **mine) == ("./mine", "-v")
    assert argv(AgentKind.COMMAND, prompt=PromptWay.FILE, **mine) == ("./mine", "-v", "/w/.gt/prompt.md")
    assert argv(AgentKind.COMMAND, prompt=PromptWay.ARGUMENT, **mine) == ("./mine", "-v", "Do it.")


@pytest.mark.parametrize("kind", [AgentKind.SCRIPT, AgentKind.AMP])
def test_others_are_refused(kind: AgentKind) -> None:
    with pytest.raises(GitticksError, match="no interactive command"):
        require_interactive(AgentSpec(kind.value, kind))


def test_what_tmux_lacks_is_named_as_the_readme_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_program(tmp_path / "tmux", "true")
    monkeypatch.setitem(sys.modules, "libtmux", None)
    with pytest.raises(GitticksError, match="libtmux, which is not installed") as caught:
        require_tmux({"PATH": str(tmp_path)})
    assert caught.value.hint == "`pipx inject gitticks libtmux`"
