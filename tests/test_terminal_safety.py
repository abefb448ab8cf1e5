"""Harmful characters, by their categories in Unicode's own table."""

from __future__ import annotations

import json
import unicodedata

import pytest

from gitticks.terminal_safety import are_harmless, is_harmful, safe_json

EVERY = [chr(number) for number in range(0x110000)]


def test_what_is_reported_at_a_glance_is_what_the_table_says() -> None:
    harmful = {"Cc", "Cf", "Zl", "Zp", "Cs", "Co"}
    wrong = [
        char
        for char in EVERY
        if is_harmful(char)
        is not (
            (unicodedata.category(char) in harmful and char not in "\u200c\u200d\ufe0f")
            or 0xE0000 <= ord(char) < 0xE1000
        )
    ]
    assert wrong == []


@pytest.mark.parametrize("text", ["", "plain", "日本 🎉 é", "a\u0301"])
def test_harmless_text_stays(text: str) -> None:
    assert are_harmless(text)
    assert safe_json(text) == text


def test_harmful_text_becomes_escapes_that_mean_the_same() -> None:
    value = {"title": "\x1b \x7f \u202e \u200d \U000e0041 é"}
    text = safe_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(text) == value
    assert not any(map(is_harmful, text))
    assert "é" in text
