"""The rules as OpenCode's configuration has them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gitticks.agents.opencode import permission_config
from gitticks.model.settings import PermissionMode, PermissionRule
from gitticks.workflow.permissions import Answer, Operation, PolicyLayer

WRITE, SHELL = Operation.FILE_WRITE, Operation.SHELL


def decided(config: Any, tool: str, target: str) -> str | None:
    """Returns what OpenCode makes of it: of the patterns that match, the last one counts."""
    said = config if isinstance(config, str) else config.get(tool, config.get("*"))
    if isinstance(said, str) or said is None:
        return said
    found = None
    for pattern, answer in said.items():
        if re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), target):
            found = answer
    return found


def layer(**given: Any) -> PolicyLayer:
    return PolicyLayer("config.yaml", **given)


@pytest.mark.parametrize("mode", list(PermissionMode))
@pytest.mark.parametrize(
    ("rule", "tool", "refused", "other"),
    [
        (PermissionRule(SHELL, commands=("rm -rf", "sudo")), "bash", "rm -rf x", "git status"),
        (PermissionRule(SHELL, commands=("sudo",)), "bash", "sudo make", "git log"),
        (PermissionRule(SHELL, commands=("git log",)), "bash", "git log -1", "git status"),
        (PermissionRule(WRITE, paths=(".env",)), "edit", "api/.env", "api/env.py"),
        (PermissionRule(WRITE, paths=("**/.env",)), "edit", ".env", "env"),
        (PermissionRule(WRITE, paths=(".github/**",)), "edit", ".github/ci.yml", "src/main.go"),
        (PermissionRule(WRITE, paths=("./Makefile",)), "edit", "Makefile", "lib/Makefile"),
        (PermissionRule(WRITE, paths=("src",)), "edit", "src/a/b.py", "lib/a.py"),
        (
            PermissionRule(Operation.NETWORK, hosts=("*.evil.org",)),
            "webfetch",
            "https://a.evil.org/x",
            "https://b.org/",
        ),
        (PermissionRule(Operation.FILE_READ, paths=("secrets",)), "read", "secrets/key", "readme"),
        (PermissionRule(WRITE, paths=("a/**/b",)), "edit", "a/b", "a/c"),
        (PermissionRule(WRITE, paths=("a/**/b",)), "edit", "a/x/y/b", "b"),
        (PermissionRule(Operation.FILE_READ, paths=("/etc/x",)), "read", "../../../etc/x", "x"),
        (PermissionRule(Operation.FILE_READ, paths=("~/.ssh",)), "read", "../../.ssh/id", ".ssh/id"),
        (PermissionRule(Operation.FILE_READ, paths=("/etc/**",)), "read", "../../etc/a/b", "etc/a"),
    ],
    ids=lambda one: (
        "-".join(one.commands or one.paths or one.hosts) if isinstance(one, PermissionRule) else ""
    ),
)
def test_what_a_rule_denies_is_denied_in_every_mode_and_nothing_else(
    mode: PermissionMode, rule: PermissionRule, tool: str, refused: str, other: str
) -> None:
    config = permission_config(mode, ("git status", "git log"), (layer(deny=(rule,)),))
    assert decided(config, tool, refused) == "deny"
    assert decided(config, tool, other) == decided(
        permission_config(mode, ("git status", "git log")), tool, other
    )


def test_a_rule_allows_a_command_but_not_over_one_that_denies() -> None:
    allow = (PermissionRule(SHELL, commands=("go test", "rm")),)
    deny = (PermissionRule(SHELL, commands=("rm",)),)
    config = permission_config(PermissionMode.AUTO_EDIT, (), (layer(allow=allow, deny=deny),))
    assert decided(config, "bash", "go test ./...") == "allow"
    assert decided(config, "bash", "go vet") == "deny"
    assert decided(config, "bash", "rm x") == "deny"


def test_where_the_default_denies_only_rules_allow_and_the_mailbox_stays_open() -> None:
    allow = (PermissionRule(SHELL, commands=("go test",)),)
    config = permission_config(PermissionMode.YOLO, ("git",), (layer(allow=allow, default=Answer.DENY),))
    assert decided(config, "bash", "go test ./...") == "allow"
    assert decided(config, "bash", "git push") == "deny"
    assert decided(config, "edit", "src/a.py") == "deny"
    assert decided(config, "edit", ".gt/TASK.md") == "allow"


def test_a_rule_without_patterns_is_about_all() -> None:
    config = permission_config(PermissionMode.YOLO, (), (layer(deny=(PermissionRule(Operation.NETWORK),)),))
    assert decided(config, "webfetch", "https://a.org/") == "deny"
    assert decided(config, "bash", "ls") == "allow"
