"""Edits are applied from the end, so that earlier offsets stay right."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitticks.document.texts import Source
from gitticks.document.yaml_edit import Change, Edit, Editor, apply_edits, splice
from gitticks.document.yaml_nodes import loose_node
from gitticks.document.yaml_read import parse_yaml
from gitticks.document.yaml_scalars import Plain, YamlValue
from gitticks.errors import DocumentError

TEXT = """\
# top
id: T-12   # the id
title: "Fix: ünïcode 🎉"

status: 'ready'   # c
labels: [a, "b"]   # flow
deps:
- T-1  # why
-   T-2
# between
- "T-3"
block: |  # head
  line1

  l4

tilde: ~
owner:   # nobody
folded: >-
  x
  y
plain: p
  q
quoted: "two
  lines"
map:
  a: 1 # one
  b: 2
flow: {a: 1,  # x
  b: 2 }
keep: |+
  x

# tail
"""
KEYS = [
    "id",
    "title",
    "status",
    "labels",
    "deps",
    "block",
    "tilde",
    "owner",
    "folded",
    "plain",
    "map",
    "keep",
    "new",
]
VALUES = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8),
    st.integers(-5, 5),
    st.lists(st.sampled_from(["T-1", "T-2", "T-3", "a", "b", "no", "x: y"]), max_size=4),
    st.dictionaries(st.sampled_from(["a", "b", "c"]), st.integers(0, 3), max_size=2),
    st.none(),
)


def test_edits_are_applied_whatever_their_order() -> None:
    assert apply_edits("abcdef", [Edit(1, 2, "BB"), Edit(4, 5, ""), Edit(0, 0, ">")]) == ">aBBcdf"


def test_a_line_is_added_below_a_text_without_a_last_line_break() -> None:
    editor = Editor("a: 1", "\r\n")
    assert apply_edits(editor.text, editor.appended("b: 2")) == "a: 1\r\nb: 2\r\n"


def difference(keys: str, value: YamlValue | None, newline: str = "\n", text: str = TEXT) -> list[str]:
    before = text.replace("\n", newline)
    after = splice(Source(before, "f"), [Change(tuple(keys.split(".")), value)], newline).text
    lines = difflib.unified_diff(before.split(newline), after.split(newline), n=0, lineterm="")
    return [line for line in lines if line[:3] not in ("---", "+++") and line[:2] != "@@"]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("keys", "value", "lines"),
    [
        ("id", "T-13", ["-id: T-12   # the id", "+id: T-13   # the id"]),
        ("title", "012", ['-title: "Fix: ünïcode 🎉"', '+title: "012"']),
        ("status", "review", ["-status: 'ready'   # c", "+status: review   # c"]),
        ("labels", ["a", "b", "no"], ['-labels: [a, "b"]   # flow', '+labels: [a, "b", "no"]   # flow']),
        ("labels", ["b"], ['-labels: [a, "b"]   # flow', '+labels: ["b"]   # flow']),
        ("labels", ["a"], ['-labels: [a, "b"]   # flow', "+labels: [a]   # flow"]),
        ("labels", [], ['-labels: [a, "b"]   # flow', "+labels: []   # flow"]),
        ("labels", "one", ['-labels: [a, "b"]   # flow', "+labels: one   # flow"]),
        ("labels", None, ['-labels: [a, "b"]   # flow']),
        ("deps", ["T-1", "T-2", "T-3", "x"], ["+- x"]),
        ("deps", ["T-2", "T-3"], ["-- T-1  # why"]),
        ("deps", ["T-1", "T-3"], ["--   T-2"]),
        ("deps", ["T-3", "T-1"], ["-- T-1  # why", "--   T-2", "+- T-3  # why", "+-   T-1", '-- "T-3"']),
        ("deps", ["x"], ["-- T-1  # why", "--   T-2", "+- x  # why", '-- "T-3"']),
        ("block", "one", ["-block: |  # head", "-  line1", "-", "-  l4", "+block: one  # head"]),
        ("block", "line1\n\nl5\n", ["-  l4", "+  l5"]),
        (
            "block",
            "a\n\u202eb\n",
            ["-block: |  # head", "-  line1", "-", "-  l4", '+block: "a\\n\\u202eb\\n"  # head'],
        ),
        ("block", None, ["-block: |  # head", "-  line1", "-", "-  l4"]),
        ("tilde", 3, ["-tilde: ~", "+tilde: 3"]),
        ("owner", "bob: x", ["-owner:   # nobody", '+owner: "bob: x"   # nobody']),
        ("owner", None, ["-owner:   # nobody"]),
        ("folded", "z", ["-folded: >-", "-  x", "-  y", "+folded: z"]),
        ("plain", "z", ["-plain: p", "-  q", "+plain: z"]),
        ("quoted", "z", ['-quoted: "two', '-  lines"', "+quoted: z"]),
        ("map.a", 7, ["-  a: 1 # one", "+  a: 7 # one"]),
        ("map.c", True, ["+  c: true"]),
        ("map.b", None, ["-  b: 2"]),
        ("map", {"z": 1}, ["-map:", "-  a: 1 # one", "-  b: 2", "+map: {z: 1}"]),
        ("flow.a", 9, ["-flow: {a: 1,  # x", "+flow: {a: 9,  # x"]),
        ("flow.b", None, ["-flow: {a: 1,  # x", "-  b: 2 }", "+flow: {a: 1  # x", "+   }"]),
        ("flow.c", ["y"], ["-  b: 2 }", '+  b: 2, c: ["y"] }']),
        ("keep", None, ["-keep: |+", "-  x"]),
        ("new", "no", ['+new: "no"']),
        ("tilde.x.z", 0.5, ["-tilde: ~", "+tilde: {x: {z: 0.5}}"]),
        ("new.deep.key", Plain("30m"), ["+new: {deep: {key: 30m}}"]),
        ("absent", None, []),
        ("map.absent", None, []),
    ],
)
def test_only_the_lines_of_the_value_change(
    keys: str, value: YamlValue | None, lines: list[str], newline: str
) -> None:
    assert difference(keys, value, newline) == lines


def test_emptied_lists_and_mappings() -> None:
    assert difference("deps", [])[-1] == "+deps: []"
    assert difference("map.a", None, text="map:\n  a: 1\nb: 2\n") == ["-  a: 1"]
    assert difference("map.a", None, text="map: {a: 1}\n") == ["-map: {a: 1}", "+map: {}"]
    assert difference("map.a", 1, text="map: {}\n") == ["-map: {}", "+map: {a: 1}"]


def test_a_new_key_follows_the_last_one_and_precedes_trailing_comments() -> None:
    assert splice(Source("a: 1\n# tail\n", "f"), [Change(("b",), 2)], "\n").text == "a: 1\nb: 2\n# tail\n"
    assert splice(Source("a: 1", "f"), [Change(("b",), 2)], "\n").text == "a: 1\nb: 2\n"
    assert splice(Source("# only\n", "f"), [Change(("b",), 2)], "\n").text == "# only\nb: 2\n"
    assert splice(Source("{a: 1}\n", "f"), [Change(("b",), 2)], "\n").text == "{a: 1, b: 2}\n"


def test_blank_lines_that_belong_to_a_kept_block_stay_its_own() -> None:
    text = "a: |+\n  x\n\n\n"
    assert splice(Source(text, "f"), [Change(("b",), 2)], "\n").text == text + "b: 2\n"


@pytest.mark.parametrize(
    ("text", "value", "after"),
    [
        ("a: [\n  x,  # one\n  y,\n  z,\n]\n", ["x"], "a: [\n  x,  # one\n  \n]\n"),
        ("a: [\n  x,  # one\n  y,\n  z\n]\n", ["x"], "a: [\n  x  # one\n  \n]\n"),
        ("a: [v,  # one\n  x, y, z]\n", ["v", "y"], "a: [v,  # one\n  y]\n"),
        ("a: [x, y, z,]\n", ["x", "w"], "a: [x, w,]\n"),
    ],
)
def test_the_last_items_of_a_flow_list_go_and_the_comments_before_them_stay(
    text: str, value: list[str], after: str
) -> None:
    assert splice(Source(text, "f"), [Change(("a",), value)], "\n").text == after


def test_comments_between_the_items_of_a_flow_list_stay() -> None:
    text = "a: [x, # one\n  y, # two\n  z]\n"
    assert difference("a", ["x", "z"], text=text) == ["-  y, # two", "+   # two"]


@pytest.mark.parametrize(("text", "keys"), [("a: word\n", "a.b"), ("a: [x]\n", "a.b"), ("? a\n: b\n", "a.c")])
def test_a_value_is_not_turned_into_a_mapping(text: str, keys: str) -> None:
    with pytest.raises(DocumentError, match="cannot be changed in place") as caught:
        difference(keys, 1, text=text)
    assert caught.value.hint


def test_explicit_keys_are_understood() -> None:
    assert difference("a", "z", text="? a\n: b\nc: d\n") == ["-: b", "+: z"]
    assert difference("a", None, text="? a\n: b\nc: d\n") == ["-? a", "-: b"]


@given(
    st.lists(
        st.tuples(st.sampled_from([*KEYS, "new", "other"]), VALUES), max_size=5, unique_by=lambda one: one[0]
    )
)
@settings(max_examples=100)
def test_changes_made_together_are_as_one_after_the_other(
    changes: list[tuple[str, YamlValue | None]],
) -> None:
    together = splice(Source(TEXT, "f"), [Change((key,), value) for key, value in changes], "\n")
    text = TEXT
    for key, value in changes:
        text = splice(Source(text, "f"), [Change((key,), value)], "\n").text
    # Only on which side of a blank line a new key stands may differ.
    assert [*filter(None, together.text.split("\n"))] == [*filter(None, text.split("\n"))]
    assert together.tree == parse_yaml(Source(together.text, "f"))
    assert loose_node(together.tree) == loose_node(parse_yaml(Source(text, "f")))


@given(st.lists(st.tuples(st.sampled_from(KEYS), VALUES), max_size=4), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=60)
def test_a_sequence_of_changes_touches_no_other_key(
    changes: list[tuple[str, YamlValue | None]], newline: str
) -> None:
    before = Source(TEXT.replace("\n", newline), "f")
    after = splice(before, [Change((key,), value) for key, value in changes], newline)
    touched = {key for key, _ in changes}
    old, new = loose_node(parse_yaml(before)), loose_node(parse_yaml(before._replace(text=after.text)))
    assert isinstance(old, dict)
    assert isinstance(new, dict)
    assert {key: item for key, item in old.items() if key not in touched} == {
        key: item for key, item in new.items() if key not in touched
    }
    assert [line for line in ("# top", "# tail") if line not in after.text] == []
    assert newline == "\n" or after.text.count("\n") == after.text.count("\r\n")
