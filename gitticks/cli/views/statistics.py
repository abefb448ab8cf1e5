"""Statistics as lines for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gitticks.actions.statistics.figures import (
    HALF,
    MOST,
    BudgetFigures,
    Figures,
    Period,
    Statistics,
    Week,
    share,
)
from gitticks.cli.render import GAP, NARROWEST_TITLE, Screen, Style, count_of
from gitticks.cli.table import Column, table_of
from gitticks.cli.text import as_called, wrap
from gitticks.model.spending import Metric, in_words
from gitticks.world import elapsed

NO_EPIC, NO_AGENT = "(no epic)", "(no agent)"
_THOUSAND, _MILLION = 1_000, 1_000_000

COLUMNS = ("open", "done", "lead", "waited", "rounds", "failed", "crashes", "tokens", "cost")
MOST_WEEKS, MOST_ROWS = 12, 10
_LONGEST_BAR, _WIDTH_OF_SUMS = 24, 23
_LEFT_OUT_FIRST = ("tokens", "crashes", "failed", "rounds", "lead", "cost")
_FULL = ("█", "#")


def money(dollars: float) -> str:
    """Returns `$1.50`."""
    return in_words(Metric.COST, dollars)


def short_number(number: int) -> str:
    """Returns `950`, `84 k`, `1.2 M`."""
    if number >= _MILLION:
        return f"{number / _MILLION:,.1f} M"
    return f"{number // _THOUSAND} k" if number >= _THOUSAND else str(number)


def _typical(seconds: Sequence[float]) -> str:
    middle = share(seconds, HALF)
    return "" if middle is None else elapsed(middle)


def period_words(period: Period) -> str:
    """Returns `since 2026-10-25`, or that it is all."""
    if period.since is None:
        return "all time"
    return f"since {period.since.astimezone().date().isoformat()}"


def summary(found: Statistics) -> list[tuple[str, str]]:
    """Returns what all tasks come to, each with what it is about."""
    total = found.total
    done = f"{total.done} done"
    if total.done:
        done += f" ({total.merged} merged, {total.done - total.merged} without code)"
    counts = f"{done}, {total.cancelled} cancelled, {total.created} created; {total.open} open now"
    told = [
        ("tasks", counts),
        ("from creation to done", _lead(total)),
        ("waiting for people", _waiting(total)),
    ]
    told += [
        (f"  {one.kind}", f"{elapsed(sum(one.seconds))} in {count_of(len(one.seconds), 'wait')}")
        for one in found.waits
    ]
    if total.sessions:
        told += [("agents", _agents(total)), ("spent", _spent(total))]
    return told


def _lead(figures: Figures) -> str:
    most = share(figures.lead_seconds, MOST)
    if most is None:
        return "nothing was done"
    return f"{_typical(figures.lead_seconds)} median, 90 % within {elapsed(most)}"


def _waiting(figures: Figures) -> str:
    if not figures.wait_seconds:
        return "nothing waited"
    told = (
        f"{elapsed(figures.waited_seconds)} in {count_of(len(figures.wait_seconds), 'wait')}, "
        f"median {_typical(figures.wait_seconds)}"
    )
    return f"{told}; {figures.waiting} still waiting" if figures.waiting else told


def _agents(figures: Figures) -> str:
    return ", ".join(
        (
            count_of(figures.sessions, "session"),
            count_of(figures.rounds, "round"),
            count_of(figures.failed_reviews, "failed review"),
            count_of(figures.crashes, "crash", "crashes"),
        )
    )


def _spent(figures: Figures) -> str:
    usage = figures.usage
    priced = f" ({money(figures.priced_cost)} of it calculated from prices)" if figures.priced_cost else ""
    told = [f"{money(usage.cost)}{priced}"] if usage.cost else []
    if usage.tokens_in or usage.tokens_out:
        told.append(f"{short_number(usage.tokens_in)} tokens in, {short_number(usage.tokens_out)} out")
    return ", ".join((*told, f"{elapsed(usage.seconds)} of agent time"))


def row(figures: Figures) -> list[str]:
    """Returns the figures of an epic or an agent, in the order of `COLUMNS`; most of those that are zero are left empty."""
    tokens = figures.usage.tokens_in + figures.usage.tokens_out
    return [
        str(figures.open),
        str(figures.done),
        _typical(figures.lead_seconds),
        elapsed(figures.waited_seconds) if figures.wait_seconds else "",
        str(figures.rounds or ""),
        str(figures.failed_reviews or ""),
        str(figures.crashes or ""),
        short_number(tokens) if tokens else "",
        money(figures.usage.cost) if figures.usage.cost else "",
    ]


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
    if found.budgets:
        yield ""
        yield from _budgets(on, found.budgets)


def _sums(on: Screen, found: Statistics) -> Iterator[str]:
    sums = list(summary(found))
    longest = _WIDTH_OF_SUMS + max(map(len, (words for _, words in sums)), default=0)
    is_narrow = on.is_terminal and on.columns < longest
    for name, words in sums:
        if not is_narrow:
            yield on.fit(f"{name.ljust(_WIDTH_OF_SUMS)}{words}")
            continue
        yield on.fit(name)
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
        yield as_called(f"… {len(rows) - len(shown)} more: `gt stats --json`")


def _budgets(on: Screen, budgets: Sequence[BudgetFigures]) -> Iterator[str]:
    shown = budgets[:MOST_ROWS]
    columns = [
        Column("budget", [f"{one.id}{GAP}{one.title}" for one in shown]),
        _right("%", [str(one.reading.percent) for one in shown]),
        Column("spent", [one.reading.words for one in shown], ours=True),
    ]
    yield from table_of(on, columns, flexible="budget")
    if len(shown) < len(budgets):
        yield as_called(f"… {len(budgets) - len(shown)} more: `gt stats --json`")


def _fitting(columns: Sequence[Column], room: int) -> list[Column]:
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


def statistics_object(found: Statistics) -> dict[str, Any]:
    """Returns the keys of `gt stats --json`."""
    return {
        "since": found.period.since,
        "until": found.period.until,
        "total": _figures(found.total),
        "waits": [{"kind": one.kind, **_waits(one.seconds, one.waiting)} for one in found.waits],
        "weeks": list(found.weeks),
        "epics": [{"id": one.id, "title": one.title, **_figures(one.figures)} for one in found.epics],
        "agents": [{"name": one.name or None, **_figures(one.figures)} for one in found.agents],
        "budgets": [
            {
                "id": one.id,
                "scope": one.reading.scope,
                "metric": one.reading.metric,
                "spent": one.reading.spent,
                "limit": one.reading.limit,
                "percent": one.reading.percent,
            }
            for one in found.budgets
        ],
    }


def _figures(figures: Figures) -> dict[str, Any]:
    lead = figures.lead_seconds
    return {
        "created": figures.created,
        "done": figures.done,
        "merged": figures.merged,
        "cancelled": figures.cancelled,
        "open": figures.open,
        "lead": {"median_seconds": share(lead, HALF), "most_seconds": share(lead, MOST)},
        "waits": _waits(figures.wait_seconds, figures.waiting),
        "rounds": figures.rounds,
        "failed_reviews": figures.failed_reviews,
        "crashes": figures.crashes,
        "sessions": figures.sessions,
        "tokens_in": figures.usage.tokens_in,
        "tokens_out": figures.usage.tokens_out,
        "cost": figures.usage.cost,
        "priced_cost": figures.priced_cost,
        "seconds": figures.usage.seconds,
    }


def _waits(seconds: Sequence[float], waiting: int) -> dict[str, Any]:
    return {
        "count": len(seconds),
        "waiting": waiting,
        "seconds": sum(seconds),
        "median_seconds": share(seconds, HALF),
    }
