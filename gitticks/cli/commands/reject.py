"""`gt reject`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from gitticks.actions.context import Context
from gitticks.actions.verdict import look_at, reject_task, wants_feedback
from gitticks.cli.answers import feedback_sheet, written_below
from gitticks.cli.decisions import Decided, decide_each, split_named, tasks_and_text
from gitticks.cli.editor import is_typed_to
from gitticks.cli.options import Command, json_option, pass_context
from gitticks.cli.writing import STDIN, agent_name, kept, read_text
from gitticks.errors import UsageError
from gitticks.model.notes import Section

if TYPE_CHECKING:
    from gitticks.model.ids import TaskId


@click.command("reject", cls=Command, examples=('gt reject k7f2 "the test does not fail without the fix"',))
@tasks_and_text("FEEDBACK", completes="awaiting")
@click.option("--no-feedback", is_flag=True, help="Send them back without feedback.")
@json_option
@pass_context
def command(
    context: Context, *, words: tuple[str, ...], message: str | None, no_feedback: bool, as_json: bool
) -> int:
    """Send tasks back with feedback.

    Without FEEDBACK your editor opens with the hand-off, on a terminal; `-` reads it from stdin. A rejected question or escalation cancels the task.
    """
    context.require_person("give a verdict")
    ids, typed = split_named(context, words, message)
    seen = {task_id: look_at(context, task_id) for task_id in ids}
    given = read_text(typed, "the feedback")
    if given and no_feedback:
        raise UsageError("there is feedback, and `--no-feedback`", hint="give one of the two")
    asking = () if given or no_feedback else _asking(context, ids, can_ask=typed is None)

    def decide(task_id: TaskId) -> Decided:
        is_ours = typed == STDIN
        written = (
            _written(context, task_id) if task_id in asking else kept(context, given if is_ours else None)
        )
        with written as text:
            after = reject_task(context, task_id, text or given, seen[task_id]).after
        if not after.is_open:
            return Decided(after, ("cancelled",))
        with_what = " with your feedback" if text or given else ""
        return Decided(after, (f"rejected; back to {agent_name(context, after)}{with_what}",))

    return decide_each(context, ids, decide, as_json=as_json)


def _asking(context: Context, ids: tuple[TaskId, ...], *, can_ask: bool) -> tuple[TaskId, ...]:
    """Returns the tasks whose agents need feedback, to be asked for in an editor."""
    wanting = tuple(one for one in ids if wants_feedback(context.store.task_file(one).task))
    if wanting and not (can_ask and is_typed_to()):
        raise _missing(wanting[0])
    return wanting


def _missing(task_id: TaskId) -> UsageError:
    return UsageError(
        f"nothing tells the agent of `{task_id}` what to change",
        hint=f'`gt reject {task_id} "…"` does, `gt reject {task_id} --no-feedback` sends it back without a word',
    )


@contextmanager
def _written(context: Context, task_id: TaskId) -> Iterator[str]:
    """Yields the feedback that a person writes below the hand-off."""
    file = context.store.task_file(task_id)
    sheet = feedback_sheet(file.task, file.section(Section.HANDOFF) or "")
    with written_below(context, sheet, "FEEDBACK.md") as written:
        if not written:
            raise _missing(task_id)
        yield written
