"""Plain lines for people: columns that fit the screen, glyphs that it can show, colour that only repeats the words."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import TextIO

import click

from gitticks.cli.text import cut, pad, visible, width
from gitticks.model.status import Status
from gitticks.model.task import Task

PIPED_COLUMNS = 80
NARROWEST_TITLE = 16
NARROWEST_HEAD = 24
GAP = "  "
_GLYPHS = {
    Status.PENDING: ("○", "o"),
    Status.CLARIFICATION: ("?", "?"),
    Status.WORKING: ("◐", ">"),
    Status.AGENT_REVIEW: ("◇", "r"),
    Status.REVIEWING: ("⊙", "@"),
    Status.STUCK: ("!", "!"),
    Status.DONE: ("✓", "+"),
    Status.CANCELLED: ("✗", "x"),
}
_ASCII = str.maketrans({"…": "...", "·": "-", "→": "->"})


class Style(StrEnum):
    """What a text is to its reader; colour repeats it, the words say it."""

    PLAIN = ""
    STRONG = "1"
    FAINT = "2"
    BAD = "31"
    GOOD = "32"
    WAITS = "33"
    BUSY = "36"


_STATUS_STYLES = {
    Status.WORKING: Style.BUSY,
    Status.AGENT_REVIEW: Style.BUSY,
    Status.CLARIFICATION: Style.WAITS,
    Status.REVIEWING: Style.WAITS,
    Status.STUCK: Style.BAD,
    Status.DONE: Style.GOOD,
    Status.CANCELLED: Style.FAINT,
}


@dataclass(frozen=True, slots=True)
class Screen:
    """What a stream can show: `columns` to align to, whether longer lines are cut, colour, and more than ASCII."""

    columns: int = PIPED_COLUMNS
    is_terminal: bool = False
    has_colour: bool = False
    has_glyphs: bool = True

    @classmethod
    def of(cls, stream: TextIO, environment: Mapping[str, str]) -> Screen:
        """Returns what `stream` can show."""
        is_terminal = stream.isatty()
        return cls(
            columns=_terminal_columns() if is_terminal else PIPED_COLUMNS,
            is_terminal=is_terminal,
            has_colour=is_terminal
            and not environment.get("NO_COLOR")
            and environment.get("TERM", "dumb") != "dumb",
            has_glyphs=_can_encode(stream, "○◐⊙✓…→"),
        )

    def styled(self, text: str, style: Style) -> str:
        """Returns the text with its colour, where there is colour."""
        return f"\x1b[{style}m{text}\x1b[0m" if self.has_colour and style and text else text

    def narrower(self, columns: int) -> Screen:
        """Returns the screen without some of its columns, for what is indented."""
        return replace(self, columns=max(1, self.columns - columns))

    def fit(self, text: str, columns: int) -> str:
        """Returns the text cut to `columns` on a terminal; whole where it is piped."""
        return cut(text, max(1, columns)) if self.is_terminal else text

    def glyph(self, status: Status) -> str:
        """Returns the sign of a status."""
        return _GLYPHS[status][0 if self.has_glyphs else 1]


def screen() -> Screen:
    """Returns what stdout can show."""
    return Screen.of(sys.stdout, os.environ)


def _terminal_columns() -> int:
    from shutil import get_terminal_size  # loads every compression format, which a pipe needs none of

    return get_terminal_size((PIPED_COLUMNS, 24)).columns


def _can_encode(stream: TextIO, text: str) -> bool:
    try:
        text.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def say(*lines: str, err: bool = False) -> None:
    """Prints lines; what the stream's encoding lacks is written with ASCII twins or escapes."""
    if not lines:
        return
    stream = sys.stderr if err else sys.stdout
    encoding = stream.encoding or "ascii"
    text = "\n".join(lines)
    if not _can_encode(stream, text):
        text = "\n".join(line if _can_encode(stream, line) else line.translate(_ASCII) for line in lines)
    try:
        click.echo(text.encode(encoding, "backslashreplace").decode(encoding), err=err, color=True)
    except BrokenPipeError:
        if not err:
            raise  # nobody reads the answer (`gt list | head`): the command ends here


def hint(text: str) -> None:
    """Prints the next command to stderr."""
    say("", f"hint: {visible(text)}", err=True)


def warn(text: str) -> None:
    """Prints a warning to stderr."""
    say(f"warning: {visible(text)}", err=True)


@dataclass(frozen=True, slots=True)
class Cell:
    """One field of a table: any text, and what it is to its reader."""

    text: str
    style: Style = Style.PLAIN


def table(
    on: Screen,
    names: Sequence[str],
    rows: Iterable[Sequence[Cell | str]],
    *,
    flexible: str,
    with_heading: bool = True,
) -> list[str]:
    """Returns the lines of a table; the column `flexible` is cut to what the screen leaves.

    Where that would be less than a title needs, each row becomes two lines: the others, and the flexible one.
    Columns without any text are left out.
    """
    cells = [[_shown(cell) for cell in row] for row in rows]
    used = [place for place in range(len(names)) if any(row[place].text for row in cells)]
    names = [names[place] for place in used]
    cells = [[row[place] for place in used] for row in cells]
    heading = [Cell(name, Style.FAINT) for name in names] if with_heading else None
    widths = _widths([*cells, heading] if heading else cells)
    stretch = names.index(flexible) if flexible in names else None
    if stretch is not None and on.is_terminal:
        room = on.columns - sum(widths) - len(GAP) * (len(names) - 1) + widths[stretch]
        if room < min(NARROWEST_TITLE, widths[stretch]):
            return _stacked(on, cells, stretch)
        cells = [_with_cut(row, stretch, room) for row in cells]
        widths = _widths([*cells, heading] if heading else cells)
    return [_line(on, row, widths) for row in ([heading] if heading and cells else []) + cells]


def _shown(cell: Cell | str) -> Cell:
    if isinstance(cell, str):
        return Cell(visible(cell))
    text = visible(cell.text)
    return cell if text is cell.text else Cell(text, cell.style)


def _with_cut(row: list[Cell], place: int, room: int) -> list[Cell]:
    return [*row[:place], Cell(cut(row[place].text, room), row[place].style), *row[place + 1 :]]


def _widths(rows: Sequence[Sequence[Cell]]) -> list[int]:
    return [max(width(cell.text) for cell in column) for column in zip(*rows, strict=True)]


def _line(on: Screen, row: Sequence[Cell], widths: Sequence[int]) -> str:
    last = max((place for place, cell in enumerate(row) if cell.text), default=-1)
    parts = [
        on.styled(cell.text, cell.style) + (" " * (columns - width(cell.text)) if place < last else "")
        for place, (cell, columns) in enumerate(zip(row[: last + 1], widths, strict=False))
    ]
    return GAP.join(parts)


def _stacked(on: Screen, cells: list[list[Cell]], stretch: int) -> list[str]:
    """Returns each row as a line without its flexible column, which stands below with what found no room above."""
    others = [[cell for place, cell in enumerate(row) if place != stretch] for row in cells]
    widths = _widths(others)
    if sum(widths) + len(GAP) * (len(widths) - 1) > on.columns:
        widths = [0] * len(widths)
    lines: list[str] = []
    for row, rest in zip(cells, others, strict=True):
        fitting = _fitting(on, rest, widths)
        lines.append(on.fit(rest[0].text, on.columns) if not fitting else _line(on, rest[:fitting], widths))
        below = [cell for cell in (*rest[max(1, fitting) :], row[stretch]) if cell.text]
        if below:
            room = on.columns - len(GAP) * len(below) - sum(width(cell.text) for cell in below[:-1])
            last = Cell(on.fit(below[-1].text, room), below[-1].style)
            lines.append(GAP + _line(on, [*below[:-1], last], [0] * len(below)))
    return lines


def _fitting(on: Screen, row: Sequence[Cell], widths: Sequence[int]) -> int:
    """Returns how many cells of a row, from its beginning, have room on one line."""
    taken = -len(GAP)
    for place, (cell, columns) in enumerate(zip(row, widths, strict=True)):
        if taken + len(GAP) + width(cell.text) > on.columns:
            return place
        taken += len(GAP) + max(columns, width(cell.text))
    return len(row)


def opposite(on: Screen, left: str, right: str) -> list[str]:
    """Returns `left` and, at the screen's right edge, `right`; on a narrow terminal `right` gets a line of its own."""
    room = on.columns - width(right) - len(GAP)
    if on.is_terminal and room < min(width(left), NARROWEST_HEAD):
        return [on.fit(left, on.columns), on.fit(GAP + right, on.columns)]
    return [pad(on.fit(left, room), room) + GAP + right if right else on.fit(left, on.columns)]


def status_cell(task: Task) -> Cell:
    """Returns a task's status; `merging` while an approved task waits for its merge."""
    return Cell(
        "merging" if task.is_merging else task.status.value, _STATUS_STYLES.get(task.status, Style.PLAIN)
    )


def name_line(on: Screen, task: Task) -> str:
    """Returns `k7f2  Login loses the return URL`."""
    return on.fit(f"{task.id}{GAP}{visible(task.title)}", on.columns)


_UNITS = ((60, "min"), (3600, "h"), (86400, "day"))
_DAYS_TOLD = 60


def elapsed(seconds: float) -> str:
    """Returns a duration in one unit: `10 s`, `2 min`, `3 h`, `5 days`."""
    whole = max(0, int(seconds))
    if whole < _UNITS[0][0]:
        return f"{whole} s"
    size, name = next((unit for unit in reversed(_UNITS) if whole >= unit[0]), _UNITS[0])
    count = whole // size
    return f"{count} {name}s" if name == "day" and count > 1 else f"{count} {name}"


def ago(then: datetime, now: datetime) -> str:
    """Returns how long ago a time was, `12 min ago`; the day itself once that tells more."""
    seconds = (now - then).total_seconds()
    if seconds >= _DAYS_TOLD * 86400:
        return f"on {then.astimezone().date().isoformat()}"
    return f"{elapsed(seconds)} ago" if seconds >= 1 else "just now"


def count_of(number: int, one: str, many: str | None = None) -> str:
    """Returns `1 task`, `2 tasks`."""
    return f"{number} {one if number == 1 else many or one + 's'}"
