"""Meters: thin lines that say how much is used, amber from 80 %, red from 95 %; words repeat what the colour says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gitticks.runner.run_record import BudgetState
from gitticks.tui.theme import glyph
from gitticks.tui.widgets.lines import Line, Span, line

NEARLY, SPENT = 80, 95
_LABELS = {"iterations": "Iterations", "tokens": "Tokens", "cost": "Cost", "duration": "Time"}
_ORDER = tuple(_LABELS)
_LEAST_METER = 6


def meter(used: float, limit: float, width: int, colour: str | None = None) -> list[Span]:
    """Returns the spans of a meter; a limit of 0 draws an empty one."""
    share = min(1.0, max(0.0, used / limit)) if limit > 0 else 0.0
    full = round(share * width)
    token = colour or level(share * 100, "busy")
    return [(glyph("full") * full, token), (glyph("empty") * (width - full), "line")]


def level(percent: float, otherwise: str = "muted") -> str:
    """Returns the colour of so much that is spent."""
    return "bad" if percent >= SPENT else "waits" if percent >= NEARLY else otherwise


def in_order(budgets: Sequence[BudgetState]) -> list[BudgetState]:
    """Returns the fullest budget of each metric, the first of equally full ones, in the usual order."""
    fullest: dict[str, BudgetState] = {}
    for one in budgets:
        if one.percent > fullest.setdefault(one.metric, one).percent:
            fullest[one.metric] = one
    return sorted(fullest.values(), key=lambda one: _ORDER.index(one.metric))


def budget_rows(budgets: Sequence[BudgetState], width: int) -> list[Line]:
    """Returns one row a limit; whose it is is there unless it is the run's."""
    chosen = in_order(budgets)
    said = [words_of(one) for one in chosen]
    room = max(map(len, said), default=0)
    rows = []
    for one, words in zip(chosen, said, strict=True):
        owner = f" {one.task}" if one.task is not None else ""
        label = f"{_LABELS.get(one.metric, one.metric)}{owner}"
        columns = width - 12 - room - 2 - (len(owner) if owner else 0)
        bar = meter(one.percent, 100, columns) if columns >= _LEAST_METER else []
        rows.append(line((f"{label:<11} ", "fg"), *bar, right=[(f"{words:>{room}}", level(one.percent))]))
    return rows


def unlimited_rows(budgets: Sequence[BudgetState], spent: Mapping[str, str]) -> list[Line]:
    """Returns one row a metric without a limit: what was spent of it, in words."""
    limited = {one.metric for one in budgets}
    return [
        line((f"{_LABELS[metric]:<11} ", "fg"), right=[(words, "muted")])
        for metric, words in spent.items()
        if metric not in limited and words
    ]


def words_of(budget: BudgetState) -> str:
    """Returns what is spent of what, without what the label says, and tokens in thousands or millions."""
    if budget.metric == "tokens":
        return f"{_short(budget.spent)} of {_short(budget.limit)}"
    return budget.words.removesuffix(f" {budget.metric}")


def _short(number: float) -> str:
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.0f}"


def nearly_spent(budgets: Sequence[BudgetState]) -> tuple[str, str]:
    """Returns what the border says of the fullest budget, with its colour; empty below 80 %."""
    fullest = max(budgets, key=lambda one: one.percent, default=None)
    if fullest is None or fullest.percent < NEARLY:
        return "", "muted"
    name = _LABELS.get(fullest.metric, fullest.metric).lower()
    if fullest.percent >= 100:  # noqa: PLR2004 (per cent)
        return f"{name}: limit reached", "bad"
    return f"{name} nearly spent", level(fullest.percent)
