"""`gt log` and `gt path`."""

from __future__ import annotations

import click

from gitticks.actions.context import Context
from gitticks.actions.history import branch_history, task_history, task_of, titles_in
from gitticks.actions.task_files import find_task_path
from gitticks.cli.json import event_object, print_object
from gitticks.cli.options import command, task_argument
from gitticks.cli.render import Style, count_of, say, screen
from gitticks.cli.table import Cell, table
from gitticks.cli.views.history import clock, event_lines

DEFAULT_COUNT = 20


@command("log", "gt log k7f2", "gt log -n 50")
@task_argument(required=False)
@click.option(
    "-n",
    "--count",
    type=click.IntRange(1),
    help=f"How many; default: all of a task, {DEFAULT_COUNT} of all tasks.",
)
def log_command(context: Context, task: str | None, count: int | None, as_json: bool) -> None:
    """Show the history of a task or of all.

    With ID: what happened to that task, oldest first. Without: the last commits of the state branch, newest first.
    """
    if task is None:
        _show_branch(context, count or DEFAULT_COUNT, as_json=as_json)
    else:
        _show_task(context, task, count, as_json=as_json)


def _show_task(context: Context, task: str, count: int | None, *, as_json: bool) -> None:
    found = task_history(context, task, count)
    if as_json:
        print_object(id=found.task_id, events=[event_object(event) for event in found.events])
        return
    if found.left_out:
        say(f"{count_of(found.left_out, 'earlier event')} left out", err=True)
    if not found.events:
        say(f"nothing is recorded of `{found.task_id}`", err=True)
    say(*event_lines(screen(), found.events, context.now))


def _show_branch(context: Context, count: int, *, as_json: bool) -> None:
    commits = branch_history(context, count)
    if as_json:
        print_object(commits=commits)
        return
    titles = titles_in(context, commits)
    rows: list[list[Cell | str]] = [
        [
            Cell(clock(one.at, context.now), Style.FAINT),
            one.author,
            one.subject,
            Cell(_unless_told(titles.get(task_of(one) or "", ""), one.subject), Style.FAINT),
        ]
        for one in commits
    ]
    say(*table(screen(), ["", "", "", "title"], rows, flexible="title", with_heading=False))


def _unless_told(title: str, subject: str) -> str:
    """Returns a title; nothing where the subject tells it already."""
    return "" if title in subject else title


@command("path", '$EDITOR "$(gt path k7f2)"')
@task_argument(required=False)
def path_command(context: Context, task: str | None, as_json: bool) -> None:
    """Print the path of a task's file.

    Without ID: of the task whose workspace this is.
    """
    path = find_task_path(context, task)
    if as_json:
        print_object(path=path)
    else:
        say(str(path))
