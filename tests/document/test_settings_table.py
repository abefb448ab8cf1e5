"""The table covers every setting, and says of each which value is stricter."""

from __future__ import annotations

from typing import Any

import pytest

from gitticks.document.settings import find_setting, get, parse_value
from gitticks.document.settings_layers import flag_layer, merge_layers
from gitticks.document.settings_table import ANY, BY_NAME, SETTINGS, known_keys, pattern_of
from gitticks.model.settings import AgentSettings, Price, ReviewerSettings, Settings


def leaves(group: Any, above: str = "") -> set[str]:
    names: set[str] = set()
    for key, value in group._asdict().items():
        name = f"{above}{key}"
        names |= leaves(value, f"{name}.") if hasattr(value, "_asdict") else {name}
    return names


def test_every_field_of_the_settings_has_a_row() -> None:
    rows = {setting.name for setting in SETTINGS if ANY not in setting.name}
    assert rows == leaves(Settings()) - {"agents", "prices"}
    assert set(known_keys(f"agents.{ANY}")) == set(AgentSettings._fields)
    assert set(known_keys(f"prices.{ANY}")) == set(Price._fields)


def test_every_row_has_one_line_of_explanation() -> None:
    for setting in SETTINGS:
        assert setting.explanation
        assert "\n" not in setting.explanation
        assert not setting.explanation.endswith(".")


def test_variables_are_distinguished() -> None:
    names = [name.replace(".", "_").upper() for name in BY_NAME if ANY not in name]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("keys", "pattern"),
    [
        (("parallel",), "parallel"),
        (("budget", "run", "cost"), "budget.run.cost"),
        (("agents", "claude", "model"), "agents.*.model"),
        (("agents", "claude", "provider"), "agents.*.provider"),
        (("prices", "gpt-5.1", "input"), "prices.*.input"),
    ],
)
def test_users_words_stand_for_any(keys: tuple[str, ...], pattern: str) -> None:
    assert pattern_of(keys) == pattern


GUARDED = (
    "human",
    "review",
    "reviewers",
    "council",
    "verify",
    "approvals",
    "merge",
    "sandbox",
    "permissions",
)


@pytest.mark.parametrize(
    ("name", "stricter", "looser"),
    [
        ("human", "always", "when-required"),
        ("review", "agent", "none"),
        ("review", "council", "agent"),
        ("council.rule", "any", "majority"),
        ("verify.test", "make test", "true"),
        ("verify.test", "make test", "null"),
        ("verify.build", "make", ""),
        ("verify.committed", "true", "false"),
        ("verify.retries", "0", "3"),
        ("merge.mode", "manual", "queue"),
        ("merge.on_conflict", "stuck", "return"),
        ("sandbox.preset", "strict", "permissive"),
        ("sandbox.preset", "permissive", "none"),
        ("sandbox.max_process_time", "1m", "5m"),
        ("permissions.mode", "interactive", "auto-edit"),
        ("permissions.mode", "auto-all", "yolo"),
        ("permissions.default", "deny", "ask"),
        ("permissions.default", "ask", "allow"),
        ("permissions.timeout", "1m", "1h"),
        ("approvals.minimum", "L2", "L1"),
        ("approvals.allowed_signers", "signers", "null"),
        ("approvals.four_eyes", "true", "false"),
    ],
)
def test_what_guards_something_is_never_loosened(name: str, stricter: str, looser: str) -> None:
    wanted = get(merge_layers([flag_layer({name: stricter})]).settings, name)
    kept = merge_layers([flag_layer({name: stricter}), flag_layer({name: looser})])
    assert get(kept.settings, name) == wanted
    assert [one.name for one in kept.overruled] == [name]
    if name.startswith("verify.") and find_setting(name)[0].kind.is_nullable and looser == "true":
        return
    assert (
        get(merge_layers([flag_layer({name: looser}), flag_layer({name: stricter})]).settings, name) == wanted
    )


@pytest.mark.parametrize(
    ("name", "earlier", "later", "together"),
    [
        (
            "reviewers",
            "[{name: r1}]",
            "[{name: r1, focus: x}, {name: r2}]",
            (ReviewerSettings("r1"), ReviewerSettings("r2")),
        ),
        ("verify.scripts", "[a, b]", "[b, c]", ("a", "b", "c")),
        ("sandbox.denied_paths", "[a]", "[b]", ("a", "b")),
        ("sandbox.denied_hosts", "[a]", "[]", ("a",)),
        ("sandbox.allowed_paths", "[a, b]", "[b, c]", ("b",)),
        ("sandbox.allowed_hosts", "[a]", "[]", ()),
        ("merge.strategy", "squash", "rebase", "rebase"),
        ("merge.push", "true", "false", False),
        ("approvals.allowed_signers", "theirs", "mine", "theirs"),
    ],
)
def test_lists_and_what_has_no_stricter_side(name: str, earlier: str, later: str, together: object) -> None:
    merged = merge_layers([flag_layer({name: earlier}), flag_layer({name: later})])
    assert get(merged.settings, name) == together


def test_rules_of_all_places_are_united_since_each_place_is_judged_by_itself() -> None:
    shell, reading = "{operation: shell, commands: [make]}", "{operation: file_read, paths: [a]}"
    first = flag_layer({"permissions.deny": f"[{shell}]", "permissions.allow": f"[{shell}, {reading}]"})
    second = flag_layer({"permissions.deny": f"[{reading}]", "permissions.allow": f"[{reading}]"})
    permissions = merge_layers([first, second]).settings.permissions
    assert [rule.operation for rule in permissions.deny] == ["shell", "file_read"]
    assert [rule.operation for rule in permissions.allow] == ["shell", "file_read"]


@pytest.mark.parametrize(
    ("name", "stricter", "looser"),
    [
        ("human", "always", "when-required"),
        ("review", "agent", "none"),
        ("reviewers", "[{name: a}, {name: b}]", "[{name: b}]"),
        ("council.rule", "any", "majority"),
        ("verify.test", "make test", "null"),
        ("verify.scripts", "[a, b]", "[b]"),
        ("verify.committed", "true", "false"),
        ("budget.run.cost", "20", "20.5"),
        ("budget.run.cost", "20", "null"),
        ("budget.task.tokens", "1000", "null"),
        ("parallel", "3", "4"),
        ("isolation", "epic", "none"),
        ("merge.mode", "manual", "pull-request"),
        ("merge.mode", "manual", "queue"),
        ("merge.push", "false", "true"),
        ("sandbox.preset", "strict", "permissive"),
        ("sandbox.allowed_hosts", "[a]", "[b, a]"),
        ("sandbox.denied_paths", "[a, b]", "[a]"),
        ("setup.copy", "[]", "[.env]"),
        ("permissions.mode", "auto-edit", "auto-all"),
        ("permissions.deny", "[{operation: network}]", "[]"),
        ("permissions.allow", "[]", "[{operation: network}]"),
        ("approvals.minimum", "L2", "L1"),
        ("approvals.four_eyes", "true", "false"),
        ("sync.auto", "off", "push"),
        ("sync.auto", "push", "both"),
        ("keep.rescued", "90d", "1s"),
    ],
)
def test_what_loosens_a_rule_costs_more_or_sends_something_out_is_asked_about(
    name: str, stricter: str, looser: str
) -> None:
    setting, keys = find_setting(name)
    before, after = (parse_value(setting, keys, text, "here") for text in (stricter, looser))
    assert setting.loosens(before, after)
    assert not setting.loosens(after, before)
    assert not setting.loosens(before, before)


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("base", "main", "release"),
        ("agent", "claude", "codex"),
        ("reviewers", "[{name: a}]", "[{name: a, focus: x}]"),
        ("prices.m.input", "3", "2"),
        ("workspace.dir", "a", "b"),
        ("merge.mode", "queue", "pull-request"),
        ("approvals.allowed_signers", "signers", "null"),
    ],
)
def test_where_no_value_is_stricter_any_other_is_asked_about(name: str, one: str, other: str) -> None:
    setting, keys = find_setting(name)
    first, second = (parse_value(setting, keys, text, "here") for text in (one, other))
    assert setting.loosens(first, second)
    assert setting.loosens(second, first)
    assert not setting.loosens(first, first)


@pytest.mark.parametrize(
    "name", ["limits.idle", "iterations", "review_limit", "claims.lease", "merge.strategy"]
)
def test_what_changes_no_rule_is_not_asked_about(name: str) -> None:
    assert not BY_NAME[name].loosens(get(Settings(), name), object())


def test_only_the_guarded_groups_have_a_stricter_side() -> None:
    found = [setting for setting in SETTINGS if setting.combine is not None]
    assert {one.keys[0] for one in found} == {*GUARDED, "agents"}
    assert [one.name for one in found if one.keys[0] == "agents"] == ["agents.*.mode"]
