"""The guard: what is refused before a tree exists, with its place, and in bounded time."""

from __future__ import annotations

import os
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from gitticks.document.texts import Source
from gitticks.document.yaml_events import build_tree
from gitticks.document.yaml_nodes import Loose, Mapping, Sequence, loose_node
from gitticks.document.yaml_read import MOST_LINES, parse_simple, parse_yaml
from gitticks.errors import DocumentError
from tests.support.hostile_yaml import TAILS, VALUES, documents

LAUGHS = "a0: &a0 [l,l]\n" + "".join(f"a{n}: &a{n} [*a{n - 1},*a{n - 1}]\n" for n in range(1, 9))


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        (LAUGHS, "1:5", "anchors and aliases"),
        ("a: *b\n", "1:4", "anchors and aliases"),
        ("a: !!str b\n", "1:4", "tags are not allowed"),
        ("a: !!python/object/apply:os.system [id]\n", "1:4", "tags are not allowed"),
        ("a: ! b\n", "1:4", "tags are not allowed"),
        ("a: !x {}\n", "1:4", "tags are not allowed"),
        ("a: 1\nb: 2\na: 3\n", "3:1", "`a` is already set on line 1"),
        ("m: {x: 1, x: 2}\n", "1:11", "`x` is already set on line 1"),
        ("%YAML 1.1\n---\na: 1\n", "1:1", "directives"),
        ("%TAG ! foo\n---\na: 1\n", "1:1", "directives"),
        ("a: 1\n---\nb: 2\n", "2:1", "second YAML document"),
        ("a: 1\n...\nb: 2\n", "3:1", "second YAML document"),
        ("- a\n", "1:1", "not a list of `key: value`"),
        ("word\n", "1:1", "not a list of `key: value`"),
        ("[a]: 1\n", "1:1", "a key must be a word"),
        ("a: b: c\n", "1:5", "mapping values are not allowed here"),
        ('a: "b\n', "1:4", "is never closed"),
        ("a: 1\n\tb: 2\n", "2:1", "found character"),
        ("a: \x01\n", "1:4", "the character U+0001 is not allowed"),
        ('a: "\\ud800"\n', "1:4", "contains an invalid character"),
        ('a: "\\0"\n', "1:4", "contains an invalid character"),
        ('a: "\\UFFFFFFFF"\n', "1:1", "this is not YAML"),
        ("a: " + "[" * 2000 + "]" * 2000 + "\n", "1:1", "more than 500 `[`"),
        ("a: " + "{" * 2000 + "}" * 2000 + "\n", "1:1", "more than 500 `{`"),
        ("a: " + "[" * 400 + "]" * 400 + "\n", "1:20", "nested deeper than 16"),
        ("".join(" " * n + "k:\n" for n in range(300)), "17:17", "nested deeper than 16"),
        ("- " * 20_000 + "x", "1:35", "nested deeper than 16"),
        ("a: [" + "a," * 6000 + "]\n", "1:9999", "more than 5000 parts"),
        ("a: " + "b" * 64_000, "1:1", "longer than 64 kB"),
        ("a: " + "é" * 32_000, "1:1", "longer than 64 kB"),
    ],
)
def test_refusals_name_the_place(text: str, place: str, problem: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_yaml(Source(text, "f"))
    assert str(caught.value).startswith(f"f:{place}: ")
    assert problem in caught.value.problem
    assert caught.value.hint


def test_the_column_is_exact() -> None:
    with pytest.raises(DocumentError) as caught:
        parse_yaml(Source("id: a\nmore: !x b\n", "f", first_line=2))
    assert str(caught.value) == "f:3:7: tags are not allowed"


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n"])
def test_nothing_is_no_tree(text: str) -> None:
    assert parse_yaml(Source(text, "f")) is None


def test_values_keep_their_text_and_place() -> None:
    text = "id: 012   # why\nempty:   # none\nblock: |\n  one\n\n\nflow: {a: [b, 'c']}\n"
    tree = parse_yaml(Source(text, "f"))
    assert isinstance(tree, Mapping)
    assert loose_node(tree) == {"id": "012", "empty": "", "block": "one\n", "flow": {"a": ["b", "c"]}}
    places = {pair.key.text: text[pair.value.start : pair.value.end] for pair in tree.pairs}
    assert places == {"id": "012", "empty": "", "block": "|\n  one", "flow": "{a: [b, 'c']}"}
    assert text[: tree.pairs[1].value.start].endswith("empty:")


DELIBERATE = re.compile(
    r"anchors and aliases|tags are not|directives are|a key must be|this is not a list|more than [0-9]+|nested deeper"
    r"|an invalid character|longer than|a second YAML document"
)


@pytest.mark.filterwarnings("ignore::ruamel.yaml.error.ReusedAnchorWarning")
@settings(max_examples=30_000 if os.environ.get("GITTICKS_DOSE") == "full" else 500)
@given(text=documents)
@example("a: 'x\n  y\n\n  z'\n")
@example('a: "x\\\n  y\\_\\N\\L\\P"\n')
@example("<<: {a: b}\nc: =\n")
@example("a: |+\n  b\n\n\nc: >-\n  d\n   e\n  f\n")
@example("a: b\r\nc:\r\n- d\r\n- e\r\n")
@example("a: b\x85c: d\n  e\n f: [\n")
def test_texts_are_those_that_ruamel_reads_and_so_are_refusals(text: str) -> None:
    expected, lines = _by_ruamel(text)
    found = _read(text)
    if not isinstance(found, DocumentError):
        assert lines is None
        assert found == (expected or {})
        return
    assert found.hint
    if DELIBERATE.search(found.problem) is None:
        assert lines is not None
        assert not lines or found.line in lines or "already set" in found.problem


def _by_ruamel(text: str) -> tuple[object, set[int] | None]:
    """Returns the texts that ruamel reads, or the lines that its refusal names, as far as it names any."""
    try:
        return YAML(typ="base", pure=True).load(text), None
    except MarkedYAMLError as error:
        marks = [mark for mark in (error.problem_mark, error.context_mark) if mark is not None]
        return None, {Source(text, "f").line(mark.index) for mark in marks}
    except (YAMLError, ValueError):
        return None, set()


def _read(text: str) -> Loose | DocumentError:
    try:
        return loose_node(parse_yaml(Source(text, "f")))
    except DocumentError as error:
        return error


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


def test_collections_end_at_their_last_visible_character() -> None:
    text = "list:\n- a\n- b\n\n# note\nmap:\n  x: 1\n\n"
    tree = build_tree(Source(text, "f"))
    assert isinstance(tree, Mapping)
    listed, mapped = tree.get("list"), tree.get("map")
    assert isinstance(listed, Sequence)
    assert text[listed.start : listed.end] == "- a\n- b"
    assert mapped is not None
    assert text[mapped.start : mapped.end] == "x: 1"


def test_yaml_1_2_words_stay_text() -> None:
    tree = build_tree(Source("a: no\nb: 0o14\nc: 1:30\nd: 2026-11-22\n", "f"))
    assert loose_node(tree) == {"a": "no", "b": "0o14", "c": "1:30", "d": "2026-11-22"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a: 1\ntitle: "abc\nb: 2\n', 'f:2:8: the `"` here is never closed'),
        ("a: 1\ntitle: 'abc\nb: 2\n", "f:2:8: the `'` here is never closed"),
        ("labels: [a, b\n", "f:1:9: the `[` here is never closed"),
        ("a: 1\nlabels: [\n# end\n", "f:2:9: the `[` here is never closed"),
        ("a: 1\nlabels: [x,\n", "f:2:9: the `[` here is never closed"),
        ("x: {a: b\n", "f:1:4: the `{` here is never closed"),
    ],
)
def test_what_is_never_closed_is_named_where_it_was_opened(text: str, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        build_tree(Source(text, "f"))
    assert caught.value.message == message


@pytest.mark.parametrize("text", ["a: b: c\n", "version: 1\n parallel: 3\n"])
def test_a_key_that_is_indented_too_far_is_not_taken_for_a_value_alone(text: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_yaml(Source(text, "TASK.md"))
    assert caught.value.hint == (
        "indent the key as the one above it, or put the value in double quotes if the colon is part of it"
    )
