from __future__ import annotations

import pytest

from gitticks.cli.text import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ü 👩\u200d👧 ✔\ufe0f", "plain ü 👩\u200d👧 ✔\ufe0f"),
        ("\x1b[2J\r\n\x7f\x9b", r"\x1b[2J\r\n\x7f\x9b"),
        ("\u202e\u2066\u200f\u200b\u2028", r"\u202e\u2066\u200f\u200b\u2028"),
        ("a\U000e0041\U000e0001", r"a\U000e0041\U000e0001"),
        ("a\U000e0100\U000e01ef\U000e0fff", r"a\U000e0100\U000e01ef\U000e0fff"),
    ],
)
def test_what_could_steer_a_terminal_or_hide_in_it_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_what_is_kept_is_kept() -> None:
    assert visible("a\nb\r", keep="\n") == "a\nb\\r"
