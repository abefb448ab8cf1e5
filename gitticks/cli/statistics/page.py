"""Statistics as one page that needs nothing else: no network, no script, no font; readable by day and by night."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gitticks.cli.render import count_of, elapsed
from gitticks.cli.statistics.charts import WIDTH, Chart, Series, columns, rows
from gitticks.cli.statistics.words import (
    COLUMNS,
    NO_AGENT,
    NO_EPIC,
    money,
    period_words,
    row,
    summary,
)
from gitticks.cli.text import cut, visible
from gitticks.document.values import format_time

if TYPE_CHECKING:
    from gitticks.actions.statistics.figures import Statistics, Week

MOST_WEEKS, MOST_AGENTS = 52, 8
_NAME_COLUMNS, _MANY_DOLLARS = 12, 10
_TEMPLATE = Path(__file__).with_name("page.html")
_HOUR, _DAY = 3600, 86400
_LEADS = (
    ("1 hour", _HOUR),
    ("4 hours", 4 * _HOUR),
    ("1 day", _DAY),
    ("3 days", 3 * _DAY),
    ("1 week", 7 * _DAY),
    ("4 weeks", 28 * _DAY),
    ("longer", float("inf")),
)


def page(found: Statistics, project: str) -> str:
    """Returns the page's text; whatever came from tasks is text in it, never markup."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string(_TEMPLATE.read_text("utf-8"))
    return template.render(
        project=visible(project),
        period=period_words(found.period),
        until=format_time(found.period.until),
        summary=[(name.strip(), words, name.startswith(" ")) for name, words in summary(found)],
        charts=list(charts(found)),
        width=WIDTH,
        tables=_tables(found),
        columns=COLUMNS,
    )  # fmt: skip


def charts(found: Statistics) -> Iterator[Chart]:
    """Yields the charts of the page, empty ones too."""
    weeks = found.weeks[-MOST_WEEKS:]
    told = f" in the last {MOST_WEEKS} weeks" if len(found.weeks) > MOST_WEEKS else ""
    yield _tasks_by_week(weeks, told)
    yield _leads(found)
    yield _waits(found)
    yield _waits_by_week(weeks, told)
    yield _cost_by_week(weeks, told)
    yield _trouble(found)


def _tasks_by_week(weeks: Sequence[Week], told: str) -> Chart:
    return columns(
        "Done and created",
        f"Tasks that were done and tasks that were created, week by week{told}.",
        _labels(weeks),
        [_counts("done", [one.done for one in weeks]), _counts("created", [one.created for one in weeks])],
        _count,
        whole=True,
    )


def _leads(found: Statistics) -> Chart:
    counts, below = [], 0.0
    for _, limit in _LEADS:
        counts.append(sum(below <= one < limit for one in found.total.lead_seconds))
        below = limit
    return columns(
        "From creation to done",
        "How many of the tasks that were done took up to so long.",
        [name for name, _ in _LEADS],
        [_counts("tasks", counts)],
        _count,
        whole=True,
    )


def _waits(found: Statistics) -> Chart:
    return rows(
        "Waiting for people",
        "How long tasks waited for a person in all, by what they awaited.",
        [one.kind.value for one in found.waits],
        Series(
            "in all",
            [sum(one.seconds) for one in found.waits],
            [f"{elapsed(sum(one.seconds))} in {count_of(len(one.seconds), 'wait')}" for one in found.waits],
        ),
    )


def _waits_by_week(weeks: Sequence[Week], told: str) -> Chart:
    hours = [one.waited_seconds / _HOUR for one in weeks]
    return columns(
        "Waiting for people, week by week",
        f"Hours that tasks waited for people, by the week of the answer{told}.",
        _labels(weeks),
        [Series("hours", hours, [elapsed(one.waited_seconds) for one in weeks])],
        lambda hours: f"{hours:,.4g} h",
    )


def _cost_by_week(weeks: Sequence[Week], told: str) -> Chart:
    return columns(
        "Cost",
        f"What agents cost, week by week{told}.",
        _labels(weeks),
        [Series("dollars", [one.cost for one in weeks], [money(one.cost) for one in weeks])],
        lambda dollars: money(dollars) if dollars < _MANY_DOLLARS else f"${dollars:,.0f}",
    )


def _trouble(found: Statistics) -> Chart:
    agents = [one for one in found.agents if one.figures.failed_reviews or one.figures.crashes][:MOST_AGENTS]
    return columns(
        "What went wrong",
        "Failed reviews and crashes of each agent.",
        [cut(visible(one.name) or NO_AGENT, _NAME_COLUMNS) for one in agents],
        [
            _counts("failed reviews", [one.figures.failed_reviews for one in agents]),
            _counts("crashes", [one.figures.crashes for one in agents]),
        ],
        _count,
        whole=True,
    )


def _labels(weeks: Sequence[Week]) -> list[str]:
    return [f"{one.monday:%m-%d}" for one in weeks]


def _counts(name: str, values: Sequence[int]) -> Series:
    return Series(name, values, [str(value) for value in values])


def _count(value: float) -> str:
    return str(round(value))


def _tables(found: Statistics) -> list[tuple[str, list[tuple[str, str, list[str]]]]]:
    """Returns each table's name with its rows: an id, a name, and the figures."""
    return [
        (
            "By epic",
            [(one.id or "", visible(one.title) if one.id else NO_EPIC, row(one.figures)) for one in found.epics],
        ),
        ("By agent", [("", visible(one.name) or NO_AGENT, row(one.figures)) for one in found.agents]),
    ]  # fmt: skip
