"""`gt respond`."""

from __future__ import annotations

import click

from gitticks.actions.changing import CHARACTERS_TO_DECIDE, find_task_to_change
from gitticks.actions.context import Context
from gitticks.actions.verdict import check_answerable, waiting_for_answer
from gitticks.cli.answers import answer, answer_every_question, answer_in_editor, answered_words
from gitticks.cli.editor import is_typed_to
from gitticks.cli.options import Command, json_option, pass_context, task_argument
from gitticks.cli.writing import STDIN, print_change, read_text
from gitticks.errors import Exit, UsageError
from gitticks.model.task import Task


@click.command(
    "respond",
    cls=Command,
    examples=('gt respond m3xq "Friendly, no exclamation marks."', "gt respond --all"),
)
@task_argument(required=False, completes="awaiting")
@click.argument("text", required=False)
@click.option("--edit", "with_editor", is_flag=True, help="Write in your editor, beginning with TEXT.")
@click.option("--all", "every", is_flag=True, help="Go through every question that waits.")
@json_option
@pass_context
def command(
    context: Context, *, task: str | None, text: str | None, with_editor: bool, every: bool, as_json: bool
) -> int:
    """Answer a task's question.

    Without TEXT your editor opens with the question and what it is about; `-` reads the answer from stdin. The
    answer gives the task back to its agent. With --all each question is asked in turn on the terminal, or with
    --edit in your editor; what you leave empty waits on.
    """
    context.require_person("answer for a person")
    if every:
        if task is not None:
            raise UsageError(
                "`--all` goes through every question, so no task is to be named", hint="`gt respond --all`"
            )
        return _respond_to_all(context, with_editor=with_editor, as_json=as_json)
    if task is None:
        raise UsageError("no task was named", hint="`gt list --awaiting` shows which ask")
    _respond(context, task, text, with_editor=with_editor, as_json=as_json)
    return Exit.DONE


def _respond(context: Context, named: str, text: str | None, *, with_editor: bool, as_json: bool) -> None:
    waiting = waiting_for_answer(context, find_task_to_change(context, named, least=CHARACTERS_TO_DECIDE))
    check_answerable(waiting.task)
    given = read_text(text, "the answer")
    after: Task | None
    if given is None or with_editor:
        after = answer_in_editor(context, waiting, (given or "").strip())
    else:
        after = answer(context, waiting, given, is_ours=text == STDIN)
    if after is None:
        hint = f'`gt respond {waiting.task.id} "…"`'
        raise UsageError("the answer is empty, nothing was changed", hint=hint)
    print_change(context, after.id, answered_words(context, after), as_json=as_json)


def _respond_to_all(context: Context, *, with_editor: bool, as_json: bool) -> int:
    if not with_editor and not is_typed_to():
        raise UsageError(
            "`--all` asks on a terminal, and stdin is none",
            hint='`gt respond --all --edit` asks in your editor, `gt respond ID "…"` answers one',
        )
    return answer_every_question(context, with_editor=with_editor, as_json=as_json)
