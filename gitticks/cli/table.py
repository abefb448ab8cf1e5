"""Tables for people: columns as wide as their content; one gives way on a narrow terminal.

Thousands of rows are listed in one go, so a table is made column by column: what holds for a whole column is found
out once, not in each cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import NamedTuple

from gitticks.cli.render import GAP, NARROWEST_TITLE, Screen, Style
from gitticks.cli.text import all_visible, are_narrow, width


class Cell(NamedTuple):
    """One field of a table: any text, and what it is to its reader."""

    text: str
    style: str = Style.PLAIN


class Column:
    """One column of a table: its name, its texts, and what they are to their reader, all alike or each for itself.

    Texts that are `ours` (words, ids, glyphs) hold nothing that has to be written out, and each of their characters
    takes one column; of all others that is looked at.
    """

    __slots__ = ("is_narrow", "name", "styles", "texts", "width")

    def __init__(
        self, name: str, texts: list[str], styles: str | list[str] = Style.PLAIN, *, ours: bool = False
    ) -> None:
        self.name = name
        self.texts = texts if ours else all_visible(texts)
        self.styles = styles
        self.is_narrow = ours or are_narrow(self.texts)
        self.width = max(map(len if self.is_narrow else width, self.texts), default=0)

    def styles_of_all(self) -> list[str]:
        """Returns the style of each text."""
        return [self.styles] * len(self.texts) if isinstance(self.styles, str) else self.styles

    def with_heading(self) -> Column:
        """Returns the column with its name, which is ours, above it."""
        column = Column(self.name, [self.name], [Style.FAINT, *self.styles_of_all()], ours=True)
        column.texts = [self.name, *self.texts]
        column.is_narrow = self.is_narrow
        column.width = max(column.width, self.width)
        return column

    def cut(self, on: Screen, columns: int) -> Column:
        """Returns the column with no text wider than a terminal has room for."""
        return Column(self.name, [on.fit(text, columns) for text in self.texts], self.styles)

    def painted(self, on: Screen) -> list[str]:
        """Returns the texts with their colour, where there is colour."""
        if not on.has_colour:
            return self.texts
        return [on.styled(text, style) for text, style in zip(self.texts, self.styles_of_all(), strict=True)]

    def padded(self, on: Screen) -> Iterable[str]:
        """Returns the texts with their colour, filled with spaces to the column's width."""
        if self.is_narrow and not on.has_colour:
            return map(str.ljust, self.texts, repeat(self.width))
        return (
            shown + " " * (self.width - width(text))
            for text, shown in zip(self.texts, self.painted(on), strict=True)
        )


def table(
    on: Screen,
    names: Sequence[str],
    rows: Iterable[Sequence[Cell | str]],
    *,
    flexible: str,
    with_heading: bool = True,
) -> list[str]:
    """Returns the lines of a table that is given row by row, as `table_of` does."""
    cells = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    columns = [
        Column(name, [row[place].text for row in cells], [row[place].style for row in cells])
        for place, name in enumerate(names)
    ]
    return list(table_of(on, columns, flexible=flexible, with_heading=with_heading))


def table_of(
    on: Screen, columns: Sequence[Column], *, flexible: str, with_heading: bool = True
) -> Iterator[str]:
    """Returns the lines of a table; the column `flexible`, or else the last, is cut to what the screen leaves.

    Where that would be less than a title needs, each row becomes two lines: the others, and the flexible one.
    Columns without any text are left out.
    """
    used = [column for column in columns if any(column.texts)]
    if not used:
        return iter(())
    shown = [column.with_heading() for column in used] if with_heading else used
    names = [column.name for column in used]
    if on.is_terminal:
        stretch = names.index(flexible) if flexible in names else len(names) - 1
        room = on.columns - sum(column.width for column in shown) - len(GAP) * (len(shown) - 1)
        room += shown[stretch].width
        if len(shown) > 1 and room < min(NARROWEST_TITLE, shown[stretch].width):
            return _stacked(on, used, stretch)
        shown[stretch] = shown[stretch].cut(on, room)
    return _lines(on, shown)


def _lines(on: Screen, columns: Sequence[Column]) -> Iterator[str]:
    padded = [column.padded(on) for column in columns[:-1]]
    lines = map(GAP.join, zip(*padded, columns[-1].painted(on), strict=True))
    return map(str.rstrip, lines, repeat(" "))


def _stacked(on: Screen, columns: Sequence[Column], stretch: int) -> Iterator[str]:
    """Yields each row as a line without its flexible column, which is below, or as several where that is too wide."""
    others = [column for place, column in enumerate(columns) if place != stretch]
    widths = [column.width for column in others]
    is_aligned = sum(widths) + len(GAP) * (len(widths) - 1) <= on.columns
    rows = zip(*(_cells(column) for column in others), strict=True)
    for last, rest in zip(_cells(columns[stretch]), rows, strict=True):
        yield from [line_of(on, rest, widths)] if is_aligned else _packed(on, rest)
        if last.text:
            yield GAP + on.styled(on.fit(last.text, on.columns - len(GAP)), last.style)


def _packed(on: Screen, cells: Iterable[Cell]) -> list[str]:
    """Returns cells on as few lines as they fit on, all but the first indented."""
    lines: list[list[str]] = []
    room = 0
    for cell in (one for one in cells if one.text):
        text = on.fit(cell.text, on.columns - len(GAP))
        if not lines or room < width(text):
            lines.append([""] if lines else [])
            room = on.columns - len(GAP) * len(lines[-1])
        lines[-1].append(on.styled(text, cell.style))
        room -= width(text) + len(GAP)
    return [GAP.join(line) for line in lines]


def _cells(column: Column) -> list[Cell]:
    return [Cell(text, style) for text, style in zip(column.texts, column.styles_of_all(), strict=True)]


def line_of(on: Screen, row: Iterable[Cell], widths: Iterable[int]) -> str:
    """Returns the cells of one row, each filled to its width unless nothing follows it."""
    line = ""
    for cell, columns in reversed([*zip(row, widths, strict=False)]):
        shown = on.styled(cell.text, cell.style)
        line = f"{shown}{' ' * (columns - width(cell.text))}{GAP}{line}" if line else shown
    return line
