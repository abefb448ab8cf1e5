"""Changes of config.yaml: one value, with every comment kept, or nothing at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.document.settings import file_layer, get, set_value
from gitticks.errors import DocumentError, GitticksError
from tests.document.whole_settings import WHOLE, settings_of


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
        ("agents.mine.depth", None, ", depth: 3}", "}"),
        (
            "agents.new.type",
            "command",
            "provider: x, depth: 3}\n",
            "provider: x, depth: 3}\n  new: {type: command}\n",
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
