"""The page that an editor opens on: what it is about above a line, what a person writes below it."""

from __future__ import annotations

from collections.abc import Iterable

from gitticks.cli.text import visible
from gitticks.errors import UsageError
from gitticks.model.notes import Entry
from gitticks.model.task import Task

TAB = "\t"
LINE = "# ------------------------ >8 ------------------------"
_ANSWER = "# Write the answer below this line; an empty answer changes nothing."
_FEEDBACK = "# Write what is to change below this line; an empty text changes nothing."
_NOTE = "# Write the note below this line; an empty note changes nothing."


def question_sheet(task: Task, questions: Iterable[Entry], text: str = "", *, said: str = "") -> str:
    """Returns the page for a task's open questions, with `text` as the beginning of the answer.

    `said` is what is known where nothing was asked in words: why the task is stuck, what its agent said last.
    """
    lines = _head(task)
    for question in questions:
        asked = f"{question.name} asked at {question.at:%Y-%m-%d %H:%M} UTC:"
        lines += ["", asked, "", *question.text.splitlines()]
    if said:
        lines += ["", *said.splitlines()]
    return _sheet(lines, _ANSWER, text)


def feedback_sheet(task: Task, handoff: str) -> str:
    """Returns the page for a rejection, below what was handed off."""
    lines = _head(task)
    if handoff:
        lines += ["", "handed off:", "", *handoff.splitlines()]
    return _sheet(lines, _FEEDBACK, "")


def note_sheet(task: Task) -> str:
    """Returns the page for a note on a task."""
    return _sheet(_head(task), _NOTE, "")


def _head(task: Task) -> list[str]:
    turn = f", awaits {task.awaiting}" if task.awaiting is not None else ""
    return [f"{task.id}  {' '.join(task.title.split())}", f"{task.status}{turn}"]


def _sheet(lines: Iterable[str], below: str, text: str) -> str:
    return "\n".join([*map(_comment, lines), "#", below, LINE, text, ""])


def _comment(line: str) -> str:
    """Returns a line as one that is no answer's, nor the line between, whatever an agent wrote."""
    comment = f"# {visible(line, keep=TAB)}".rstrip()
    return f"# {comment}" if comment == LINE else comment


def answer_line(sheet: str) -> int:
    """Returns the line, counted from 1, on which a person writes."""
    return sheet.split("\n").index(LINE) + 2


def answer_of(page: str, sheet: str = "") -> str:
    """Returns what stands below the line.

    Args:
        page: what the editor left.
        sheet: what it was given, if known.

    Raises:
        UsageError: the line is gone, so nobody can tell what was written from what was there; or something was
            written above it, or the only change was made there.
    """
    above, answer = _halves(page)
    if above is None:
        raise UsageError("the line with `>8` is gone, so what you wrote cannot be told from what was there")
    is_misplaced = any(line.strip() and not line.startswith("#") for line in above)
    is_lost = sheet and not answer and above != _halves(sheet)[0]
    if is_misplaced or is_lost:
        raise UsageError("something stands above the line with `>8`: what you write belongs below it")
    return answer


def _halves(page: str) -> tuple[list[str] | None, str]:
    """Returns the lines above the line between, None without one, and the text below it."""
    lines = [line.rstrip() for line in page.split("\n")]
    if LINE not in lines:
        return None, ""
    between = lines.index(LINE)
    return lines[:between], "\n".join(page.split("\n")[between + 1 :]).strip()
