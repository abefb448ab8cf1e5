"""`gt respond`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitticks.actions.context import Context
from gitticks.cli.options import Command, json_option, pass_context, task_argument
from gitticks.cli.writing import agent_name, print_change, read_text
from gitticks.errors import UsageError
from gitticks.model.ids import TaskId

if TYPE_CHECKING:
    from gitticks.actions.verdict import Waiting


@click.command("respond", cls=Command, examples=('gt respond m3xq "Friendly, no exclamation marks."',))
@task_argument(required=False)
@click.argument("text", required=False)
@click.option("--edit", "with_editor", is_flag=True, help="Write in your editor, beginning with TEXT.")
@click.option("--all", "every", is_flag=True, help="Go through every question that waits.")
@json_option
@pass_context
def command(
    context: Context, *, task: str | None, text: str | None, with_editor: bool, every: bool, as_json: bool
) -> None:
    """Answer a task's question.

    Without TEXT your editor opens with the question and what it is about. The answer gives the task back to its
    agent.
    """
    from gitticks.actions.changing import find_task_to_change
    from gitticks.actions.verdict import waiting_for_answer, waiting_for_answers

    context.require_person("answer for a person")
    if every:
        if task is not None:
            raise UsageError("`--all` goes through every question, so no task is to be named")
        _respond_to_all(context, waiting_for_answers(context), as_json=as_json)
        return
    if task is None:
        raise UsageError("no task was named", hint="`gt list --awaiting` shows which ask")
    waiting = waiting_for_answer(context, find_task_to_change(context, task))
    _respond(context, waiting, read_text(text, "the answer"), with_editor=with_editor, as_json=as_json)


def _respond_to_all(context: Context, all_waiting: tuple[Waiting, ...], *, as_json: bool) -> None:
    from gitticks.cli.render import say

    if not all_waiting:
        say("no task waits for an answer", err=True)
    for waiting in all_waiting:
        answer = _write_answer(context, waiting, "")
        if not answer.strip():
            say(f"{waiting.task.id}  left unanswered", err=True)
            continue
        _answer(context, waiting, answer, as_json=as_json)


def _respond(
    context: Context, waiting: Waiting, text: str | None, *, with_editor: bool, as_json: bool
) -> None:
    from gitticks.actions.verdict import check_answerable

    check_answerable(waiting.task)
    answer = _write_answer(context, waiting, text or "") if text is None or with_editor else text
    if not answer.strip():
        raise UsageError(
            "the answer is empty, nothing was changed", hint=f'`gt respond {waiting.task.id} "…"`'
        )
    _answer(context, waiting, answer, as_json=as_json)


def _answer(context: Context, waiting: Waiting, answer: str, *, as_json: bool) -> None:
    from gitticks.actions.verdict import respond_to, seen_of

    task_id: TaskId = waiting.task.id
    after = respond_to(context, task_id, answer, seen_of(waiting.task)).after
    print_change(context, task_id, f"answered; back to {agent_name(after)} with your answer", as_json=as_json)


def _write_answer(context: Context, waiting: Waiting, text: str) -> str:
    """Returns what a person writes below the question in their editor."""
    from gitticks.actions.editing import make_draft
    from gitticks.cli.editor import write_in_editor
    from gitticks.cli.question_sheet import answer_line, answer_of, question_sheet

    sheet = question_sheet(waiting.task, waiting.questions, text)
    draft = make_draft(context, sheet.encode("utf-8", "replace"), "ANSWER.md", line=answer_line(sheet))
    if not write_in_editor(context, draft):
        return text
    answer = answer_of(draft.read().decode("utf-8", "replace"))
    draft.drop()
    return answer
