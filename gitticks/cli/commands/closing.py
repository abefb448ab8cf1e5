"""`gt cancel`, `gt close` and `gt reopen`."""

from __future__ import annotations

import click

from gitticks.actions.context import Context
from gitticks.actions.lifecycle import cancel_task, close_task, is_worked_on, reopen_task
from gitticks.actions.task_lookup import find_tasks_to_decide
from gitticks.actions.verdict import prove_approval
from gitticks.cli.decisions import Decided, decide_each, merge_now, split_named, tasks_and_text
from gitticks.cli.editor import is_agreed, is_typed_to, typed_word
from gitticks.cli.options import command, task_argument
from gitticks.cli.writing import moved_words, read_text
from gitticks.model.ids import TaskId


@command("cancel", 'gt cancel k7f2 "the page is gone"')
@tasks_and_text("REASON")
def cancel_command(context: Context, *, words: tuple[str, ...], message: str | None, as_json: bool) -> int:
    """Give up on tasks.

    An agent that works on one is stopped. Their files and branches stay; `gt reopen` brings them back.
    """
    context.require_person("cancel a task")
    ids, typed = split_named(context, words, message)
    reason = read_text(typed, "the reason")

    def decide(task_id: TaskId) -> Decided:
        moved = cancel_task(context, task_id, reason)
        if moved.orphans:
            context.warnings.append(f"`{task_id}` leaves open children: {', '.join(moved.orphans)}")
        return Decided(moved.after, ("cancelled",))

    return decide_each(context, ids, decide, as_json=as_json)


@command("close", 'gt close k7f2 "fixed by hand in 3f2a91c"')
@tasks_and_text("REASON")
@click.option("--stop", is_flag=True, help="Stop an agent that is working on it.")
@click.option("--no-wait", is_flag=True, help="Leave the merge to a run or to `gt merge`.")
def close_command(
    context: Context, *, words: tuple[str, ...], message: str | None, stop: bool, no_wait: bool, as_json: bool
) -> int:
    """Close tasks that you completed yourself.

    Commits on their branches are merged as if they had been approved. If an agent is working on one, you are asked
    whether to stop it; without a terminal, use --stop.
    """
    context.require_person("close a task")
    ids, typed = split_named(context, words, message)
    reason = read_text(typed, "the reason")
    stopped = ids if stop else tuple(one for one in ids if _is_to_be_stopped(context, one))

    def decide(task_id: TaskId) -> Decided:
        moved = close_task(
            context,
            task_id,
            reason,
            stops_agent=task_id in stopped,
            proof=lambda: prove_approval(context, task_id, typed_word, closes=True),
        )
        return merge_now(context, moved.after, moved_words(moved.before, moved.after), is_left=no_wait)

    return decide_each(context, ids, decide, as_json=as_json)


def _is_to_be_stopped(context: Context, task_id: TaskId) -> bool:
    """Asks whether an agent that works on a task is to be stopped, where there is one and somebody to ask."""
    if not is_typed_to() or not is_worked_on(context, task_id):
        return False
    question = f"An agent is working on `{task_id}`. Stop it, and close the task with what it has committed?"
    return is_agreed(question, default=False, err=True)


@command("reopen", "gt reopen k7f2")
@task_argument(many=True, name="tasks", completes="closed")
def reopen_command(context: Context, *, tasks: tuple[str, ...], as_json: bool) -> int:
    """Reopen closed tasks.

    They start over as pending; their hand-offs and reviews are kept in `rounds/`.
    """
    context.require_person("reopen a task")

    def decide(task_id: TaskId) -> Decided:
        moved = reopen_task(context, task_id)
        return Decided(moved.after, (moved_words(moved.before, moved.after),))

    return decide_each(context, find_tasks_to_decide(context, tasks), decide, as_json=as_json)
