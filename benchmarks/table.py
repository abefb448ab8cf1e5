"""The results as markdown tables, and their place in a page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.peers.base import WRITES, Work
from benchmarks.peers.python import CLICK, CLICK_AND_PYGIT2
from benchmarks.results import Results
from benchmarks.rounds import Row
from benchmarks.targets import Target

BEGIN, END = "<!-- results -->", "<!-- end of results -->"


def processes(results: Results, size: int) -> str:
    """Returns the table of whole processes of one size, 0 for the start-ups; failed rows have a reason for numbers."""
    header = ("work", "tool", "ms", "least", "× click", "× pygit2", "CPU ms", "MB", "runs")
    lines = [_cells(results, row) for row in results.rows if row.size == size]
    return table(header, lines, texts=2)


def commits(results: Results) -> str:
    """Returns the table of commits in a running process."""
    header = ("tasks", "ms", "least", "ms, with the board", "least")
    lines = []
    for size in results.sizes:
        cells = [f"{size:,}"]
        for has_board in (False, True):
            times = results.commits.get((size, has_board), ())
            middle = results.commit_seconds(size, has_board=has_board)
            cells += ["", ""] if middle is None else [f"{middle * 1000:.1f}", f"{min(times) * 1000:.1f}"]
        lines.append(tuple(cells))
    return table(header, lines, texts=0)


def writers(results: Results) -> str:
    """Returns the table of many writers."""
    header = (
        "writers",
        "tasks",
        "commits a second",
        "longest wait, ms",
        "`gt` at once, s",
        "one after the other, s",
        "×",
    )
    lines = [
        (
            str(one.writers),
            f"{one.size:,}{', with the board' if one.has_board else ''}",
            f"{one.per_second:,.0f}",
            f"{one.longest_seconds * 1000:,.0f}",
            f"{one.together_seconds:.2f}",
            f"{one.in_turn_seconds:.2f}",
            f"{one.together_seconds / one.in_turn_seconds:.2f}",
        )
        for one in results.crowds
    ]
    return table(header, lines, texts=0)


def watches(results: Results) -> str:
    """Returns the table of boards beside a `gt watch`."""
    header = ("tasks", "edits", "taken up, ms", "longest, ms", "idle, % of a core")
    lines = [
        (
            f"{one.size:,}",
            str(len(one.taken_seconds)),
            f"{one.middle_seconds * 1000:,.0f}",
            f"{max(one.taken_seconds) * 1000:,.0f}",
            "" if one.idle_share is None else f"{one.idle_share * 100:.2f}",
        )
        for one in results.watched
    ]
    return table(header, lines, texts=0)


def verdicts(targets: Iterable[Target]) -> str:
    """Returns the table of what is reached and what is not."""
    lines = [
        (
            one.what,
            f"{'≥' if one.is_floor else '≤'} {_number(one.limit)} {one.unit}".strip(),
            "" if one.measured is None else f"{_number(one.measured)} {one.unit}".strip(),
            "" if one.by_cpu is None else f"{_number(one.by_cpu)} {one.unit}".strip(),
            one.verdict,
        )
        for one in targets
    ]
    return table(("target", "goal", "measured", "by CPU", ""), lines, texts=1)


def table(header: Sequence[str], lines: Iterable[Sequence[str]], *, texts: int) -> str:
    """Returns a markdown table whose first columns are texts and whose others are numbers."""
    ruler = ["---" if column < texts else "---:" for column in range(len(header))]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (header, ruler, *lines))


def _cells(results: Results, row: Row) -> tuple[str, ...]:
    if row.failure is not None:
        return (row.work, row.tool, "failed", row.failure.reason.replace("|", "\\|"), "", "", "", "", "")
    cost = row.cost
    return (
        row.work,
        row.tool,
        f"{cost.seconds * 1000:,.0f}",
        f"{row.least_seconds * 1000:,.0f}",
        _ratio(cost.seconds, results.seconds(0, Work.START, CLICK)),
        _ratio(cost.seconds, results.seconds(0, Work.START, CLICK_AND_PYGIT2)) if row.work in WRITES else "",
        f"{cost.cpu_seconds * 1000:,.0f}",
        f"{cost.peak_kilobytes / 1024:.0f}",
        str(len(row.costs)),
    )


def _ratio(seconds: float, baseline: float | None) -> str:
    return "" if baseline is None else f"{seconds / baseline:.2f}"


def _number(value: float) -> str:
    """Returns three digits or all before the point."""
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def replace_results(page: Path, results: str) -> None:
    """Puts the results between the page's two markers.

    Raises:
        ValueError: the page lacks them.
    """
    text = page.read_text(encoding="utf-8")
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"{page} has no `{BEGIN}` and `{END}`")
    page.write_text(pattern.sub(lambda _: f"{BEGIN}\n{results}{END}", text), encoding="utf-8")
