"""The split is exact and says what is wrong, and where."""

from __future__ import annotations

import frontmatter
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.document.frontmatter import FrontmatterHandler, split
from gitticks.document.texts import decode
from gitticks.document.yaml_edit import Change
from gitticks.errors import DocumentError


@pytest.mark.parametrize(
    ("text", "yaml", "body"),
    [
        ("---\nid: a\n---\nbody\n", "id: a\n", "body\n"),
        ("\ufeff---\r\nid: a\r\n---\r\nbody", "id: a\r\n", "body"),
        ("---\rid: a\r---\rbody", "id: a\r", "body"),
        ("--- \t\nid: a\n---  \n", "id: a\n", ""),
        ("---\nid: a\n---", "id: a\n", ""),
        ("---\nid: |\n  ---\n---\n---\nx\n", "id: |\n  ---\n", "---\nx\n"),
        ('---\nid: "a\n ---"\n---\n', 'id: "a\n ---"\n', ""),
        ("---\nid: a ---\nb: c\n----: d\n---\n", "id: a ---\nb: c\n----: d\n", ""),
    ],
)
def test_the_closing_fence_stands_at_the_first_column(text: str, yaml: str, body: str) -> None:
    found = split(text.encode(), "f")
    assert (found.yaml, found.body) == (yaml, body)
    assert found.text == text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "f:1:1: there is no frontmatter"),
        (b"id: a\n", "f:1:1: there is no frontmatter"),
        (b"\n---\nid: a\n---\n", "f:1:1: there is no frontmatter"),
        (b"----\nid: a\n---\n", "f:1:1: there is no frontmatter"),
        (b"---\nid: a\n", "f:1:1: the frontmatter has no end"),
        (b"---\nid: a\n ---\n", "f:1:1: the frontmatter has no end"),
        (b"---\n---\n", "f:2:1: the frontmatter is empty"),
        (b"---\n# only\n---\n", "f:2:1: the frontmatter is empty"),
        (b"---\n- a\n---\n", "f:2:1: this is not a list of `key: value` lines"),
        (b"---\nid: a\nb\xff: 1\n---\n", "f:3:2: this is not UTF-8"),
        (b"---\nid: a\n---\nb\0\n", "f:4:2: the file contains a NUL character"),
        (
            b"---\nid: a\n<<<<<<< ours\nb: 1\n---\n",
            "f:3:1: the YAML contains the conflict markers of a merge",
        ),
        (b"---\nid: a\n<<<<<<< ours\nb: 1\n", "f:3:1: the YAML contains the conflict markers of a merge"),
        (b"<<<<<<< ours\n---\n", "f:1:1: the YAML contains the conflict markers of a merge"),
        (b"---\nid: [a\n---\n", "f:2:5: "),
        (b"---\na: " + b"x" * 64_000 + b"\n---\n", "f:2:1: the YAML is longer than 64 kB"),
        (b"---\nid: a\n---\n" + b"x" * 1_000_000, "f: the file is larger than 1 MB"),
        (b"---\nid: a\n---\n" + b"\n" * 20_000, "f: the file is larger than 20000 lines"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(data: bytes, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        split(data, "f")
    assert str(caught.value).startswith(message)
    assert caught.value.hint


def test_conflict_markers_in_the_body_are_text() -> None:
    assert split(b"---\nid: a\n---\n<<<<<<< ours\n", "f").body == "<<<<<<< ours\n"


def test_the_body_knows_its_line() -> None:
    assert split(b"---\r\nid: a\r\n---\r\nbody", "f").body_source.first_line == 4


def test_a_change_leaves_fences_and_body() -> None:
    text = "\ufeff--- \r\nid: a\r\n---\t\r\n---\r\nid: b"
    changed = split(text.encode(), "f").with_changes([Change(("id",), "z"), Change(("more",), 1)])
    assert changed.text == "\ufeff--- \r\nid: z\r\nmore: 1\r\n---\t\r\n---\r\nid: b"


def test_the_handler_is_one_of_python_frontmatter() -> None:
    text = "---\nid: a\nhandler: [b, {content: 'no'}]\n---\nbody"
    fields = {"id": "a", "handler": ["b", {"content": "no"}]}
    assert FrontmatterHandler("f").detect(text)
    assert frontmatter.parse(text, handler=FrontmatterHandler("f")) == (fields, "body")
    with pytest.raises(DocumentError, match="this is not a list of `key: value` lines"):
        frontmatter.parse("---\nonly a word\n---\n", handler=FrontmatterHandler("f"))
    with pytest.raises(DocumentError, match="there is no frontmatter"):
        frontmatter.parse("body\n---\nid: a\n---\n", handler=FrontmatterHandler("f"))


@given(st.binary(max_size=200))
def test_any_bytes_are_text_or_an_error_with_a_place(data: bytes) -> None:
    try:
        text = decode(data, "f")
    except DocumentError as error:
        line = error.line
    else:
        assert text.encode() == data
        return
    assert line is not None
