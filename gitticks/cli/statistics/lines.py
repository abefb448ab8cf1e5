"""Statistics as lines for people: the sums, the last weeks, and a table for epics and one for agents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gitticks.cli.render import GAP, NARROWEST_TITLE, Style
from gitticks.cli.statistics.words import (
    COLUMNS,
    NO_AGENT,
    NO_EPIC,
    money,
    period_words,
    row,
    summary,
)
from gitticks.cli.table import Column, table_of
from gitticks.cli.text import wrap

if TYPE_CHECKING:
    from gitticks.actions.statistics.figures import Figures, Statistics, Week
    from gitticks.cli.render import Screen

MOST_WEEKS, MOST_ROWS = 12, 10
_LONGEST_BAR, _WIDTH_OF_SUMS, _NARROW = 24, 23, 60
_LEFT_OUT_FIRST = ("tokens", "crashes", "failed", "rounds", "lead", "cost")
_FULL = ("█", "#")


def statistics_lines(on: Screen, found: Statistics) -> Iterator[str]:
    """Yields the lines of `gt stats`."""
    yield on.styled(period_words(found.period), Style.STRONG)
    yield from _sums(on, found)
    weeks = found.weeks[-MOST_WEEKS:]
    if any(one.created or one.done or one.cost for one in weeks):
        yield ""
        yield from _weeks(on, weeks)
    epics = [(f"{one.id}{GAP}{one.title}" if one.id else NO_EPIC, one.figures) for one in found.epics]
    if any(one.id for one in found.epics):
        yield ""
        yield from _table(on, "epic", epics)
    if any(one.name for one in found.agents):
        yield ""
        yield from _table(on, "agent", [(one.name or NO_AGENT, one.figures) for one in found.agents])


def _sums(on: Screen, found: Statistics) -> Iterator[str]:
    is_narrow = on.is_terminal and on.columns < _NARROW
    for name, words in summary(found):
        if not is_narrow:
            yield on.fit(f"{name.ljust(_WIDTH_OF_SUMS)}{words}", on.columns)
            continue
        yield on.fit(name, on.columns)
        yield from (f"{GAP}{GAP}{line}" for line in wrap(words, on.columns - 2 * len(GAP)))


def _weeks(on: Screen, weeks: Sequence[Week]) -> list[str]:
    full = _FULL[not on.has_glyphs]
    most = max(1, *(one.done for one in weeks))
    longest = min(_LONGEST_BAR, max(1, on.columns - 40)) if on.is_terminal else _LONGEST_BAR
    figures = {
        "created": [str(one.created) for one in weeks],
        "done": [str(one.done) for one in weeks],
        "cost": [money(one.cost) if one.cost else "" for one in weeks],
    }
    columns = [
        Column("week of", [one.monday.isoformat() for one in weeks], ours=True),
        *(_right(name, texts) for name, texts in figures.items()),
        Column("", [full * max(one.done > 0, one.done * longest // most) for one in weeks], ours=True),
    ]
    return list(table_of(on, columns, flexible=""))


def _table(on: Screen, name: str, rows: Sequence[tuple[str, Figures]]) -> Iterator[str]:
    shown = rows[:MOST_ROWS]
    figures = zip(*(row(one) for _, one in shown), strict=True)
    names = Column(name, [text for text, _ in shown])
    told = [_right(title, texts) for title, texts in zip(COLUMNS, figures, strict=True) if any(texts)]
    if on.is_terminal:
        told = _fitting(told, on.columns - min(names.width, NARROWEST_TITLE))
    yield from table_of(on, [names, *told], flexible=name)
    if len(shown) < len(rows):
        yield f"… {len(rows) - len(shown)} more: `gt stats --json`"


def _fitting(columns: Sequence[Column], room: int) -> list[Column]:
    """Returns the columns that have room, those that matter least left out first."""
    left = list(columns)
    for name in _LEFT_OUT_FIRST:
        if sum(max(len(one.name), one.width) + len(GAP) for one in left) <= room:
            break
        left = [one for one in left if one.name != name]
    return left


def _right(name: str, texts: Sequence[str]) -> Column:
    """Returns a column of figures that end below one another; an empty one where every figure is."""
    columns = max(len(name), *map(len, texts))
    return Column(name, [text.rjust(columns) if text else "" for text in texts], ours=True)
