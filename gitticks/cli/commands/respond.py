"""`gt respond`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
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
        raise UsageError("no task was named", hint="`gt inbox` shows which ask")
    waiting = waiting_for_answer(context, find_task_to_change(context, task))
    _respond(context, waiting, read_text(text, "the answer"), with_editor=with_editor, as_json=as_json)


def _respond_to_all(context: Context, all_waiting: tuple[Waiting, ...], *, as_json: bool) -> None:
    from gitticks.cli.render import say

    if not all_waiting:
        say("no task waits for an answer", err=True)
    for waiting in all_waiting:
        with _written_answer(context, waiting, "") as answer:
            if answer:
                _answer(context, waiting, answer, as_json=as_json)
            else:
                say(f"{waiting.task.id}  left unanswered", err=True)


def _respond(
    context: Context, waiting: Waiting, text: str | None, *, with_editor: bool, as_json: bool
) -> None:
    from gitticks.actions.verdict import check_answerable

    check_answerable(waiting.task)
    is_typed = text is not None and not with_editor
    begun = (text or "").strip()
    with contextlib.nullcontext(begun) if is_typed else _written_answer(context, waiting, begun) as answer:
        if answer:
            _answer(context, waiting, answer, as_json=as_json)
    if not answer:
        raise UsageError(
            "the answer is empty, nothing was changed", hint=f'`gt respond {waiting.task.id} "…"`'
        )


def _answer(context: Context, waiting: Waiting, answer: str, *, as_json: bool) -> None:
    from gitticks.actions.verdict import respond_to, seen_of

    task_id: TaskId = waiting.task.id
    after = respond_to(context, task_id, answer, seen_of(waiting.task)).after
    print_change(context, task_id, f"answered; back to {agent_name(after)} with your answer", as_json=as_json)


@contextlib.contextmanager
def _written_answer(context: Context, waiting: Waiting, text: str) -> Iterator[str]:
    """Yields what a person writes below the question in their editor; where the block fails, the page is kept."""
    from gitticks.actions.drafts import make_draft
    from gitticks.actions.editing import kept_on_error
    from gitticks.cli.editor import write_in_editor
    from gitticks.cli.question_sheet import answer_line, answer_of, question_sheet

    sheet = question_sheet(waiting.task, waiting.questions, text)
    draft = make_draft(context, sheet.encode("utf-8", "replace"), "ANSWER.md", line=answer_line(sheet))
    if not write_in_editor(context, draft):
        yield text
        return
    with kept_on_error(draft):
        yield answer_of(draft.read().decode("utf-8", "replace"))
