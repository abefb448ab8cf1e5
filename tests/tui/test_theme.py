"""Every text can be read on every ground, in every theme."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gitticks.tui import theme

_LEAST, _LEAST_OF_FAINT = 4.7, 3.0
_GROUNDS = ("ground", "raised", "trace", "added", "gone")
_FAINT_GROUNDS = {"added", "gone"}
"""Tints of a diff, where nothing faint is read but line numbers."""


def _luminance(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("at", range(len(theme.NAMES)), ids=theme.NAMES)
def test_every_text_stands_out_from_every_ground(at: int) -> None:
    texts = [name for name in theme.TOKENS if name not in (*_GROUNDS, "line")]
    weak = {
        (text, ground): round(found, 2)
        for text in texts
        for ground in _GROUNDS
        if not (text == "faint" and ground in _FAINT_GROUNDS)
        for found in (_contrast(theme.TOKENS[text][at], theme.TOKENS[ground][at]),)
        if found < (_LEAST_OF_FAINT if text == "faint" else _LEAST)
    }
    assert weak == {}


def test_a_glyph_and_its_twin_take_as_many_columns() -> None:
    assert {name for name, (one, other) in theme.GLYPHS.items() if len(one) != len(other)} == set()
    assert all(other.isascii() for _, other in theme.GLYPHS.values())


@pytest.mark.parametrize(("locale", "draws"), [("C", False), ("C.UTF-8", True)])
def test_in_a_locale_without_utf_8_only_ascii_is_drawn(locale: str, draws: bool) -> None:
    asks = "from gitticks.tui.theme import can_draw; print(can_draw())"
    words = [sys.executable, "-c", asks]
    ran = subprocess.run(words, env={"LC_ALL": locale}, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == str(draws)
