"""The short cut gives exactly the tree that ruamel.yaml's events give, or nothing."""

from __future__ import annotations

import os

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitticks.document.texts import Source
from gitticks.document.yaml_events import build_tree
from gitticks.document.yaml_read import MOST_LINES, Mapping, parse_simple
from tests.support.hostile_yaml import TAILS, VALUES, documents

IS_FULL = os.environ.get("GITTICKS_DOSE") == "full"
FRAGMENTS = (
    st.sampled_from(
        [
            "a",
            "b_c",
            ":",
            ": ",
            " ",
            "  ",
            "#",
            " # c",
            '"',
            "'",
            "[",
            "]",
            "{",
            "}",
            ", ",
            ",",
            "x",
            "012",
            "-",
            "- ",
        ]
    )
    | st.sampled_from(
        [
            "2026-11-22T10:02:03Z",
            "é",
            "\u2028",
            "\x85",
            "\t",
            "|",
            ">",
            "&",
            "*",
            "!",
            "%",
            "@",
            "?",
            "~",
            "/",
            ".",
        ]
    )
    | st.sampled_from(["a: b", "k: [x, y]", "m: {a: 1, b: x:y}", 'q: "z"', "\n", "\r\n", "---", "..."])
)


@given(st.lists(FRAGMENTS, max_size=14).map("".join))
@settings(max_examples=100_000 if IS_FULL else 300)
@example("a: [x, y:z]\n")
@example("a: {by: Ada, at: 2026-11-22T10:02:03Z}\n")
@example('a: {by: "x, }y"}\n')
@example("a: b -c &d *e !f %g @h\n")
@example("a: x  # c\nb:   y\n\n# z\n")
@example("a: .\nb: ..\nc: ...\n")
@example("a: []\nb: {}\nc: ''\n")
@example("a: b\r\n# c\r\nc: d")
@example("a: /x:y\n")
@example('a: [x y, "z, w", v:w]\n')
@example("a: {by: Ada Lovelace, at: x y:z}\n")
@example("a: (x) [y] {z} #\n")
@example("a: x#y `z` \\ — 🎉\n")
@example("a: é\n")
@example("a: x: y\n")
@example("a: x,y\n")
def test_the_short_cut_agrees_with_the_parser(text: str) -> None:
    found = parse_simple(text)
    if found is not None:
        assert build_tree(Source(text, "f")) == found


@given(text=documents)
@settings(max_examples=30_000 if IS_FULL else 500)
def test_the_short_cut_agrees_with_the_parser_about_what_others_write(text: str) -> None:
    found = parse_simple(text)
    if found is not None:
        assert build_tree(Source(text, "f")) == found


@pytest.mark.parametrize("tail", TAILS if IS_FULL else ["", " ", " # a"])
@pytest.mark.parametrize("gap", [" ", "  ", "\t"])
def test_every_hostile_value_is_read_as_by_the_parser_or_left_to_it(gap: str, tail: str) -> None:
    for value in VALUES:
        text = f"a:{gap}{value}{tail}\nb: c\n"
        found = parse_simple(text)
        assert found is None or build_tree(Source(text, "f")) == found, text


@pytest.mark.parametrize(
    "line",
    [
        "title: Fix the parser, quickly (and well)",
        'title: "no: way"',
        "labels: [a, b-c]",
        "labels: []",
        "approval: {by: Ada, at: 2026-11-22T10:02:03Z, head: abcd, strength: L0}",
        'agent_sessions: {claude: "x y"}',
        "pr: https://example.org/pull/1",
        "created: 2026-11-22T10:02:03Z",
        "status: working  # now",
    ],
)
def test_what_gitticks_writes_takes_the_short_cut(line: str) -> None:
    assert isinstance(parse_simple(f"id: a1\n{line}\n"), Mapping)


@pytest.mark.parametrize(
    "text", ["a: 1\na: 2\n", "m: {a: 1, a: 2}\n", "a:\n", "a: |\n  b\n", "a: 'b'\n", "a: b\n  c\n"]
)
def test_the_rest_is_left_to_the_parser(text: str) -> None:
    assert parse_simple(text) is None


def test_many_lines_are_left_to_the_parser_which_counts_its_parts() -> None:
    lines = [f"{'a' * number}: b" for number in range(1, MOST_LINES + 2)]
    assert parse_simple("\n".join(lines[:-1])) is not None
    assert parse_simple("\n".join(lines)) is None


@pytest.mark.parametrize("part", ["é", "a ", "a:b", '"', ", ", "x, ", "{a: b, ", "[a, ", "a: b, "])
@pytest.mark.parametrize("lead", ["a: ", "a: [", "a: {", "a: {b: "])
def test_a_long_line_costs_no_more_than_its_length(lead: str, part: str) -> None:
    assert parse_simple(lead + part * 5000 + ": \\") is None


NESTED = (
    'imported: {run: {session_id: s1, num_turns: 3}, assignee: ["@a", b c], x: [], y: {}, url: [https://a.b/c]}',
    'a: [[x], [y, {b: "c: d", stateReason: e}]] # f',
)


@pytest.mark.parametrize("text", NESTED)
def test_what_an_import_writes_in_brackets_inside_brackets_is_read(text: str) -> None:
    assert parse_simple(text) == build_tree(Source(text, "f")) is not None


@given(
    st.lists(
        st.sampled_from(["a", "b: ", "run: ", *"{}[]':-@#~,", ", ", '"x"', " ", "x y", "1", " # ", "null"]),
        max_size=12,
    )
)
@settings(max_examples=5000 if IS_FULL else 300)
def test_brackets_of_any_nesting_are_read_as_ruamel_does_or_not_at_all(parts: list[str]) -> None:
    for text in (f"k: [{''.join(parts)}]", f"k: {{{''.join(parts)}}}"):
        tree = parse_simple(text)
        if tree is not None:
            assert tree == build_tree(Source(text, "f"))
