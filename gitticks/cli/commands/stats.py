"""`gt stats`, and its self-contained HTML page with charts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from math import ceil, floor, log10
from pathlib import Path
from typing import NamedTuple

from gitticks.actions.context import Context
from gitticks.actions.named_file import write_named_file
from gitticks.actions.statistics.figures import Statistics, gather, read_since
from gitticks.cli.at_once import JSON, Option, ReadingCommand
from gitticks.cli.json import print_object
from gitticks.cli.render import NO_TASKS, count_of, say, screen
from gitticks.cli.text import cut, visible
from gitticks.cli.views.statistics import (
    COLUMNS,
    NO_AGENT,
    NO_EPIC,
    money,
    period_words,
    row,
    statistics_lines,
    statistics_object,
    summary,
)
from gitticks.document.values import format_time
from gitticks.errors import UsageError
from gitticks.world import elapsed

_MOST_TICKS, _MOST_LABELS = 4, 9
_STEPS, _LEAST = (1, 2, 5, 10), 1e-6

MOST_WEEKS, MOST_AGENTS = 52, 8
_NAME_COLUMNS, _MANY_DOLLARS = 12, 10
_TEMPLATE = Path(__file__).with_name("stats.html")
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


def answer(context: Context, *, since: date | timedelta | None, html: str | None) -> None:
    """Show statistics: work done, time spent waiting for people, cost.

    From the histories of all tasks: by week, by epic and by agent. `lead` is the median time from a task's creation
    until it is done.
    """
    if html is not None and context.as_json:
        raise UsageError("`--html` and `--json` cannot be used together", hint="`gt stats --html stats.html`")
    found = gather(context, since)
    if context.as_json:
        print_object(**statistics_object(found))
    elif html is not None:
        text = _page(found, (context.repository.main_worktree or context.repository.common_dir).name)
        if html == "-":
            say(text)
        else:
            write_named_file(context.directory / html, text.encode())
            say(visible(html))
    elif context.index.has_tasks():
        say(*statistics_lines(screen(), found))
    else:
        say(NO_TASKS, err=True)


stats_command = ReadingCommand(
    "stats",
    answer,
    (
        Option("since", ("--since",), "Count from a date, or this far back: 2026-10-01, 2h, 30d, 12w.", metavar="WHEN", read=read_since),
        Option(
            "html",
            ("--html",),
            "Write a self-contained HTML page with charts; `-` prints it.",
            metavar="FILE",
            completes="file",
        ),
        JSON,
    ),
    examples=("gt stats --since 12w", "gt stats --html stats.html"),
)  # fmt: skip


class Series(NamedTuple):
    """What one kind of bar tells: one value for each label, and the same in words."""

    name: str
    values: Sequence[float]
    words: Sequence[str]


class Chart(NamedTuple):
    """A chart: what it says in words, and for each label a bar of each series, of which `top` is the longest there is room for.

    Upright bars have a grid: how far up each of its lines is, in percent, and what it says. Lying ones have none, and
    their words behind them.
    """

    title: str
    description: str
    labels: Sequence[str]
    series: Sequence[Series]
    top: float
    grid: Sequence[tuple[float, str]] = ()

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Returns its figures as rows of a table, each with its label first."""
        return list(zip(self.labels, *(one.words for one in self.series), strict=True))

    @property
    def bars(self) -> list[list[float]]:
        """Returns for each label how long its bars are, in percent; nothing where no value is above zero."""
        lengths = [[round(100 * value / self.top, 1) for value in one.values] for one in self.series]
        return list(map(list, zip(*lengths, strict=True))) if any(map(any, lengths)) else []


def columns(
    title: str,
    about: str,
    labels: Sequence[str],
    series: Sequence[Series],
    tick: Callable[[float], str] | None = None,
) -> Chart:
    """Returns a chart with a group of upright bars for each label, and beside its grid what `tick` says of a value.

    Without it the values are whole numbers, and so is the grid.
    """
    say = tick or (lambda value: str(round(value)))
    most = max((value for one in series for value in one.values), default=0)
    step = _step(most, whole=tick is None)
    ticks = ceil(most / step) or 1
    grid = [(round(100 * number / ticks, 1), say(step * number)) for number in range(ticks + 1)]
    return Chart(title, about, labels, series, step * ticks, grid)


def rows(title: str, about: str, labels: Sequence[str], one: Series) -> Chart:
    """Returns a chart with a lying bar for each label, and its words behind it."""
    return Chart(title, about, labels, [one], max(one.values, default=0) or 1)


def _step(most: float, *, whole: bool) -> float:
    """Returns the distance of the grid's lines: 1, 2 or 5 with zeros, such that there are few of them."""
    if most < _LEAST:
        return 1
    rough = most / _MOST_TICKS
    size = 10.0 ** floor(log10(rough))
    step = next(size * one for one in _STEPS if size * one >= rough)
    return max(1.0, step) if whole else step


def _page(found: Statistics, project: str) -> str:
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
        most_labels=_MOST_LABELS,
        tables=_tables(found),
        columns=COLUMNS,
    )  # fmt: skip


def charts(found: Statistics) -> Iterator[Chart]:
    """Yields the charts of the page, empty ones too."""
    weeks = found.weeks[-MOST_WEEKS:]
    span = f" in the last {MOST_WEEKS} weeks" if len(found.weeks) > MOST_WEEKS else ""
    labels = [f"{one.monday:%m-%d}" for one in weeks]
    yield columns(
        "Done and created",
        f"Tasks done and tasks created, week by week{span}.",
        labels,
        [_counts("done", [one.done for one in weeks]), _counts("created", [one.created for one in weeks])],
    )
    yield _leads(found)
    waited = [sum(one.seconds) for one in found.waits]
    counts = [count_of(len(one.seconds), "wait") for one in found.waits]
    yield rows(
        "Waiting for people",
        "Total time that tasks waited for a person, by kind of awaiting.",
        [one.kind.value for one in found.waits],
        Series(
            "in all",
            waited,
            [f"{elapsed(one)} in {count}" for one, count in zip(waited, counts, strict=True)],
        ),
    )
    hours = [one.waited_seconds / _HOUR for one in weeks]
    yield columns(
        "Waiting for people, week by week",
        f"Hours that tasks waited for people, by the week of the answer{span}.",
        labels,
        [Series("hours", hours, [elapsed(one.waited_seconds) for one in weeks])],
        lambda hours: f"{hours:,.4g} h",
    )
    yield columns(
        "Cost",
        f"What agents cost, week by week{span}.",
        labels,
        [Series("dollars", [one.cost for one in weeks], [money(one.cost) for one in weeks])],
        lambda dollars: money(dollars) if dollars < _MANY_DOLLARS else f"${dollars:,.0f}",
    )
    yield _trouble(found)


def _leads(found: Statistics) -> Chart:
    counts, below = [], 0.0
    for _, limit in _LEADS:
        counts.append(sum(below <= one < limit for one in found.total.lead_seconds))
        below = limit
    return columns(
        "From creation to done",
        "How many tasks were done within a given time.",
        [name for name, _ in _LEADS],
        [_counts("tasks", counts)],
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
    )


def _counts(name: str, values: Sequence[int]) -> Series:
    return Series(name, values, [str(value) for value in values])


def _tables(found: Statistics) -> list[tuple[str, list[tuple[str, str, list[str]]]]]:
    return [
        (
            "By epic",
            [(one.id or "", visible(one.title) if one.id else NO_EPIC, row(one.figures)) for one in found.epics],
        ),
        ("By agent", [("", visible(one.name) or NO_AGENT, row(one.figures)) for one in found.agents]),
    ]  # fmt: skip
