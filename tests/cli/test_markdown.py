from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.cli.render import MOST_CHARACTERS, Screen, shown_text
from gitticks.cli.text import width

COLOUR = Screen(columns=60, is_terminal=True, has_colour=True)
PLAIN = COLOUR._replace(has_colour=False)
PIPED = Screen()


def seen(text: str, columns: int = 60) -> str:
    """Returns what a terminal with colour shows, without the colour."""
    return re.sub("\x1b\\[[0-9;]*m", "", "\n".join(shown_text(COLOUR._replace(columns=columns), text)))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one *two* **three** `four` ~~five~~", "one two three four five"),
        ("first line\nsecond line\n\nnext", "first line\nsecond line\n\nnext"),
        ("- a\n- [ ] b\n  1. c", " • a\n • [ ] b\n    1 c"),
        ("### Title\n\n*text*", "Title\n\ntext"),
        ("> quoted\n> more", "▌ quoted\n▌ more"),
        ("```sh\nmake  test\n```", "sh\n  make  test"),
        ("```sh reviewer\n```", "sh reviewer"),
        ('[a](http://x.y/日 "b")', 'a (http://x.y/日 "b")'),
        ("    indented *code*", "  indented *code*"),
        ("<T> and <!-- *this* --> and <div>", "<T> and <!-- this --> and <div>"),
        ("[here](http://x.y) ![img](a.png)", "here (http://x.y) !img (a.png)"),
        ("*a*\n\n[ref]: http://x.y", "a\n\n[ref]: http://x.y"),
        ("*a* <http://x.y>", "a <http://x.y>"),
        ("*a*\n\n\n\n\nb", "a\n\nb"),
        ("DONE       keep `it`\nUNCERTAIN  what?", "DONE       keep it\nUNCERTAIN  what?"),
        ("*\x1b[31m red*\u202e\x07", "\\x1b[31m red\\u202e\\x07"),
    ],
)
def test_what_a_terminal_with_colour_shows(text: str, shown: str) -> None:
    assert seen(text) == shown


def test_a_table() -> None:
    assert [
        line.split()
        for line in seen("| a | b |\n|---|---|\n| 1 | two |").split("\n")
        if line and "─" not in line
    ] == [
        ["a", "b"],
        ["1", "two"],
    ]


def test_colour_says_what_the_signs_said() -> None:
    assert shown_text(COLOUR, "a **b** `c`") == ["a \x1b[1mb\x1b[0m \x1b[36mc\x1b[0m"]


def test_without_colour_the_signs_stay_and_lines_are_broken() -> None:
    assert shown_text(PLAIN._replace(columns=12), "- one *two* three\n    four") == [
        "- one *two*",
        "three",
        "    four",
    ]
    assert shown_text(PLAIN._replace(columns=8), "日本語日本語 x") == ["日本語日", "本語 x"]


def test_what_is_piped_stays_as_it_was_written() -> None:
    text = "# *a*\n\n  b\t" + "c" * 200
    assert shown_text(PIPED, text) == ["# *a*", "", "  b " + "c" * 200]


@pytest.mark.parametrize(
    "text",
    [
        "> " * 40 + "deep",
        "*" * 500,
        "[" * 2000,
        "`" * 1000 + "x",
        "- " * 30 + "x",
        "*a*" * MOST_CHARACTERS,
        "|" * 500,
    ],
    ids=lambda text: text[:4],
)
def test_text_that_is_made_to_hurt_is_shown_all_the_same(text: str) -> None:
    shown = "".join(shown_text(COLOUR, text))
    assert shown
    assert text[-1] in shown or "---" in shown


@given(st.text("ab 1.-*_`>#[]()<!\n|\\&;~日\u0301", max_size=60), st.integers(8, 40))
def test_no_letter_is_lost_and_no_line_too_long(text: str, columns: int) -> None:
    shown = seen(text, columns)
    assert sorted(char for char in shown if char in "ab日") == sorted(char for char in text if char in "ab日")
    assert all(width(line) <= columns for line in shown.split("\n"))


def test_rich_is_loaded_only_for_what_has_signs() -> None:
    program = (
        "import sys; from gitticks.cli.render import shown_text; from gitticks.cli.render import Screen;"
        "on = Screen(is_terminal=True, has_colour=True); shown_text(on, 'plain words, and more.');"
        "assert 'rich' not in sys.modules; shown_text(on, 'with *signs*'); assert 'rich' in sys.modules;"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
