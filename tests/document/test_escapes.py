"""Escaped text makes no structure and comes back as it was."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitticks.document.escapes import escape, unescape

LINES = (
    st.sampled_from(
        [
            "# a",
            "## b",
            "### c",
            "#### d",
            "#",
            "\\# a",
            "\\\\## b",
            "  # x",
            "    # code",
            "\t# code",
            "text",
            "",
            " ",
        ]
    )
    | st.sampled_from(
        [
            "---",
            "===",
            "-",
            "\\---",
            "```",
            "```sh",
            "~~~",
            "````",
            "\\```",
            "``` a`b",
            "<!--",
            "-->",
            "\\<div>",
        ]
    )
    | st.sampled_from(["<https://x>", "<div>", "- # l", "- ```", "> # q", "  ```", "1. x", "    ```", "#\ta"])
)


@given(st.lists(LINES, max_size=16).map("\n".join), st.booleans())
@settings(max_examples=300)
@example("```\n# a\n", True)
@example("```\n# a\n```", True)
@example("````\n```\n# a\n````\n# b", True)
def test_every_text_comes_back(text: str, keep_fences: bool) -> None:
    assert unescape(escape(text, keep_fences=keep_fences)) == text


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("# a", "\\# a"),
        ("### 2026-01-01T00:00:00Z · human · Ada", "\\### 2026-01-01T00:00:00Z · human · Ada"),
        ("#### a", "#### a"),
        ("a\n---\nb", "a\n\\---\nb"),
        ("a\n\n---", "a\n\n---"),
        ("<!-- a", "\\<!-- a"),
        ("<https://a.b>", "<https://a.b>"),
        ("```sh\n# a\n```\n# b", "```sh\n# a\n```\n\\# b"),
        ("```sh\n# a", "\\```sh\n\\# a"),
        ("\\# a", "\\\\# a"),
        ("plain #a and `# b`", "plain #a and `# b`"),
    ],
)
def test_what_gains_a_backslash(text: str, escaped: str) -> None:
    assert escape(text) == escaped


def test_fences_are_escaped_on_request() -> None:
    assert escape("```\n# a\n```", keep_fences=False) == "\\```\n\\# a\n\\```"


def test_many_openers_cost_no_more_than_their_lines() -> None:
    text = "````a\n" * 20_000 + "```\n"
    assert unescape(escape(text)) == text
