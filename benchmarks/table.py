"""The results as a markdown table, and their place in a page."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.peers.python import CLICK
from benchmarks.rounds import Row

BEGIN, END = "<!-- results -->", "<!-- end of results -->"
HEADER = ("work", "tool", "ms", "× click", "CPU ms", "MB", "runs")


def render(rows: list[Row]) -> str:
    """Returns the table; failed rows have their reason in place of numbers, and are never timed."""
    baseline = next(
        (row.cost.seconds for row in rows if row.tool.endswith(f": {CLICK}") and not row.failure), None
    )
    lines = [_line(HEADER), _line(("---", "---", *("---:" for _ in HEADER[2:])))]
    return "\n".join([*lines, *(_line(_cells(row, baseline)) for row in rows)]) + "\n"


def _cells(row: Row, baseline: float | None) -> tuple[str, ...]:
    if row.failure is not None:
        return (row.work, row.tool, "failed", row.failure.reason.replace("|", "\\|"), "", "", "")
    cost = row.cost
    return (
        row.work,
        row.tool,
        f"{cost.seconds * 1000:,.0f}",
        f"{cost.seconds / baseline:.2f}" if baseline else "",
        f"{cost.cpu_seconds * 1000:,.0f}",
        f"{cost.peak_kilobytes / 1024:.0f}",
        str(len(row.costs)),
    )


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


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
