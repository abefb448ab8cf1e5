"""`gt list`."""

from __future__ import annotations

from typing import Any

from gitticks.actions.context import Context
from gitticks.actions.derived_state import left_merge_in
from gitticks.actions.listing import Filter, Listing, Order, list_tasks
from gitticks.cli.at_once import JSON, Option, ReadingCommand, Switch
from gitticks.cli.filters import AWAITING, LABEL, REVIEWER, STATUS, parse_count, parse_order, parse_type
from gitticks.cli.json import print_tasks, task_text
from gitticks.cli.render import NOTHING_AWAITS, Screen, say, say_all, screen
from gitticks.cli.views.tasks import has_room_for_questions, or_no_tasks, task_table
from gitticks.model.status import Awaiting, Status


def answer(
    context: Context,
    *,
    awaiting: frozenset[Awaiting] | None,
    statuses: tuple[frozenset[Status], ...],
    sort: tuple[Order, bool] | None,
    limit: int | None,
    **others: Any,
) -> None:
    """List tasks.

    Open ones, in the order in which they would be picked. With --awaiting: what awaits a person, with the open
    question or what the agent said, and how long ago it was asked.
    """
    every = frozenset().union(*statuses) if statuses else None
    wanted = Filter(kinds=awaiting, statuses=every, **others)
    on = screen()
    order, is_reversed = sort or (None, False)
    found = list_tasks(
        context,
        wanted,
        with_questions=has_room_for_questions(on),
        order=order,
        is_reversed=is_reversed,
        limit=limit,
    )
    if context.as_json:
        _print_json(found, wanted)
    elif wanted.kinds is not None and found.standings:
        _print_awaiting(context, on, found)
    elif found.standings:
        say_all(
            task_table(
                on,
                found.standings,
                context.now,
                found.said,
                found.questions,
                due=found.due,
                overdue=found.overdue,
                strangers=found.strangers,
            )
        )
    else:
        say(or_no_tasks(context, _nothing(wanted)), err=True)
    if found.left_out and not context.as_json:
        say(f"{found.left_out} more: without `--limit` all are shown", err=True)


def _print_awaiting(context: Context, on: Screen, found: Listing) -> None:
    from gitticks.cli.commands.inbox import awaiting_lines

    lines: list[str] = []
    for standing in found.standings:
        task_id = standing.task.id
        questions, said = found.questions.get(task_id, ()), found.said.get(task_id, "")
        to_merge = left_merge_in(context, standing.task)
        lines += awaiting_lines(on, standing, questions, context.now, said=said, to_merge=to_merge)
    say(*lines)


def _print_json(found: Listing, wanted: Filter) -> None:
    if wanted.kinds is None:
        print_tasks(map(task_text, found.standings))
        return
    print_tasks(
        task_text(
            standing,
            open_questions=found.questions.get(standing.task.id, ()),
            said=found.said.get(standing.task.id, ""),
        )
        for standing in found.standings
    )


def _nothing(wanted: Filter) -> str:
    if wanted.kinds is not None:
        return NOTHING_AWAITS
    if not wanted.is_empty:
        return "no tasks match: `gt list --all` lists every task"
    return "no open tasks: `gt list --all` lists the closed ones"


list_command = ReadingCommand(
    "list",
    answer,
    (
        AWAITING,
        STATUS,
        LABEL,
        Option("parent", ("--parent",), "Only children of this task.", metavar="ID", completes="task"),
        Option("agent", ("--agent",), "Only tasks for this agent.", completes="agent"),
        REVIEWER,
        Option("assignee", ("--assignee",), "Only tasks assigned to this person.", completes="assignee"),
        Switch("is_mine", ("--mine",), "Only tasks assigned to you."),
        Switch("is_overdue", ("--overdue",), "Only open tasks that are overdue."),
        Switch("is_blocked", ("--blocked",), "Only tasks that wait for other tasks."),
        Option(
            "is_epic",
            ("-t", "--type"),
            "Only tasks, or only epics.",
            metavar="TYPE",
            read=parse_type,
            completes="task|epic",
        ),
        Option(
            "sort",
            ("--sort",),
            "Sort by priority, created, due, status, title or id; a leading `-` reverses the order.",
            metavar="KEY",
            read=parse_order,
            completes="priority|created|due|status|title|id",
        ),
        Option("limit", ("-n", "--limit"), "Show at most N.", metavar="N", read=parse_count),
        Switch("with_closed", ("-a", "--all"), "Include closed tasks."),
        JSON,
    ),
    examples=(
        "gt list --awaiting",
        "gt list --status working,in_review --label auth",
        "gt list --mine --sort due",
    ),
)
