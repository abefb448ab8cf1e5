from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.support import gt
from tests.support.stores import make_store

CODEX = """\
#!/bin/sh
echo "codex-cli 0.169.0"
"""


@pytest.fixture(autouse=True)
def _only_codex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves codex and the system's own programs on PATH."""
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir()
    program.write_text(CODEX)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")


def test_agents_on_path_with_version_and_abilities(tmp_path: Path) -> None:
    make_store(tmp_path / "repository")
    found = json.loads(gt("agents", "--json", at=tmp_path / "repository").out)["agents"]
    codex = next(agent for agent in found if agent["name"] == "codex")
    assert codex["version"] == "codex-cli 0.169.0"
    assert codex["path"] == str(tmp_path / "bin" / "codex")
    assert codex["is_default"]
    assert codex["resumes"]
    assert "auto-edit" in codex["modes"]


def test_lines(tmp_path: Path) -> None:
    lines = gt("agents", at=tmp_path).out.splitlines()
    assert lines[0].split() == ["name", "version", "modes", "can", "path"]
    assert lines[1].startswith("codex   default  codex-cli 0.169.0  ")
    assert lines[-1].startswith("script ")


def test_configured_agents_are_listed_even_if_they_are_missing(tmp_path: Path) -> None:
    config = "version: 1\nagent: mine\nagents:\n  mine: {type: command, argv: [no-such-program]}\n"
    make_store(tmp_path / "repository", config=config)
    found = json.loads(gt("agents", "--json", at=tmp_path / "repository").out)["agents"]
    mine = next(agent for agent in found if agent["name"] == "mine")
    assert (mine["path"], mine["is_default"], mine["is_configured"]) == (None, True, True)


def test_a_program_of_the_workspace_is_named_as_the_settings_name_it(tmp_path: Path) -> None:
    config = "version: 1\nagents:\n  mine: {type: command, argv: [./agent.sh]}\n"
    make_store(tmp_path / "repository", config=config)
    found = json.loads(gt("agents", "--json", at=tmp_path / "repository").out)["agents"]
    assert next(agent["path"] for agent in found if agent["name"] == "mine") == "./agent.sh"


def test_an_incomplete_agent_is_named_with_its_place_and_the_others_are_listed(tmp_path: Path) -> None:
    config = "version: 1\nagents:\n  mine:\n    model: x\n  other: {type: command}\n"
    make_store(tmp_path / "repository", config=config)
    ran = gt("agents", at=tmp_path / "repository")
    assert [line.split()[0] for line in ran.out.splitlines()] == ["name", "codex", "script"]
    assert "config.yaml:4:5: the agent `mine` has neither `type` nor `argv`" in ran.err
    assert "config.yaml:5:11: the agent `other` has no `argv`" in ran.err
    assert ran.code == 0
    found = json.loads(gt("doctor", "--json", at=tmp_path / "repository").out)["findings"]
    assert "config.yaml:4:5: the agent `mine` has neither `type` nor `argv`" in [one["what"] for one in found]
