"""`gt log` and `gt path`."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

import click

from gitticks.actions.context import Context
from gitticks.actions.showing import branch_history, task_history, task_of, titles_in
from gitticks.actions.task_files import find_task_path
from gitticks.cli.json import print_answer, print_object
from gitticks.cli.options import begin_of, command, task_argument
from gitticks.cli.render import Style, count_of, say, screen
from gitticks.cli.table import Cell, table
from gitticks.cli.text import visible
from gitticks.cli.views.history import clock, event_lines
from gitticks.errors import Exit, UsageError
from gitticks.model.approval import LEVELS

DEFAULT_COUNT = 20
_SHORT = 10


@command("log", "gt log k7f2", "gt log -n 50", "gt log --since 3d", "gt log --verify")
@task_argument(required=False)
@click.option(
    "-n",
    "--count",
    type=click.IntRange(1),
    help=f"Show the last N; by default all of a task, {DEFAULT_COUNT} of all tasks, or all with --since.",
)
@click.option("--since", metavar="WHEN", help="From a date, or this far back: 2026-10-01, 2h, 30d, 12w.")
@click.option("--verify", is_flag=True, help="Verify every approval in the history instead.")
def log_command(
    context: Context, *, task: str | None, count: int | None, since: str | None, verify: bool
) -> int:
    """Show the history of one task or of all tasks.

    With ID: what happened to that task, oldest first. Without: the last commits of the state branch, newest first. With
    --verify, each approval is checked: its signature, its key, what was merged, and what the policy required at the
    time; what was merged without an approval is listed too.
    """
    if verify and not (count is None and since is None):
        raise UsageError("`--verify` looks at the whole history", hint="leave out `--count` and `--since`")
    if verify:
        return _verify(context, task)
    start = begin_of(since, context.now)
    if task is None:
        _show_branch(context, count or (DEFAULT_COUNT if start is None else None), start)
    else:
        _show_task(context, task, count, start)
    return Exit.DONE


def _verify(context: Context, task: str | None) -> int:
    from gitticks.actions.verifying import verify_approvals  # loads the settings

    found = verify_approvals(context, task)
    wrong = [one for one in found if one.problem is not None]
    lines = []
    for one in wrong:
        place = f"{one.path}:{one.line}, commit {(one.commit or 'unknown')[:_SHORT]}"
        what = "is not valid" if one.can_verify else "cannot be verified here"
        lines += [
            visible(f"{one.task}  {one.strength} by {one.by} {what}: {one.problem}"),
            f"      {place}",
        ]
    counts = Counter(one.strength for one in found if one.problem is None)
    held = ", ".join(f"{counts[level]} {level}" for level in LEVELS if counts[level])
    unknown = sum(not one.can_verify for one in wrong)
    words = [count_of(len(found), "approval"), f"{len(wrong) - unknown} invalid"]
    words += [f"{unknown} not verified"] if unknown else []
    lines.append(f"{', '.join(words)}{f'; the others: {held}' if held else ''}")
    print_answer(context, lines, approvals=found)
    return Exit.FAILED if wrong else Exit.DONE


def _show_task(context: Context, task: str, count: int | None, since: datetime | None) -> None:
    found = task_history(context, task, count, since)
    if context.as_json:
        print_object(id=found.task_id, events=found.events)
        return
    if found.left_out:
        say(f"{count_of(found.left_out, 'earlier event')} left out", err=True)
    if not found.events and not found.left_out:
        say(f"nothing is recorded about `{found.task_id}`", err=True)
    say(*event_lines(screen(), found.events, context.now))


def _show_branch(context: Context, count: int | None, since: datetime | None) -> None:
    commits = branch_history(context, count, since)
    titles = titles_in(context, commits)
    rows: list[list[Cell | str]] = [
        [
            Cell(clock(one.at, context.now), Style.FAINT),
            one.author,
            one.subject,
            Cell("" if (title := titles.get(task_of(one) or "", "")) in one.subject else title, Style.FAINT),
        ]
        for one in commits
    ]
    lines = table(screen(), ["", "", "", "title"], rows, flexible="title", with_heading=False)
    print_answer(context, lines, commits=commits)


@command("path", '$EDITOR "$(gt path k7f2)"')
@task_argument(required=False)
def path_command(context: Context, task: str | None) -> None:
    """Print the path of a task's file.

    Without ID: the task of the current workspace.
    """
    path = find_task_path(context, task)
    print_answer(context, [str(path)], path=path)
