"""The guard: what is refused before a tree exists, with its place, and in bounded time."""

from __future__ import annotations

import os
import re

import pytest
from hypothesis import example, given, settings
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from gitticks.document.texts import Source
from gitticks.document.yaml_read import Loose, Mapping, loose_node, parse_yaml
from gitticks.errors import DocumentError
from tests.support.hostile_yaml import documents

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
