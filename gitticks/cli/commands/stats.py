"""`gt stats`."""

from __future__ import annotations

from datetime import date, timedelta

from gitticks.actions.context import Context
from gitticks.actions.named_file import write_named_file
from gitticks.actions.statistics.figures import gather, read_since
from gitticks.cli.at_once import JSON, Option, ReadingCommand
from gitticks.cli.json import print_object
from gitticks.cli.render import NO_TASKS, say, screen
from gitticks.cli.text import visible
from gitticks.cli.views.statistics import statistics_lines, statistics_object
from gitticks.cli.views.statistics_page import page
from gitticks.errors import UsageError


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
        text = page(found, (context.repository.main_worktree or context.repository.common_dir).name)
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
