from __future__ import annotations

import json

import pytest

from gitticks.actions.stop_reasons import stuck_reason


def line(**fields: object) -> bytes:
    return json.dumps(fields).encode() + b"\n"


def test_the_last_reason_counts() -> None:
    history = line(to="stuck", reason="first") + line(to="working") + line(to="stuck", reason="two\nlines")
    assert stuck_reason(history + line(to="cancelled")) == "two lines"


@pytest.mark.parametrize(
    "history",
    [
        b"",
        b"\n\n",
        line(to="working", reason="was stuck"),
        line(to="stuck"),
        line(to="stuck", reason=7),
        b'{"to": "stuck", "reason": "cut o',
        b'["stuck"]\n',
        b"\xff stuck\n",
        b"[" * 100_000 + b"stuck",
    ],
)
def test_a_history_that_does_not_tell(history: bytes) -> None:
    assert stuck_reason(history) is None
