"""One table of what the words of a task's state mean: status, phase and awaiting."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from gitticks.cli.render import Screen
from gitticks.cli.table import table
from gitticks.model.status import ANSWERED, AWAITING_MEANINGS, PHASES, STATUS_MEANINGS, Awaiting

_STATUS = "Status: how far a task has come. Gitticks moves it; several statuses make a phase, a column of `gt board`."
_AWAITING = "Awaiting: why a task waits for a person, beside its status. A task without it waits for an agent or for nobody."
_CLOSING = "`gt list --status` takes statuses and phases, `gt list --awaiting` kinds. `gt help workflow` has the steps."


def states_page(on: Screen) -> list[str]:
    """Returns the lines of the page."""
    statuses = [
        (f"{on.glyph(status)} {status}", str(PHASES[status]), meaning)
        for status, meaning in STATUS_MEANINGS.items()
    ]
    kinds = [(kind, _answer(kind), meaning) for kind, meaning in AWAITING_MEANINGS.items()]
    return [
        *_wrapped(on, _STATUS),
        "",
        *table(on, ["  status", "phase", "means"], statuses, flexible="means"),
        "",
        *_wrapped(on, _AWAITING),
        "",
        *table(on, ["awaiting", "answer by", "means"], kinds, flexible="means"),
        "",
        *_wrapped(on, _CLOSING),
    ]


def _answer(kind: str) -> str:
    if kind == Awaiting.WORK:
        return "gt start, close"
    return "gt respond" if kind in ANSWERED else "gt approve, reject"


def _wrapped(on: Screen, text: str) -> Iterator[str]:
    yield from textwrap.wrap(text, on.columns)
