"""The topics and guides of `gt help`, and the page that draws the workflow from its tables."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from gitticks.cli.render import Screen, Style
from gitticks.cli.table import table
from gitticks.cli.text import as_called, called
from gitticks.model.status import (
    ANSWERED,
    AWAITING_MEANINGS,
    PHASES,
    STATUS_MEANINGS,
    Awaiting,
    Status,
    Verdict,
)
from gitticks.workflow.transitions import ENGINE_TABLE, GATE_MEANINGS, TABLE, VERDICTS, Asker, Gate, Row

_STATUSES = list(Status)
_SIGNS = {"leaves": "─", "enters": "◁", "passes": " ", "top": "┐", "bottom": "┘", "middle": "┤", "line": "│"}
_ASCII = str.maketrans("─◁┐┘┤│", "-<+++|")
_FOLDERS = ("tutorial", "how-to")
_INDENT = "  "
_OPENING = "How a task moves: each line starts at one status and ends at those with an arrow."
_TURNS = "A task that awaits something waits for a person. Why, and what each verdict does:"
_CLOSING = "`gt reopen` reopens a closed task. `gt show ID` shows a task's status and what it awaits."

_ABOUT_STATUS = "Status: how far a task has come. Only gitticks changes it. Phase: statuses grouped into a column of `gt board`."
_ABOUT_AWAITING = (
    "Awaiting: why a task waits for a person. A task without it waits for an agent or for nobody."
)
_WHERE_THEY_COUNT = "`gt list --status` takes statuses and phases, `gt list --awaiting` kinds. `gt help workflow` explains every step."

TOPICS_ELSEWHERE = dict.fromkeys(
    ("gate", "gates", "transitions", "steps", "verdicts", "turns"),
    "workflow",
) | dict.fromkeys(("statuses", "phase", "phases", "state", "awaiting"), "states")
"""Words that people look up, and the topic that explains them."""


def workflow_page(on: Screen) -> list[str]:
    """Returns the lines of the page: the states with their steps drawn, each step with its gate, whose turn it is."""
    lines = [*_wrapped(on, _OPENING), "", *_drawing(on), ""]
    for status in _STATUSES:
        lines += _steps(on, status)
    lines += ["", *_wrapped(on, _TURNS), ""]
    for awaiting in Awaiting:
        lines += _turn(on, awaiting)
    return [*lines, "", *_wrapped(on, _CLOSING)]


def _drawing(on: Screen) -> Iterator[str]:
    """Yields a line for each status, with a column for each that a step leaves."""
    leaving = [one for one in _STATUSES if _targets(one)]
    longest = max(map(len, _STATUSES))
    for row, status in enumerate(_STATUSES):
        columns = " ".join(_cell(on, source, row) for source in leaving)
        yield f"{on.glyph(status)} {status.ljust(longest)} {columns}".rstrip()


def _targets(source: Status) -> list[Status]:
    return [row.target for row in TABLE + ENGINE_TABLE if row.source is source]


def _cell(on: Screen, source: Status, row: int) -> str:
    """Returns two signs: whether the steps from `source` leave or enter this row, and the line between them."""
    ends = [_STATUSES.index(one) for one in (source, *_targets(source))]
    first, last = min(ends), max(ends)
    if not first <= row <= last:
        return "  "
    if row not in ends:
        signs = _SIGNS["passes"] + _SIGNS["line"]
    else:
        corner = "top" if row == first else "bottom" if row == last else "middle"
        signs = _SIGNS["leaves" if _STATUSES[row] is source else "enters"] + _SIGNS[corner]
    return signs if on.has_glyphs else signs.translate(_ASCII)


def _steps(on: Screen, status: Status) -> Iterator[str]:
    sign, *rest = _wrapped(on, f"{on.glyph(status)} {status}: {STATUS_MEANINGS[status]}", "", _INDENT)
    yield from (sign.replace(status, on.styled(status.value, Style.STRONG), 1), *rest)
    for row in (row for row in TABLE if row.source is status):
        yield from _step(on, row, _askers(row))
    for row in ENGINE_TABLE:
        if row.source is status:
            yield from _step(on, row, "gitticks alone")


def _step(on: Screen, row: Row, askers: str) -> Iterator[str]:
    arrow = "→" if on.has_glyphs else "->"
    gate = "" if row.gate is Gate.NONE else f": {GATE_MEANINGS[row.gate]}"
    yield from _wrapped(on, f"{arrow} {row.target}{gate} ({askers})", _INDENT, _INDENT * 3)


def _askers(row: Row) -> str:
    # Who may ask by command may always do it by verdict too.
    is_said = row.askers - ({Asker.BY_VERDICT} if Asker.HUMAN in row.askers else set())
    return ", ".join(one.value for one in Asker if one in is_said)


def _turn(on: Screen, awaiting: Awaiting) -> Iterator[str]:
    approved, rejected = (
        VERDICTS[awaiting, verdict].value for verdict in (Verdict.APPROVED, Verdict.REJECTED)
    )
    yield from _wrapped(on, f"{awaiting}: {AWAITING_MEANINGS[awaiting]}", "", _INDENT * 2)
    for word, outcome in (("approved", approved), ("rejected", rejected)):
        yield from _wrapped(on, f"{word}: {outcome}", _INDENT, _INDENT * 3)


def _wrapped(on: Screen, text: str, first: str = "", further: str | None = None) -> list[str]:
    rest = first if further is None else further
    columns = max(on.columns, len(rest) + 16)
    return textwrap.wrap(
        as_called(text), columns, initial_indent=first, subsequent_indent=rest, break_long_words=False
    )


def states_page(on: Screen) -> list[str]:
    """Returns the lines of the page that explains status, phase and awaiting in one table each."""
    statuses = [
        (f"{on.glyph(status)} {status}", str(PHASES[status]), meaning)
        for status, meaning in STATUS_MEANINGS.items()
    ]
    kinds = [(kind, _answer(kind), meaning) for kind, meaning in AWAITING_MEANINGS.items()]
    return [
        *_wrapped(on, _ABOUT_STATUS),
        "",
        *table(on, ["  status", "phase", "means"], statuses, flexible="means"),
        "",
        *_wrapped(on, _ABOUT_AWAITING),
        "",
        *table(on, ["awaiting", "answer by", "means"], kinds, flexible="means"),
        "",
        *_wrapped(on, _WHERE_THEY_COUNT),
    ]


def _answer(kind: str) -> str:
    if kind == Awaiting.WORK:
        return f"{called()} start, close"
    return f"{called()} respond" if kind in ANSWERED else f"{called()} approve, reject"


class Topic(NamedTuple):
    """A page of help: what it is about, and its lines for a screen."""

    summary: str
    page: Callable[[Screen], list[str]]


TOPICS = {
    "workflow": Topic("How a task moves: statuses, steps, gates and whose turn it is.", workflow_page),
    "states": Topic("What status, phase and awaiting mean.", states_page),
}


class Guide(NamedTuple):
    """A page of the tutorial or the how-to pages: its name (that of its file), its title, and its Markdown."""

    name: str
    title: str
    text: str

    def has_heading(self, word: str) -> bool:
        """True if a heading has the word."""
        headings = " ".join(line for line in self.text.splitlines() if line.startswith("#"))
        return _singular(word) in {_singular(each.strip("`'().,:")) for each in headings.split()}


@cache
def guides() -> dict[str, Guide]:
    """Returns every page by name; none in an installation that lacks them, which loses nothing but this."""
    package = Path(__file__).resolve().parents[2]
    docs = next((one for one in (package / "_docs", package.parent / "docs") if one.is_dir()), None)
    files = [] if docs is None else [path for one in _FOLDERS for path in sorted((docs / one).glob("*.md"))]
    read = [(path.stem, path.read_text("utf-8")) for path in files]
    return {name: Guide(name, text.partition("\n")[0].lstrip("# "), text) for name, text in read}


def guides_about(word: str) -> list[Guide]:
    """Returns the pages that a word names: those with it in their name, else in a heading."""
    every = guides().values()
    named = [
        guide
        for guide in every
        if guide.name == word or _singular(word) in map(_singular, guide.name.split("-"))
    ]
    return named or [guide for guide in every if guide.has_heading(word)]


def guide_words() -> list[str]:
    """Returns the words of which the names of the pages consist."""
    return sorted({word for name in guides() for word in name.split("-")})


def _singular(word: str) -> str:
    return word.casefold().rstrip("s")
