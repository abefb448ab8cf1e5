"""Rules about files and hosts as walls, row by row."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from gitticks.model.audit import Decided
from gitticks.model.settings import PermissionRule, SandboxPreset, SandboxSettings
from gitticks.sandbox.walls import walls_of, with_rules
from gitticks.workflow.permissions import Answer, Operation, PolicyLayer
from tests.runner.test_permissions import DENIES, audit_of, set_up
from tests.support.hooked_clients import answers
from tests.support.repositories import commit_file
from tests.support.runs import DONE, NO_PERSON, RunProject, project

__all__ = ["project"]

WALLED = pytest.mark.debian("bubblewrap", program="bwrap")

READ, WRITE, SHELL, NETWORK = (
    Operation.FILE_READ,
    Operation.FILE_WRITE,
    Operation.SHELL,
    Operation.NETWORK,
)


def deny(operation: Operation, *patterns: str) -> PolicyLayer:
    return PolicyLayer("config.yaml", deny=(_rule(operation, patterns),), is_project=True)


def allow(operation: Operation, *patterns: str) -> PolicyLayer:
    return PolicyLayer("flags", allow=(_rule(operation, patterns),))


def _rule(operation: Operation, patterns: tuple[str, ...]) -> PermissionRule:
    kind = {SHELL: "commands", NETWORK: "hosts"}.get(operation, "paths")
    lists: dict[str, Any] = {kind: patterns}
    return PermissionRule(operation, **lists)


STRICT, PERMISSIVE = SandboxPreset.STRICT, SandboxPreset.PERMISSIVE
ROWS = [
    (STRICT, [deny(READ, "**/.env", "secrets/**", "~/notes")], {"hidden": ("**/.env", "secrets", "~/notes")}),
    (STRICT, [deny(READ, ".env")], {"hidden": ("**/.env",)}),
    (STRICT, [deny(READ, "./.env", "a/b")], {"hidden": (".env", "a/b")}),
    (STRICT, [deny(READ, "keys/**", "!keys/public")], {"hidden": ()}),
    (STRICT, [deny(READ, "**")], {"hidden": ()}),
    (STRICT, [deny(WRITE, "Makefile", ".github/**")], {"pinned": ("**/Makefile", ".github")}),
    (STRICT, [allow(WRITE, "/var/cache/x/**", "src/**", "/tmp/*.log")], {"writable": ("/var/cache/x",)}),
    (STRICT, [allow(READ, "~/shared")], {"readable": ("~/shared",)}),
    (STRICT, [allow(NETWORK, "pypi.org", "*.github.com")], {"hosts": ("pypi.org", "*.github.com")}),
    (STRICT, [allow(NETWORK)], {"hosts": ("*",)}),
    (STRICT, [allow(NETWORK), deny(NETWORK, "evil.org")], {"hosts": ("*",), "denied_hosts": ("evil.org",)}),
    (PERMISSIVE, [deny(NETWORK)], {"hosts": ()}),
    (
        PERMISSIVE,
        [PolicyLayer("x", default=Answer.DENY), allow(NETWORK, "pypi.org")],
        {"hosts": ("pypi.org",)},
    ),
    (PERMISSIVE, [], {"hosts": ("*",)}),
    (PERMISSIVE, [deny(SHELL, "sudo")], {"hosts": ("*",), "hidden": ()}),
]


@pytest.mark.parametrize(("preset", "layers", "expected"), ROWS)
def test_rules_are_walls(
    preset: SandboxPreset, layers: list[PolicyLayer], expected: dict[str, tuple[str, ...]]
) -> None:
    walls = walls_of(SandboxSettings(preset))
    assert walls is not None
    found = with_rules(walls, layers)
    assert {name: getattr(found, name) for name in expected} == expected


def test_a_project_opens_no_door_where_a_person_wants_to_be_asked() -> None:
    walls = walls_of(SandboxSettings(STRICT))
    assert walls is not None
    project = PolicyLayer("config.yaml", allow=(_rule(NETWORK, ("pypi.org",)),), is_project=True)
    assert with_rules(walls, [project]).hosts == ("pypi.org",)
    assert with_rules(walls, [project, PolicyLayer("git config", default=Answer.ASK)]).hosts == ()


@WALLED
def test_what_rules_deny_an_agent_cannot_do_behind_walls(project: RunProject) -> None:
    commit_file(project.path, "Makefile", "all:\n")
    commit_file(project.path, "keys/k", "secret\n")
    project.settings(
        f"{NO_PERSON}permissions:\n  deny:\n    - {{operation: file_write, paths: [Makefile]}}\n"
        "    - {operation: file_read, paths: ['keys/**']}\n"
    )
    project.agent(f"(echo evil >> Makefile) 2> told; cat keys/k >> told 2>&1; {DONE}")
    project.make()
    project.run("--sandbox", "strict")
    told = (project.path / "told").read_text()
    assert "secret" not in told
    assert "Read-only file system" in told
    assert "evil" not in (project.path / "Makefile").read_text()
    assert (project.path / "keys/k").read_text() == "secret\n"


@WALLED
@pytest.mark.parametrize("preset", ["strict", "permissive"])
def test_a_rule_against_writing_holds_for_paths_that_are_allowed_below_it_and_shows_nothing(
    project: RunProject, tmp_path: Path, preset: str
) -> None:
    outside, home = tmp_path / "outside", Path(os.environ["HOME"])
    for place in (outside / "allowed", tmp_path / "other", home / "notes", home / ".ssh"):
        place.mkdir(parents=True)
        (place / "file").write_text("mine\n")
    project.settings(
        f"{NO_PERSON}sandbox: {{allowed_paths: ['{outside}/allowed', '{tmp_path}/other']}}\n"
        f"permissions: {{deny: [{{operation: file_write, paths: ['{outside}/**', '~/**', '/run/**']}}]}}\n"
    )
    project.agent(
        f"for one in {outside}/allowed {tmp_path}/other; do cat $one/file > seen; touch $one/new; done 2> told\n"
        f"(cat ~/notes/file ~/.ssh/file; ls -d /run/lock) >> told 2>&1\n{DONE}"
    )
    project.make()
    ran = project.run("--sandbox", preset)
    assert (tmp_path / "other/new").exists()
    assert not (outside / "allowed/new").exists(), ran.seen
    told = (project.path / "told").read_text()
    assert "mine" not in told
    assert told.count("Read-only file system") == 1, told
    assert told.count("No such file") == len(told.splitlines()) - 1, told


@WALLED
def test_a_hook_asks_through_the_walls(project: RunProject) -> None:
    calls = (("Write", {"file_path": "{here}/.env"}), ("Bash", {"command": "ls"}))
    folder = set_up(
        project,
        "claude",
        *calls,
        settings=f"{DENIES}sandbox: {{allowed_paths: ['{project.path.parent}/client']}}\n",
    )
    project.run("--sandbox", "strict")
    assert [one for one, _ in answers(folder)] == ["deny", "none"]
    assert [one.decision for one in audit_of(project).entries] == [Decided.DENIED, Decided.ALLOWED]


@WALLED
def test_no_flag_widens_what_the_team_lists_for_the_sandbox(project: RunProject, tmp_path: Path) -> None:
    made, flag = tmp_path / "outside/made", ("--allow-paths", str(tmp_path / "outside"))
    made.parent.mkdir()
    project.settings(f"{NO_PERSON}sandbox: {{preset: strict}}\n")
    project.agent(f"touch {made} 2> told; {DONE}")
    project.make("k7f2")
    project.run(*flag)
    assert made.exists()
    made.unlink()
    project.ok("config", "sandbox.allowed_paths", "[/srv]")
    project.make("m3xq")
    ran = project.run(*flag)
    assert ran.err.count("but `sandbox.allowed_paths` of config.yaml is stricter") == 1
    assert not made.exists()
