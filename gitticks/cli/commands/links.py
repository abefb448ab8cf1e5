"""`gt block`, `gt unblock` and `gt defer`."""

from __future__ import annotations

import click

from gitticks.actions.context import Context
from gitticks.actions.task_lookup import find_task_to_change
from gitticks.actions.update import set_field
from gitticks.cli.options import Completes, command, task_argument
from gitticks.cli.writing import print_change


@command("block", "gt block k7f2 m3xq")
@task_argument()
@click.argument("others", metavar="OTHER…", nargs=-1, required=True, shell_complete=Completes("task*"))
def block_command(context: Context, *, task: str, others: tuple[str, ...], as_json: bool) -> None:
    """Make a task wait for others.

    ID is not started until every OTHER is done.
    """
    _change(context, task, [f"+{other}" for other in others], " already", as_json=as_json)


@command("unblock", "gt unblock k7f2 m3xq")
@task_argument()
@click.argument("others", metavar="OTHER…", nargs=-1, required=True, shell_complete=Completes("task*"))
def unblock_command(context: Context, *, task: str, others: tuple[str, ...], as_json: bool) -> None:
    """Remove blockers from a task."""
    _change(context, task, [f"-{other}" for other in others], "", as_json=as_json)


def _change(context: Context, task: str, wish: list[str], already: str, *, as_json: bool) -> None:
    context.require_person("say what a task waits for")
    task_id = find_task_to_change(context, task)
    updated = set_field(context, task_id, "blocked_by", tuple(wish))
    words = f"waits for {', '.join(updated.after.blocked_by) or 'nothing'}"
    words += "" if updated.is_changed else f"{already}, nothing was changed"
    print_change(context, task_id, words, as_json=as_json)


@command("defer", "gt defer k7f2 +3d", "gt defer k7f2 null")
@task_argument()
@click.argument("day", metavar="DAY")
def defer_command(context: Context, *, task: str, day: str, as_json: bool) -> None:
    """Defer a task until a date.

    DAY is 2026-12-24, +3d, +2w, today, tomorrow or a weekday; `null` removes it.
    """
    context.require_person("defer a task")
    task_id = find_task_to_change(context, task)
    until = set_field(context, task_id, "defer_until", day).after.defer_until
    words = f"deferred until {until:%A} {until.isoformat()}" if until is not None else "no longer deferred"
    print_change(context, task_id, words, as_json=as_json)
