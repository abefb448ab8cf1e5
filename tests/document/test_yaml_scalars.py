"""Text is written plain only where YAML 1.1 and 1.2 agree on it."""

from __future__ import annotations

import math
import unicodedata

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitticks.document.texts import Source
from gitticks.document.yaml_nodes import loose_node
from gitticks.document.yaml_read import parse_yaml
from gitticks.document.yaml_scalars import Plain, YamlValue, loose, render, render_text
from gitticks.errors import GitticksError

TEXTS = st.text(
    st.one_of(
        st.characters(codec="utf-8", exclude_characters="\0"),
        st.sampled_from(" :#-?,[]{}&*!|>'\"%@`~\n\t0123456789.eExXynYN_+=<\\\u2028\x85\ufeff\u202e"),
    ),
    max_size=12,
)


@pytest.mark.parametrize(
    "text",
    [
        "no",
        "Yes",
        "on",
        "OFF",
        "y",
        "N",
        "null",
        "Null",
        "~",
        "",
        "true",
        "1",
        "012",
        "0o14",
        "0x1F",
        "1_000",
        "1e3",
        "-1.5",
        ".5",
        "+.inf",
        ".nan",
        "1:30",
        "1:30:00",
        "2026-11-22",
        "2026-11-22 10:00",
        "12e03",
        "1,000",
        "- a",
        "-",
        "? a",
        ": a",
        "a: b",
        "a:",
        "a #b",
        "#a",
        "&a",
        "*a",
        "!a",
        "|",
        ">",
        "%a",
        "@a",
        "`a`",
        "'a'",
        '"a"',
        "[a]",
        "{a}",
        " a",
        "a ",
        "a\nb",
        "a\tb",
        "---",
        "...",
        "<<",
        "=",
        "a\x07",
        "a\u202eb",
        "a\u2028",
        "\ufeffa",
    ],
)
def test_doubtful_text_is_quoted(text: str) -> None:
    assert render_text(text).startswith('"')


@pytest.mark.parametrize(
    "text",
    [
        "Fix it",
        "k7f2",
        "a:b",
        "a#b",
        "it's",
        'say "x"',
        "ünïcode 🎉",
        "a, b [c]",
        "./agent.sh",
        "abc-1.2",
        "nobody",
    ],
)
def test_plain_text_is_left_plain(text: str) -> None:
    assert render_text(text) == text


@pytest.mark.parametrize("text", ["a,b", "[a", "a]", "{a", "a}"])
def test_brackets_and_commas_are_quoted_inside_a_list(text: str) -> None:
    assert render_text(text, flow=True) == f'"{text}"'


def test_control_and_direction_characters_are_escaped() -> None:
    assert render_text('a\x1b[31m\u202e"\\\n\U000e0041') == '"a\\u001b[31m\\u202e\\"\\\\\\n\\U000e0041"'


@pytest.mark.parametrize("text", ["a\0", "\ud800"])
def test_what_no_file_can_hold_is_refused(text: str) -> None:
    with pytest.raises(GitticksError):
        render_text(text)


def test_numbers_and_collections() -> None:
    value: YamlValue = {"a": 1, "b": 0.5, "c": True, "d": ["no", Plain("null")], "e": {"f": 1e-07}}
    assert render(value) == '{a: 1, b: 0.5, c: true, d: ["no", null], e: {f: 0.0000001}}'
    for number in (math.inf, math.nan):
        with pytest.raises(GitticksError):
            render(number)


@given(TEXTS)
@settings(max_examples=200)
@example("a: b #c")
@example("1_0")
@example("=")
def test_both_versions_of_yaml_read_the_text_back(text: str) -> None:
    line = f"k: {render_text(text)}\nf: [{render_text(text, flow=True)}]\nm: {{{render_text(text, flow=True)}: x}}\n"
    tree = parse_yaml(Source(line, "f"))
    assert loose_node(tree) == {"k": text, "f": [text], "m": {text: "x"}}
    if not any(unicodedata.category(character) == "Cs" for character in text):
        assert yaml.safe_load(line) == {"k": text, "f": [text], "m": {text: "x"}}


@given(
    st.recursive(TEXTS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3))
)
def test_what_is_compared_is_what_is_read(value: str) -> None:
    assert loose_node(parse_yaml(Source(f"k: {render(value)}\n", "f"))) == {"k": loose(value)}
