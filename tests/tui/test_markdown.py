from __future__ import annotations

import pytest

from gitticks.tui.widgets.lines import words
from gitticks.tui.widgets.markdown import markdown_rows


def said(text: str, width: int = 60) -> list[str]:
    return [words(one) for one in markdown_rows(text, width)]


def test_signs_become_colours() -> None:
    row = markdown_rows("Make `till.py` **work**.", 60)[0]
    assert row.left == (("Make ", "fg"), ("till.py", "word"), (" ", "fg"), ("work", "*strong"), (".", "fg"))


def test_boxes_are_glyphs() -> None:
    assert said("- [x] the path survives\n- [ ] on every page") == [
        " ✓ the path survives",
        " ○ on every page",
    ]


def test_blank_rows_stand_alone_and_never_at_the_end() -> None:
    assert said("one\n\n\n\n## two\n\nthree\n\n\n") == ["one", "", "two", "", "three"]


@pytest.mark.parametrize("width", [8, 38, 78, 118])
@pytest.mark.parametrize(
    "text",
    [
        "\x1b[2J\x1b]0;title\x07 evil",
        "\u202eright to left",
        "\U000e0041\U000e0042 tags",
        "[/x] [bold]markup[/bold] [@click=app.quit]x[/]",
        "漢字 " * 60,
        "x" * 100_000,
        "> " * 2_000 + "deep",
        "- " * 500 + "deep",
        "`" * 10_000,
        "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 200,
        "",
    ],
)
def test_hostile_texts_are_shown_and_steer_nothing(text: str, width: int) -> None:
    rows = markdown_rows(text, width)
    assert all(one.isprintable() for row in rows for one, _ in row.left)
    if "[/x]" in text and width > 20:
        assert "[/x]" in words(rows[0])
