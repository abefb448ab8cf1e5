"""How a person's answer gets to its task: as given, or written in an editor below the question."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gitticks.cli.writing import agent_name, check_text

if TYPE_CHECKING:
    from gitticks.actions.context import Context
    from gitticks.actions.verdict import Waiting
    from gitticks.model.task import Task


def answered_words(context: Context, after: Task) -> str:
    """Returns what became of a task that was answered."""
    return f"answered; back to {agent_name(context, after)} with your answer"


def answer(context: Context, waiting: Waiting, text: str, *, is_ours: bool) -> Task:
    """Answers a task and returns it; a text that only we have is kept in a file if that fails."""
    from gitticks.actions.drafts import text_kept_on_error
    from gitticks.actions.verdict import respond_to, seen_of

    with text_kept_on_error(context, text if is_ours else ""):
        return respond_to(context, waiting.task.id, check_text(text), seen_of(waiting.task)).after


def answer_in_editor(context: Context, waiting: Waiting, begun: str = "") -> Task | None:
    """Lets a person write the answer below the question, and answers with it; None if it was left empty."""
    from gitticks.cli.question_sheet import question_sheet

    sheet = question_sheet(waiting.task, waiting.questions, begun, said=waiting.said)
    with written_below(context, sheet, "ANSWER.md", begun) as text:
        return answer(context, waiting, text, is_ours=False) if text else None


@contextmanager
def written_below(context: Context, sheet: str, name: str, begun: str = "") -> Iterator[str]:
    """Yields what a person writes below a sheet's line in their editor, which may be nothing.

    Where the block fails, the page is kept, and the error says where.

    Args:
        context: where we are.
        sheet: the page, as `gitticks.cli.question_sheet` makes it.
        name: the page's file name.
        begun: what stands below the line already, and is taken if nothing was saved.

    Raises:
        UsageError: something was written in the wrong place, or is too long.
        GitticksError: the editor is not there or failed.
    """
    from gitticks.actions.drafts import make_draft
    from gitticks.actions.editing import kept_on_error
    from gitticks.cli.editor import write_in_editor
    from gitticks.cli.question_sheet import answer_line, answer_of

    draft = make_draft(context, sheet.encode("utf-8", "replace"), name, line=answer_line(sheet))
    if not write_in_editor(context, draft):
        yield begun
        return
    with kept_on_error(draft):
        yield check_text(answer_of(draft.read().decode("utf-8", "replace"), sheet))
