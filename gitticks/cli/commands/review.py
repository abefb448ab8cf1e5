"""`gt review`."""

from __future__ import annotations

import sys

import click

from gitticks.actions.context import Context
from gitticks.cli.options import Command, json_option, pass_context, task_argument
from gitticks.errors import UsageError
from gitticks.model.ids import TaskId
from gitticks.model.status import Status


@click.command(
    "review",
    cls=Command,
    examples=("gt review k7f2", "gt review k7f2 --accept", 'gt review k7f2 --reject "Test the empty case."'),
)
@task_argument()
@click.option("--accept", is_flag=True, help="Approve the work; only once it awaits a person.")
@click.option(
    "--reject", metavar="FEEDBACK", help="Send the work back, also while an agent still reviews it."
)
@click.option("--comment", metavar="TEXT", help="Add a note that the next agent reads.")
@click.option("--no-resume", is_flag=True, help="With --reject: do not start the agent again now.")
@click.option("--stat", is_flag=True, help="Only the summary, without the changes themselves.")
@json_option
@pass_context
def command(
    context: Context,
    *,
    task: str,
    accept: bool,
    reject: str | None,
    comment: str | None,
    no_resume: bool,
    stat: bool,
    as_json: bool,
) -> int:
    """Look at a task's changes; accept or reject them.

    The changes are shown as they are stored: no filter or program of the repository is asked.
    """
    from gitticks.actions.changing import find_or_take_up_task

    if accept and reject is not None:
        raise UsageError("`--accept` and `--reject` exclude each other")
    task_id = find_or_take_up_task(context, task)
    if comment is not None:
        from gitticks.actions.note import note_task

        context.require_person("comment on work")
        note_task(context, task_id, comment)
    if accept:
        return _accept(context, task_id, as_json=as_json)
    if reject is not None:
        return _reject(context, task_id, reject, resume=not no_resume)
    if comment is None:
        _show(context, task_id, with_changes=not stat, as_json=as_json)
    return 0


def _accept(context: Context, task_id: TaskId, *, as_json: bool) -> int:
    from gitticks.actions.verdict import approve_task, look_at
    from gitticks.cli.merging import finish_approval
    from gitticks.errors import RefusedError

    context.require_person("accept work")
    task = context.store.task_file(task_id).task
    if task.status is not Status.REVIEWING:
        raise RefusedError(
            f"`{task_id}` is {task.status}: only work that awaits a person can be accepted",
            hint=f"`gt show {task_id}`",
        )
    judged = approve_task(context, task_id, None, look_at(context, task_id))
    return finish_approval(context, judged.after, "accepted", is_left=False, as_json=as_json)


def _show(context: Context, task_id: TaskId, *, with_changes: bool, as_json: bool) -> None:
    from gitticks.actions.review import diff, view
    from gitticks.cli.json_output import print_object
    from gitticks.cli.render import count_of, say, screen
    from gitticks.cli.text import visible

    seen = view(context, task_id)
    if as_json:
        print_object(
            review={
                "id": seen.task.id,
                "status": seen.task.status,
                "awaiting": seen.task.awaiting,
                "head": seen.task.end_sha,
                "handoff": seen.handoff,
                "review": seen.review,
                "changes": seen.changes,
                "conflicts": seen.conflicts,
            }
        )
        return
    on = screen()
    say(
        f"{task_id}  {visible(seen.task.title)}",
        f"{seen.task.status}" + (f", awaits {seen.task.awaiting}" if seen.task.awaiting else ""),
    )
    for name, text in (("Handoff", seen.handoff), ("Review", seen.review)):
        if text is not None:
            say("", name, *(f"  {visible(line)}" for line in text.splitlines()))
    if seen.changes is None:
        say("", "no code was handed off")
        return
    merges = (
        f"conflicts in {', '.join(seen.conflicts)}"
        if seen.conflicts
        else f"merges cleanly into {seen.task.base}"
    )
    say(
        "",
        f"{count_of(seen.changes.files, 'file')}, +{seen.changes.added} -{seen.changes.removed}, {visible(merges)}",
    )
    if with_changes:
        patch = diff(context, seen.task, colour=False).decode("utf-8", "replace")
        say("", *(visible(line, keep="\t") for line in patch.splitlines()))
    if on.is_terminal:
        say("", f'gt approve {task_id} · gt reject {task_id} "…"')


def _reject(context: Context, task_id: TaskId, feedback: str, *, resume: bool) -> int:
    from gitticks.actions.merge import runner_merges
    from gitticks.actions.review import reject_in_review
    from gitticks.actions.verdict import look_at, reject_task
    from gitticks.cli.render import say

    if not feedback.strip():
        raise UsageError("the feedback is empty", hint=f'`gt review {task_id} --reject "what is missing"`')
    if context.store.task_file(task_id).task.status is Status.AGENT_REVIEW:
        reject_in_review(context, task_id, feedback)
    else:
        reject_task(context, task_id, feedback, look_at(context, task_id))
    say(f"{task_id}  sent back with your feedback")
    if not resume or runner_merges(context):
        return 0
    from gitticks.cli.app import run

    sys.stdout.flush()
    return run(["run", task_id])
