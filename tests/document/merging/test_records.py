"""Lines of JSON: all of both sides, each once, in the order of their times."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.document.merging.records import merge_records


def lines(*times: str) -> bytes:
    return "".join(f'{{"at":"{time}"}}\n' for time in times).encode()


LINES = st.lists(
    st.sampled_from([b'{"at":"1"}', b'{"at":"2"}', b'{"at":"2","x":1}', b"junk", b'{"x":1}', b'{"at":3}']),
    max_size=5,
)


@pytest.mark.parametrize(
    ("base", "one", "other", "merged"),
    [
        (lines("1"), lines("1", "3"), lines("1", "2"), lines("1", "2", "3")),
        (lines("1"), lines("1", "2", "2"), lines("1", "2"), lines("1", "2", "2")),
        (b"", lines("1")[:-1], lines("2"), lines("1", "2")),
        (b"", b"junk\n", lines("1"), b"junk\n" + lines("1")),
    ],
)
def test_unions(base: bytes, one: bytes, other: bytes, merged: bytes) -> None:
    assert merge_records(base, one, other) == merged
    assert merge_records(base, other, one) == merged


@given(LINES, LINES, LINES)
def test_every_line_is_there_and_each_side_keeps_its_order(
    base: list[bytes], one: list[bytes], other: list[bytes]
) -> None:
    texts = [b"".join(line + b"\n" for line in [*base, *own]) for own in ([], one, other)]
    merged = merge_records(*texts)
    assert merged == merge_records(texts[0], texts[2], texts[1])
    found = merged.splitlines()
    for text in texts[1:]:
        remaining = iter(found)
        assert all(found.count(line) >= text.splitlines().count(line) for line in text.splitlines())
        assert set(text.splitlines()) <= set(remaining)
    if one:
        assert sorted(merge_records(texts[0], merged, texts[1]).splitlines()) == sorted(found)
