"""The page that an editor opens on for an answer: what is asked above a line, the answer below it."""

from __future__ import annotations

from collections.abc import Iterable

from gitticks.errors import UsageError
from gitticks.model.notes import Entry
from gitticks.model.task import Task

LINE = "# ------------------------ >8 ------------------------"
_BELOW = "# Write the answer below this line; an empty answer changes nothing."


def question_sheet(task: Task, questions: Iterable[Entry], text: str = "") -> str:
    """Returns the page for a task's open questions, with `text` as the beginning of the answer."""
    lines = [f"{task.id}  {task.title}", f"{task.status}, awaits {task.awaiting}"]
    for question in questions:
        lines += [
            "",
            f"{question.name} asked at {question.at:%Y-%m-%d %H:%M} UTC:",
            "",
            *question.text.splitlines(),
        ]
    return "\n".join([*(f"# {line}".rstrip() for line in lines), "#", _BELOW, LINE, text, ""])


def answer_line(sheet: str) -> int:
    """Returns the line, counted from 1, on which the answer begins."""
    return sheet[: sheet.index(f"{LINE}\n")].count("\n") + 2


def answer_of(sheet: str) -> str:
    """Returns what stands below the line.

    Raises:
        UsageError: the line is gone, so nobody can tell question and answer apart; or something was written above it.
    """
    question, line, answer = sheet.partition(LINE)
    if not line:
        raise UsageError("the line with `>8` is gone, so the answer cannot be told from the question")
    if any(text.strip() and not text.startswith("#") for text in question.splitlines()):
        raise UsageError("something stands above the line with `>8`: the answer belongs below it")
    return answer.strip()
