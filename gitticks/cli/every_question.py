"""`gt respond --all`: question after question, on the terminal or in an editor."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from gitticks.cli.answering import answer, answer_in_editor, answered_words
from gitticks.cli.failures import tell
from gitticks.cli.render import GAP, Screen, Style, ago, count_of, opposite, say
from gitticks.cli.text import visible, wrap
from gitticks.cli.typing_lines import typed_lines
from gitticks.errors import Exit, GitticksError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from gitticks.actions.context import Context
    from gitticks.actions.verdict import Waiting
    from gitticks.model.ids import TaskId
    from gitticks.model.task import Task

_HOW = "Your answer, up to an empty line; nothing skips it, Ctrl-D ends:"


def answer_every_question(context: Context, *, with_editor: bool, as_json: bool) -> int:
    """Asks every question that waits, and returns the exit code.

    What cannot be answered is told, and keeps nobody from the next question.
    """
    from gitticks.actions.verdict import waiting_for_answers

    waiting = [one.task.id for one in waiting_for_answers(context)]
    answered: list[TaskId] = []
    code: int = Exit.DONE
    for place, task_id in enumerate(waiting):
        try:
            after = _ask(context, task_id, f"{place + 1} of {len(waiting)}", with_editor=with_editor)
        except GitticksError as error:
            code = tell(["--json"] if as_json else [], error.message, error.hint, error.exit_code)
            continue
        except EOFError:
            say(f"{count_of(len(waiting) - place, 'question')} left unanswered", err=True)
            break
        if after is not None:
            answered.append(task_id)
            if not as_json:
                say(f"{task_id}{GAP}{visible(answered_words(context, after))}")
    if not waiting:
        say("no task waits for an answer", err=True)
    if as_json:
        _print_all(context, answered)
    return code


def _ask(context: Context, task_id: TaskId, place: str, *, with_editor: bool) -> Task | None:
    """Asks for one answer; returns the task, or None if the question is left.

    Raises:
        EOFError: the person wants no further questions.
    """
    from gitticks.actions.verdict import check_answerable, waiting_for_answer

    waiting = waiting_for_answer(context, task_id)
    check_answerable(waiting.task)
    if with_editor:
        after = answer_in_editor(context, waiting)
    else:
        say(*_question(waiting, place, context.now), err=True)
        typed = typed_lines()
        if typed is None:
            raise EOFError
        after = answer(context, waiting, typed, is_ours=True) if typed else None
    if after is None:
        say(f"{task_id}{GAP}left unanswered", err=True)
    return after


def _question(waiting: Waiting, place: str, now: datetime) -> Iterator[str]:
    """Yields a question as it is asked on the terminal that stderr is."""
    on, task = Screen.of(sys.stderr, os.environ), waiting.task
    asked = f", asked {ago(task.asked_at, now)}" if task.asked_at else ""
    yield ""
    yield from opposite(on, f"{task.id}{GAP}{visible(task.title)}", place)
    yield on.styled(f"{GAP}{task.awaiting}{asked}", Style.FAINT)
    room = max(1, on.columns - len(GAP)) if on.is_terminal else sys.maxsize
    for said in [*(question.text for question in waiting.questions), waiting.said]:
        for line in said.splitlines():
            yield from (f"{GAP}{part}".rstrip() for part in wrap(visible(line), room))
    yield ""
    yield from (on.styled(part, Style.FAINT) for part in wrap(_HOW, on.columns))


def _print_all(context: Context, answered: list[TaskId]) -> None:
    from gitticks.actions.derived_state import standing_now
    from gitticks.cli.json_output import print_tasks, task_text

    print_tasks([task_text(standing_now(context, task_id)) for task_id in answered])
