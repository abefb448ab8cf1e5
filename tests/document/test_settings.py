"""config.yaml: every default, exact errors, and changes that keep its comments."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.document.settings import (
    Layer,
    explain,
    file_layer,
    get,
    names,
    require_writable,
    set_value,
    show,
)
from gitticks.document.settings_layers import merge_layers
from gitticks.errors import DocumentError, GitticksError, UsageError
from gitticks.model.settings import (
    AgentKind,
    AgentSettings,
    PermissionMode,
    Price,
    PromptWay,
    ReviewerSettings,
    Settings,
)
from tests.document.whole_settings import WHOLE, settings_of


def test_no_file_means_the_defaults() -> None:
    for text in ("", "# nothing\n", "version: 1\n", "verify:\nlimits: {}\nreview: null\n"):
        assert settings_of(text) == Settings()


def test_the_whole_file_with_its_defaults_written_out() -> None:
    found = settings_of(WHOLE)
    assert found == Settings(
        agents={
            "claude": AgentSettings(mode=PermissionMode.AUTO_EDIT, fallback=("codex",)),
            "mine": AgentSettings(
                type=AgentKind.COMMAND,
                argv=("./agent.sh",),
                prompt=PromptWay.FILE,
                provider="x",
            ),
        },
        reviewers=(ReviewerSettings("correctness", "claude", "bugs"),),
        prices={"gpt-5.1": Price(1.0, 2.5)},
    )


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "agents: {claude: {model: --yolo}}",
            "c:1:26: `agents.claude.model` cannot be passed to an agent's program: '--yolo'",
            "does not begin with `-`",
        ),
        ("verfy: 1", "c:1:1: there is no setting `verfy`", "did you mean `verify`?"),
        ("a: 1\nzzz: 2", "c:1:1: there is no setting `a`", "the keys here are version, base"),
        (
            "agents: {codex: {sandbox: strict}}",
            "c:1:18: there is no setting `agents.codex.sandbox`",
            "did you mean `sandbox_mode`?",
        ),
        ("verify: {tset: x}", "c:1:10: there is no setting `verify.tset`", "did you mean `test`?"),
        (
            "budget:\n  run:\n    csot: 1",
            "c:3:5: there is no setting `budget.run.csot`",
            "did you mean `cost`?",
        ),
        ("merge: queue", "c:1:8: `merge` is not a mapping: 'queue'", "write `merge: {mode: …}`"),
        (
            "agents: {claude: opus}",
            "c:1:18: `agents.claude` is not a mapping: 'opus'",
            "write `claude: {type: …}`",
        ),
        (
            "iterations: 0",
            "c:1:13: `iterations` is not a whole number from 1 up: '0'",
            "write `iterations: 1`",
        ),
        (
            "iterations: many",
            "c:1:13: `iterations` is not a whole number from 1 up: 'many'",
            "write `iterations: 1`",
        ),
        (
            "agents: {mine: {type: comand}}",
            "c:1:23: `agents.mine.type` is not one of claude, codex, gemini, amp, opencode, command, script: 'comand'",
            "did you mean `command`?",
        ),
        ("parallel: 100", "c:1:11: `parallel` is not a number from 1 to 64: '100'", "write `parallel: 64`"),
        ("limits: {prompt: 1}", "c:1:18: `limits.prompt` is less than 10kB: '1'", "limits.prompt: 10kB"),
        (
            "limits: {idle: soon}",
            "c:1:16: `limits.idle` is not a duration: 'soon'",
            "write 90s, 30m, 2h, 14d",
        ),
        ("limits: {output: 3 XB}", "c:1:18: `limits.output` is not a size: '3 XB'", "write 64MB, 200kB"),
        (
            "human: allways",
            "c:1:8: `human` is not one of always, when-required: 'allways'",
            "did you mean `always`?",
        ),
        (
            "merge: {push: maybe}",
            "c:1:15: `merge.push` is not true or false: 'maybe'",
            "write `merge.push: true`",
        ),
        ("verify: {scripts: make}", "c:1:19: `verify.scripts` is not a list: 'make'", "[one, two]"),
        ("version: two", "c:1:10: `version` is not a whole number from 1 up: 'two'", "write `version: 1`"),
        ("version: 0", "c:1:10: `version` is not a whole number from 1 up: '0'", "write `version: 1`"),
        ("review: agent\nreview: none", "c:2:1: `review` is already set on line 1", "delete one of the two"),
        ("- a", "c:1:1: this is not a list of `key: value` lines", "write `key: value`"),
        ("<<<<<<< ours\nreview: none", "c:1:1: the YAML contains the conflict markers", "keep the lines"),
    ],
)
def test_errors_name_line_and_column(text: str, message: str, hint: str) -> None:
    with pytest.raises(DocumentError) as caught:
        file_layer(text, "c")
    assert str(caught.value).startswith(message)
    assert caught.value.hint is not None
    assert hint in caught.value.hint


def test_a_newer_format_is_read_as_far_as_possible_and_never_written() -> None:
    layer = file_layer("version: 2\nparallel: 7\nbrand_new: {x: 1}\nhuman: sometimes\n", "c")
    assert layer.is_read_only
    assert merge_layers([layer]).settings.parallel == 7
    assert merge_layers([layer]).is_read_only
    assert [warning.split(" ")[0] for warning in layer.warnings] == ["c:3:1:", "c:4:8:"]
    with pytest.raises(DocumentError, match="format 2") as caught:
        require_writable(layer)
    assert caught.value.hint == "`pipx upgrade gitticks`"  # as the README installs it
    with pytest.raises(DocumentError, match="format 2"):
        set_value("version: 2\n", "parallel", "3")
    require_writable(Layer())


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("parallel", 3, "3"),
        ("base", None, "null"),
        ("budget.run.cost", 20.0, "20.0"),
        ("limits.awaiting", 86_400, "1d"),
        ("limits.prompt", 200_000, "200kB"),
        ("verify.committed", True, "true"),
        ("verify.scripts", (), "[]"),
        ("sync.auto", "off", "off"),
        ("agents.unheard.model", None, "null"),
        ("agents.unheard.provider", None, "null"),
        ("prices.unheard.input", None, "null"),
    ],
)
def test_values_are_got_by_name_and_shown_as_written(name: str, value: object, shown: str) -> None:
    assert get(Settings(), name) == value
    assert show(name, value) == shown


def test_names_lists_what_has_a_value() -> None:
    found = names(settings_of(WHOLE))
    assert {"agents.claude.mode", "agents.mine.provider", "notify"} <= set(found)
    assert "prices.gpt-5.1.output" in found
    assert not any("*" in name for name in found)
    for name in found:
        assert show(name, get(settings_of(WHOLE), name))
        assert explain(name)


@pytest.mark.parametrize(
    "name", ["verify", "verfy.test", "verify.tset", "agents", "agents.claude", "", ".", "a\x1bb"]
)
def test_unknown_names_are_refused(name: str) -> None:
    calls: list[Callable[[], object]] = [
        lambda: get(Settings(), name),
        lambda: explain(name),
        lambda: set_value("", name, "1"),
    ]
    for call in calls:
        with pytest.raises(UsageError) as caught:
            call()
        assert caught.value.hint
        assert "\x1b" not in caught.value.message


@given(st.text(st.sampled_from("ab:{}[], \n-#'\"verify test limits idle 30m&*!|"), max_size=60))
def test_any_file_is_settings_or_an_error(text: str) -> None:
    try:
        merge_layers([file_layer(text, "c")])
    except DocumentError as error:
        message = str(error)
    else:
        return
    assert message.startswith("c:")


@pytest.mark.parametrize(
    ("name", "value", "before", "after"),
    [
        (
            "verify.test",
            "make test",
            "verify: {test: null, build: null",
            "verify: {test: make test, build: null",
        ),
        ("verify.test", "no", "verify: {test: null, build: null", 'verify: {test: "no", build: null'),
        ("base", "trunk", "base: null                     #", "base: trunk                     #"),
        ("budget.run.cost", "null", "cost: 20.0", "cost: null"),
        ("sync.auto", "push", 'sync: {auto: "off"}', "sync: {auto: push}"),
        ("merge.push", "yes", "push: false", "push: true"),
        ("limits.iteration", "2h", "iteration: 30m", "iteration: 2h"),
        ("setup.copy", "[.env, a b]", "setup: {copy: [], run", "setup: {copy: [.env, a b], run"),
        (
            "agents.claude.fallback",
            "[codex, script]",
            "fallback: [codex]}   # more",
            "fallback: [codex, script]}   # more",
        ),
        ("agents.mine.provider", None, ", provider: x}", "}"),
        (
            "agents.new.type",
            "command",
            "provider: x}\n",
            "provider: x}\n  new: {type: command}\n",
        ),
        ("prices.gpt-5.1.cached", "0.5", "output: 2.5}", "output: 2.5, cached: 0.5}"),
        ("base", None, "base: null                     # where approved work is merged\n", ""),
    ],
)
def test_setting_changes_one_value(name: str, value: str | None, before: str, after: str) -> None:
    assert before in WHOLE
    assert set_value(WHOLE, name, value) == WHOLE.replace(before, after)


@pytest.mark.parametrize(
    ("text", "name", "value", "after"),
    [
        ("", "verify.test", "x", "version: 1\nverify: {test: x}\n"),
        ("", "version", "1", "version: 1\n"),
        ("version: 1\n", "sync.auto", "off", 'version: 1\nsync: {auto: "off"}\n'),
        (
            "# mine\nverify:\n  # why\n  test: a\n",
            "verify.build",
            "b",
            "# mine\nverify:\n  # why\n  test: a\n  build: b\n",
        ),
        ("verify:\n  test: a\nparallel: 2\n", "verify.test", None, "verify:\nparallel: 2\n"),
        ("verify:   # later\n", "verify.test", "a", "verify: {test: a}   # later\n"),
        ("\ufeffparallel: 2\r\n", "iterations", "4", "\ufeffparallel: 2\r\niterations: 4\r\n"),
        ("parallel: 2\n", "iterations", None, "parallel: 2\n"),
        (
            "reviewers:\n- {name: a}  # first\n",
            "reviewers",
            "[{name: a}, {name: b}]",
            "reviewers:\n- {name: a}  # first\n- {name: b}\n",
        ),
        ("version: 1\n", "reviewers", "{name: a}", "version: 1\nreviewers: [{name: a}]\n"),
        ("version: 1\n", "reviewers", "ada", "version: 1\nreviewers: [ada]\n"),
        ("version: 1\n", "setup.copy", "{a,b}.txt", 'version: 1\nsetup: {copy: ["{a,b}.txt"]}\n'),
    ],
)
def test_setting_makes_parents_and_keeps_comments(
    text: str, name: str, value: str | None, after: str
) -> None:
    assert set_value(text, name, value) == after
    file_layer(after)


@pytest.mark.parametrize(
    ("text", "name", "value", "after"),
    [
        ("parallel: 99\nhuman: no\n", "parallel", "9", "parallel: 9\nhuman: no\n"),
        ("parallel: 99\nhuman: no\n", "human", None, "parallel: 99\n"),
        ("parallel: 99\nx: 1\ny: 1\n", "parallel", "9", "parallel: 9\nx: 1\ny: 1\n"),
    ],
)
def test_mistakes_are_fixed_one_by_one(text: str, name: str, value: str | None, after: str) -> None:
    assert set_value(text, name, value) == after


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("", "parallel", "0"),
        ("", "human", "no"),
        ("x: 1\n", "parallel", "2"),
        ("parallel: [\n", "parallel", "2"),
        ("", "base", "a\0b"),
        ("", "permissions.deny", "{shell: x}"),
    ],
)
def test_what_is_wrong_is_never_written(text: str, name: str, value: str) -> None:
    with pytest.raises(DocumentError):
        set_value(text, name, value)


@given(st.text(max_size=40), st.sampled_from(["verify.test", "notify", "setup.run", "agents.a b.model"]))
def test_any_text_is_set_and_read_back_or_refused(value: str, name: str) -> None:
    try:
        text = set_value(WHOLE, name, value)
    except GitticksError:
        return
    expected = None if value.strip() in ("", "null") else value
    assert get(settings_of(text), name) == expected
    assert settings_of(set_value(text, name, None))._replace(agents={}) == settings_of(WHOLE)._replace(
        agents={}
    )
