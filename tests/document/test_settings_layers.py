"""Layers over one another: who wins, and where a value comes from."""

from __future__ import annotations

import pytest

from gitticks.document.settings import Layer, file_layer
from gitticks.document.settings_layers import environment_layer, flag_layer, git_layer, merge_layers
from gitticks.errors import DocumentError
from gitticks.model.settings import HumanPolicy, Price, Settings


def test_the_later_layer_wins_and_each_value_knows_its_origin() -> None:
    resolved = merge_layers(
        [
            file_layer("parallel: 1\niterations: 2\nreview_limit: 3\nbudget: {run: {cost: 1}}\n"),
            git_layer({"gitticks.parallel": "4", "gitticks.budget.run.cost": "5", "iterations": "6"}),
            environment_layer(
                {"GITTICKS_CONFIG_PARALLEL": "7", "GITTICKS_CONFIG_BUDGET_RUN_COST": "8", "PATH": "x"}
            ),
            flag_layer({"parallel": "9"}),
        ]
    )
    found = resolved.settings
    assert (found.parallel, found.budget.run.cost, found.iterations, found.review_limit) == (9, 8.0, 6, 3)
    assert resolved.origin("parallel") == "flag parallel"
    assert resolved.origin("budget.run.cost") == "GITTICKS_CONFIG_BUDGET_RUN_COST"
    assert resolved.origin("iterations") == "git config gitticks.iterations"
    assert resolved.origin("review_limit") == "config.yaml"
    assert resolved.origin("notify") == "default"
    assert resolved.overruled == ()


def test_a_default_is_no_layer() -> None:
    resolved = merge_layers(
        [git_layer({"gitticks.human": "when-required", "gitticks.permissions.mode": "yolo"})]
    )
    assert resolved.settings.human is HumanPolicy.WHEN_REQUIRED
    assert merge_layers([]).settings == Settings()


def test_the_stricter_value_stays_and_the_other_is_named() -> None:
    resolved = merge_layers(
        [file_layer("human: always\n", "config.yaml"), flag_layer({"human": "when-required"})]
    )
    assert resolved.settings.human is HumanPolicy.ALWAYS
    assert resolved.origin("human") == "config.yaml"
    (overruled,) = resolved.overruled
    assert (overruled.name, overruled.origin, overruled.by) == ("human", "flag human", "config.yaml")


@pytest.mark.parametrize(
    ("team", "own", "mode", "overruled"),
    [
        (
            "agents: {mine: {mode: auto-all}}\n",
            {"permissions.mode": "interactive"},
            "interactive",
            [],
        ),
        (
            "permissions: {mode: interactive}\n",
            {"agents.mine.mode": "yolo"},
            "interactive",
            ["flag agents.mine.mode"],
        ),
        (
            "agents: {mine: {mode: interactive}}\n",
            {"agents.mine.mode": "auto-all"},
            "interactive",
            ["flag agents.mine.mode"],
        ),
        ("permissions: {mode: interactive}\nagents: {mine: {mode: auto-all}}\n", {}, "auto-all", []),
        ("agents: {mine: {mode: auto-all}}\n", {}, "auto-all", []),
    ],
)
def test_the_mode_of_an_agent_is_the_strictest_that_any_layer_gives_for_it(
    team: str, own: dict[str, str], mode: str, overruled: list[str]
) -> None:
    resolved = merge_layers([file_layer(team), flag_layer(own)])
    assert resolved.settings.agents["mine"].mode == mode
    assert [one.origin for one in resolved.overruled] == overruled


@pytest.mark.parametrize(
    ("rule", "by"),
    [
        ("{operation: network}", "hosts"),
        ("{operation: network, hosts: [other.org]}", "hosts"),
        ("{operation: network, hosts: [example.org, pypi.org, a.npmjs.org]}", "hosts"),
        ("{operation: network, hosts: [example.org, a.npmjs.org, '*.npmjs.org']}", None),
        ("{operation: file_write, paths: [/tmp/open]}", "paths"),
        ("{operation: file_read, paths: [~/notes, /srv]}", "paths"),
        ("{operation: file_write, paths: [src/**, /srv/**, /srv/a]}", None),
        ("{operation: file_read}", None),
        ("{operation: shell, commands: [curl]}", None),
    ],
)
def test_a_rule_opens_no_more_than_the_list_of_another_layer(rule: str, by: str | None) -> None:
    listed = "allowed_hosts: [example.org, '*.npmjs.org'], allowed_paths: [/srv]"
    team = file_layer(f"sandbox: {{{listed}}}\n")
    found = merge_layers([team, flag_layer({"permissions.allow": f"[{rule}]"})]).overruled
    name = f"`sandbox.allowed_{by}` of config.yaml"
    assert [(one.name, one.is_flags, one.by) for one in found] == [("permissions.allow", True, name)] * bool(
        by
    )
    both = file_layer(f"sandbox: {{{listed}}}\npermissions: {{allow: [{rule}]}}\n")
    assert merge_layers([both]).overruled == ()


def test_united_lists_name_both_origins() -> None:
    resolved = merge_layers([file_layer("verify: {scripts: [a]}\n"), flag_layer({"verify.scripts": "b"})])
    assert resolved.settings.verify.scripts == ("a", "b")
    assert resolved.origin("verify.scripts") == "config.yaml, flag verify.scripts"
    assert resolved.overruled == ()


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("gitticks.review-limit", "review_limit"),
        ("gitticks.checkpoint-every", "checkpoint_every"),
        ("gitticks.ITERATIONS", "iterations"),
    ],
)
def test_gits_names_have_no_underscore(name: str, attribute: str) -> None:
    assert getattr(merge_layers([git_layer({name: "7"})]).settings, attribute) == 7


def test_agents_and_prices_by_name() -> None:
    resolved = merge_layers(
        [
            file_layer("agents: {mine: {type: command, argv: [a]}}\n"),
            git_layer({"gitticks.agents.mine.model": "m", "gitticks.prices.gpt-5.1.input": "1"}),
            git_layer({"gitticks.prices.gpt-5.1.output": "2"}),
            environment_layer({"GITTICKS_CONFIG_AGENTS_MINE_ARGS": "[x, y]"}),
        ]
    )
    mine = resolved.settings.agents["mine"]
    assert (mine.type, mine.argv, mine.model, mine.args) == ("command", ("a",), "m", ("x", "y"))
    assert resolved.settings.prices == {"gpt-5.1": Price(1.0, 2.0)}


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([file_layer("version: 1\nprices: {m: {input: 1}}\n", "c")], "c:2:14: `prices.m` lacks `output`"),
        (
            [git_layer({"gitticks.prices.m.cached": "1"})],
            "git config gitticks.prices.m.cached: `prices.m` lacks `input`",
        ),
    ],
)
def test_an_incomplete_price_is_an_error_where_prices_are_needed(layers: list[Layer], message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        merge_layers(layers).require_whole_prices()
    assert str(caught.value) == message


def test_a_price_may_be_set_by_two_layers() -> None:
    layers = [file_layer("prices: {m: {input: 1}}\n"), git_layer({"gitticks.prices.m.output": "2"})]
    merge_layers(layers).require_whole_prices()


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (
            lambda: git_layer({"gitticks.parallel": "x"}),
            "git config gitticks.parallel: `parallel` is not a number from 1 to 64",
        ),
        (
            lambda: git_layer({"gitticks.paralel": "1"}),
            "git config gitticks.paralel: there is no setting `paralel`",
        ),
        (
            lambda: environment_layer({"GITTICKS_CONFIG_HUMAN": "x"}),
            "GITTICKS_CONFIG_HUMAN: `human` is not one of",
        ),
        (lambda: environment_layer({"GITTICKS_CONFIG_": "x"}), "GITTICKS_CONFIG_: there is no setting ``"),
        (
            lambda: environment_layer({"GITTICKS_CONFIG_NOPE": "x"}),
            "GITTICKS_CONFIG_NOPE: there is no setting `nope`",
        ),
        (lambda: flag_layer({"human": "x"}), "flag human: `human` is not one of"),
    ],
)
def test_errors_name_the_layer(layer: object, message: str) -> None:
    assert callable(layer)
    with pytest.raises(DocumentError) as caught:
        layer()
    assert str(caught.value).startswith(message)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("approvals.allowedsigners", "approvals.allowed-signers"),
        ("prices.my_model.inputs", "prices.my_model.input"),
    ],
)
def test_a_key_that_git_spells_in_another_way_is_named_as_git_takes_it(key: str, meant: str) -> None:
    with pytest.raises(DocumentError) as caught:
        git_layer({f"gitticks.{key}": "x"})
    assert caught.value.hint == f"did you mean `gitticks.{meant}`?"


def test_a_wrong_value_of_gits_configuration_says_how_to_take_it_out() -> None:
    with pytest.raises(DocumentError) as caught:
        git_layer({"gitticks.budget.run.cost": "-4"})
    assert caught.value.hint == (
        "`gt config --explain budget.run.cost`, or `git config --unset-all gitticks.budget.run.cost`"
    )
