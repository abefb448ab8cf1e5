"""The table of known agents."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.agents.base import AgentSpec, Request
from gitticks.agents.registry import CLIENTS, DEFAULT_ORDER, PRESETS, Registry, granted_mode, invoke
from gitticks.errors import GitticksError, NotFoundError
from gitticks.model.settings import AgentKind, AgentSettings, PermissionMode, PromptWay
from tests.support.agents import fake_client, python_agent, write_program


def test_every_kind_has_its_preset() -> None:
    assert set(PRESETS) == set(AgentKind)
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


def registry(
    folder: Path, configured: dict[str, AgentSettings] | None = None, default: str | None = None
) -> Registry:
    return Registry(configured or {}, default, PermissionMode.AUTO_EDIT, {"PATH": f"{folder}:/usr/bin:/bin"})


@pytest.mark.parametrize(
    ("on_path", "expected"),
    [
        (["opencode", "gemini", "codex", "claude"], "claude"),
        (["opencode", "gemini", "codex"], "codex"),
        (["opencode", "gemini"], "gemini"),
        (["opencode"], "opencode"),
        ([], "script"),
    ],
)
def test_the_default_is_the_first_one_on_path(tmp_path: Path, on_path: list[str], expected: str) -> None:
    for name in on_path:
        fake_client(tmp_path, name)
    assert registry(tmp_path).default_spec().name == expected


def test_a_configured_default_goes_before(tmp_path: Path) -> None:
    fake_client(tmp_path, "claude")
    assert registry(tmp_path, default="gemini").default_spec().kind is AgentKind.GEMINI


def test_a_program_that_may_not_be_run_is_not_found(tmp_path: Path) -> None:
    fake_client(tmp_path, "claude").chmod(0o644)
    assert registry(tmp_path).default_spec().name == "script"


def test_the_settings_say_what_an_agent_is(tmp_path: Path) -> None:
    entry = AgentSettings(
        argv=("./agent.sh", "-q"), prompt=PromptWay.FILE, model="m", args=("-x",), fallback=("codex",)
    )
    spec = registry(tmp_path, {"mine": entry}).spec("mine")
    assert (spec.kind, spec.argv, spec.prompt) == (AgentKind.COMMAND, ("./agent.sh", "-q"), PromptWay.FILE)
    assert (spec.model, spec.args, spec.fallback, spec.mode) == (
        "m",
        ("-x",),
        ("codex",),
        PermissionMode.AUTO_EDIT,
    )


def test_a_second_entry_may_be_of_a_known_type(tmp_path: Path) -> None:
    entry = AgentSettings(type=AgentKind.CLAUDE, mode=PermissionMode.YOLO)
    spec = registry(tmp_path, {"bold": entry}).spec("bold")
    assert (spec.name, spec.kind, spec.mode) == ("bold", AgentKind.CLAUDE, PermissionMode.YOLO)


def test_an_unknown_name_suggests_near_ones(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"there is no agent `claud`; did you mean `claude`") as caught:
        registry(tmp_path).spec("claud")
    assert caught.value.hint == "`gt agents` lists the agents"
    with pytest.raises(NotFoundError, match=r"there is no agent `zzz`$"):
        registry(tmp_path, default="zzz").default_spec()


@pytest.mark.parametrize("entry", [AgentSettings(), AgentSettings(model="x")])
def test_an_agent_without_type_or_command_is_an_error(tmp_path: Path, entry: AgentSettings) -> None:
    with pytest.raises(GitticksError, match="the agent `mine` has neither `type` nor `argv`"):
        registry(tmp_path, {"mine": entry}).spec("mine")


def test_a_command_without_a_command_line_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GitticksError, match="the agent `mine` has no `argv`"):
        registry(tmp_path, {"mine": AgentSettings(type=AgentKind.COMMAND)}).spec("mine")


def test_the_list_holds_what_is_configured_or_on_path(tmp_path: Path) -> None:
    fake_client(tmp_path, "codex")
    entries = {"mine": AgentSettings(argv=("./agent.sh",)), "gemini": AgentSettings(model="flash")}
    found = {one.spec.name: (one.path, one.is_configured) for one in registry(tmp_path, entries).found()}
    assert found.pop("script")[1] is False
    assert found == {"codex": (str(tmp_path / "codex"), False), "gemini": (None, True), "mine": (None, True)}


def test_versions_are_asked_of_clients_only(tmp_path: Path) -> None:
    fake_client(tmp_path, "claude", version="2.1.197 (Claude\x1b[1m Code)")
    write_program(tmp_path / "codex", "exit 3")
    write_program(tmp_path / "mine", f"touch {tmp_path}/was-started")
    agents = registry(tmp_path, {"mine": AgentSettings(argv=(str(tmp_path / "mine"),))})
    versions = {one.spec.name: agents.version_of(one) for one in agents.found()}
    assert versions == {"claude": "2.1.197 (Claude[1m Code)", "codex": None, "script": None, "mine": None}
    assert not (tmp_path / "was-started").exists()


def test_a_client_that_does_not_answer_has_no_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitticks.agents.registry._VERSION_SECONDS", 0.3)
    hanging = " ".join(python_agent(tmp_path, "import time; time.sleep(600)"))
    write_program(tmp_path / "claude", f"exec {hanging}")
    agents = registry(tmp_path)
    assert agents.version_of(agents.found()[0]) is None
