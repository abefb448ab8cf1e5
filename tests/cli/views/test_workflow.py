from __future__ import annotations

import pytest

from gitticks.cli.render import Screen
from gitticks.cli.text import width
from gitticks.cli.views.workflow import workflow_page
from gitticks.model.status import Awaiting, Status
from gitticks.workflow.transitions import ENGINE_TABLE, TABLE

DRAWN = """\
○ pending       ─┐
? clarification ◁┤ ─┐ ◁┐
◐ working       ◁┤ ◁┤ ─┤ ◁┐ ◁┐ ◁┐
◇ agent-review   │  │ ◁┤ ─┤  │ ◁┤
⊙ reviewing      │  │  │ ◁┤ ─┤  │
! stuck          │  │ ◁┤ ◁┤ ◁┤ ─┤
✓ done           │  │  │  │ ◁┤  │
✗ cancelled     ◁┘ ◁┘ ◁┘ ◁┘ ◁┘ ◁┘
"""


def drawing(on: Screen) -> list[str]:
    """Returns the drawing's lines, between the first two empty ones."""
    lines = workflow_page(on)
    first = lines.index("")
    return lines[first + 1 : lines.index("", first + 1)]


def test_the_states_are_drawn() -> None:
    assert "\n".join(drawing(Screen())) + "\n" == DRAWN


def test_the_drawing_says_what_the_tables_say() -> None:
    """Reads the arrows back: each column has one status that it leaves, and enters those that may follow."""
    lines = drawing(Screen())
    statuses = [Status(line.split()[1]) for line in lines]
    begin = max(map(len, statuses)) + 3
    read = set()
    for column in range(begin, max(map(len, lines)), 3):
        signs = [line[column : column + 1] for line in lines]
        (source,) = (status for status, sign in zip(statuses, signs, strict=True) if sign == "─")
        read |= {(source, status) for status, sign in zip(statuses, signs, strict=True) if sign == "◁"}
    assert read == {(row.source, row.target) for row in TABLE + ENGINE_TABLE}


@pytest.mark.parametrize("on", [Screen(80), Screen(40, is_terminal=True), Screen(40, has_glyphs=False)])
def test_every_step_and_turn_is_reported_in_the_room_there_is(on: Screen) -> None:
    lines = workflow_page(on)
    assert max(map(width, lines)) <= on.columns
    text = " ".join(" ".join(lines).split())
    for row in TABLE + ENGINE_TABLE:
        assert f"{'→' if on.has_glyphs else '->'} {row.target}" in text
    for awaiting in Awaiting:
        assert f"{awaiting}: " in text
    assert text.isascii() is not on.has_glyphs


def test_colour_only_repeats_the_words() -> None:
    plain, coloured = (workflow_page(Screen(has_colour=has_colour)) for has_colour in (False, True))
    assert plain == [line.replace("\x1b[1m", "").replace("\x1b[0m", "") for line in coloured]
    assert plain != coloured
