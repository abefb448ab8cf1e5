"""`gt list`."""

from __future__ import annotations

import click

from gitticks.actions.context import Context
from gitticks.actions.listing import Filter, Listing, list_tasks
from gitticks.cli.json_output import entry_object, print_object, print_tasks, task_object
from gitticks.cli.options import (
    Command,
    awaiting_filter,
    complete_task,
    json_option,
    pass_context,
    status_filter,
)
from gitticks.cli.render import say, screen
from gitticks.cli.tasks_table import awaiting_lines, print_tasks_or, warn_of_broken
from gitticks.model.status import Awaiting, Status


@click.command(
    "list", cls=Command, examples=("gt list --awaiting", "gt list --status working,in_review --label auth")
)
@awaiting_filter
@status_filter
@click.option("-l", "--label", "labels", multiple=True, help="Only with this label; repeat for several.")
@click.option("--parent", metavar="ID", shell_complete=complete_task, help="Only children of this task.")
@click.option("--agent", help="Only what is given to this agent.")
@click.option("--reviewer", help="Only what this person should answer.")
@click.option("-a", "--all", "with_closed", is_flag=True, help="Closed tasks too.")
@json_option
@pass_context
def command(
    context: Context,
    *,
    awaiting: frozenset[Awaiting] | None,
    statuses: tuple[frozenset[Status], ...],
    labels: tuple[str, ...],
    parent: str | None,
    agent: str | None,
    reviewer: str | None,
    with_closed: bool,
    as_json: bool,
) -> None:
    """List tasks.

    Open ones, in the order in which they would be picked. With --awaiting: what awaits a person, with the open
    question and how long ago it was asked.
    """
    wanted = Filter(
        kinds=awaiting,
        statuses=frozenset[Status]().union(*statuses) if statuses else None,
        labels=labels,
        parent=parent,
        agent=agent,
        reviewer=reviewer,
        with_closed=with_closed,
    )
    found = list_tasks(context, wanted)
    warn_of_broken(found.broken)
    if as_json:
        _print_json(found, wanted)
    elif wanted.kinds is not None and found.standings:
        _print_awaiting(context, found)
    else:
        print_tasks_or(screen(), found.standings, _nothing(found, wanted))


def _print_awaiting(context: Context, found: Listing) -> None:
    on, now = screen(), context.now
    for standing in found.standings:
        say(*awaiting_lines(on, standing, found.questions[standing.task.id], now))


def _print_json(found: Listing, wanted: Filter) -> None:
    if wanted.kinds is None:
        print_tasks(found.standings)
        return
    print_object(
        tasks=[
            {
                **task_object(standing),
                "open_questions": [entry_object(entry) for entry in found.questions[standing.task.id]],
            }
            for standing in found.standings
        ]
    )


def _nothing(found: Listing, wanted: Filter) -> str:
    if not found.has_tasks:
        return 'no tasks yet: `gt create "…"` makes the first'
    if wanted.kinds is not None:
        return "nothing awaits a person: `gt status` says what runs"
    if not wanted.is_empty:
        return "no task is like that: `gt list --all` lists every task"
    return "no open tasks: `gt list --all` lists the closed ones"
