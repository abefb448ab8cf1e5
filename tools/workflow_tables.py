"""The tables of the workflow page, made from the tables that decide, so that they cannot tell another story.

A table stands between `<!-- table: name -->` and `<!-- end -->`. `python -m tools.workflow_tables` fails if one is
stale; `--write` renews all. Words that no table of the code holds stand here, one for each member, so that a new
member without words fails.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from gitticks.model.status import AWAITING_MEANINGS, STATUS_MEANINGS, Awaiting, Status, Verdict
from gitticks.workflow.session_states import MEANINGS
from gitticks.workflow.signals import SignalKind
from gitticks.workflow.transitions import ENGINE_TABLE, GATE_MEANINGS, TABLE, VERDICTS, Asker
from tools.page import check_or_write

PAGE = Path("docs/explanation/workflow.md")
_TABLE = re.compile(r"(<!-- table: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)

SIGNALS = {
    SignalKind.COMPLETE: "the work is ready",
    SignalKind.APPROVAL_NEEDED: "the work is ready",
    SignalKind.REVIEW_REQUESTED: "the work is ready",
    SignalKind.CONTENT_REVIEW: "the work is ready",
    SignalKind.INPUT_NEEDED: "to clarification, awaiting input; its text is the question",
    SignalKind.ESCALATE: "to clarification, awaiting escalation",
    SignalKind.CHECKPOINT: "stays working, awaiting checkpoint",
    SignalKind.EJECT: "stays working, awaiting work",
    SignalKind.CONTINUE: "stays working; the next iteration follows",
    SignalKind.FAILED: "counts as a crash, with the text as its reason",
}


def statuses() -> str:
    """Returns the table of the statuses, in the order along the way."""
    rows = [(f"`{one}`", STATUS_MEANINGS[one], one.phase.value) for one in Status]
    return _table(("status", "means", "phase"), rows)


def session_states() -> str:
    """Returns the table of what sessions are doing."""
    return _table(("state", "means"), [(f"`{one}`", MEANINGS[one]) for one in MEANINGS])


def transitions() -> str:
    """Returns the table of what may be asked for."""
    order = list(Asker)
    rows = [
        (
            f"`{row.source}`",
            f"`{row.target}`",
            GATE_MEANINGS[row.gate],
            ", ".join(one.value for one in sorted(row.askers, key=order.index)),
        )
        for row in TABLE
    ]
    return _table(("from", "to", "gate", "who may ask"), rows)


def engine_transitions() -> str:
    """Returns the table of what the engine does besides."""
    rows = [(f"`{row.source}`", f"`{row.target}`", GATE_MEANINGS[row.gate]) for row in ENGINE_TABLE]
    return _table(("from", "to", "when"), rows)


def verdicts() -> str:
    """Returns the table of whose turn it is and what an answer leads to."""
    rows = [
        (
            f"`{one}`",
            AWAITING_MEANINGS[one],
            VERDICTS[one, Verdict.APPROVED].value,
            VERDICTS[one, Verdict.REJECTED].value,
        )
        for one in Awaiting
    ]
    return _table(("awaiting", "why", "approved", "rejected"), rows)


def signals() -> str:
    """Returns the table of what an agent can say."""
    rows = []
    for one in SignalKind:
        effect = SIGNALS[one]
        if one.asks_for_review:
            effect += "; asks for agent-review"
        if one.asked is not None:
            effect += f", and a person is asked for {one.asked}"
        rows.append((f"`{one}`", effect))
    return _table(("signal", "effect"), rows)


TABLES: dict[str, Callable[[], str]] = {
    "statuses": statuses,
    "session-states": session_states,
    "transitions": transitions,
    "engine-transitions": engine_transitions,
    "verdicts": verdicts,
    "signals": signals,
}


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def with_tables(page: str) -> str:
    """Returns a page with every table in it renewed.

    Raises:
        ValueError: it names an unknown table, or leaves one out.
    """
    named = [match[2] for match in _TABLE.finditer(page)]
    if sorted(named) != sorted(TABLES):
        raise ValueError(f"the page has the tables {named}, and should have {list(TABLES)}")
    return _TABLE.sub(lambda match: match[1] + TABLES[match[2]]() + match[3], page)


def main(arguments: list[str]) -> int:
    """Compares the page's tables with the code's, or writes them; returns the exit code."""
    return check_or_write(arguments, "tools.workflow_tables", PAGE, with_tables, "the workflow's tables")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
