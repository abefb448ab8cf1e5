"""The tree that is built from ruamel.yaml's events."""

from __future__ import annotations

import pytest

from gitticks.document.texts import Source
from gitticks.document.yaml_events import build_tree
from gitticks.document.yaml_read import Mapping, Sequence, loose_node
from gitticks.errors import DocumentError


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
