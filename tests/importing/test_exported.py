from __future__ import annotations

import pytest

from gitticks.importing.exported import RecordError, object_of, text_of


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"\xff\xfe{\x00", "this is UTF-16; save it as UTF-8"),
        (b'{"a": "\xe9"}', "this is not UTF-8, from byte 8 on"),
        (b'{"a": 1', "this is not JSON, expecting ',' delimiter in column 8"),
        (b'{"a":\n "cut of', "this is not JSON, unterminated string in line 2, column 2"),
        (b"[" * 100_000, "this JSON is nested too deep"),
        (b'{"a": Infinity}', "this is not JSON"),
        (b'{"a": -1e400}', "the number -1e400 is too large"),
        (b"7", "this is not a JSON object"),
    ],
)
def test_what_cannot_be_read_is_said(data: bytes, problem: str) -> None:
    with pytest.raises(RecordError) as caught:
        object_of(data)
    assert str(caught.value) == problem


def test_a_byte_order_mark_is_no_text() -> None:
    assert text_of(b"\xef\xbb\xbfa") == "a"


def test_json_that_could_not_be_written_again_is_refused_wherever_its_depth_is_met() -> None:
    for depth in range(1, 1200, 7):
        data = b'{"id": ' + b"[" * depth + b"]" * depth + b"}"
        if depth < 200:
            assert object_of(data)
        else:
            with pytest.raises(RecordError, match="nested too deep"):
                object_of(data)
