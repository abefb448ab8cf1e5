"""A task that awaits a person, with all that it takes to answer: what is asked, what was found, what to type."""

from __future__ import annotations

from gitticks.cli.render import Style, ago, count_of, elapsed, opposite
from gitticks.cli.tasks_table import answer_commands, indent_of
from gitticks.cli.text import visible, width, wrap
from gitticks.model.words import STUCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from gitticks.actions.inbox import Asked, ReviewWord
    from gitticks.cli.render import Screen

MOST_LINES = 3
"""So much of a question is shown; `gt show` has the rest."""
_OUTCOMES = {"pass": "review PASS", "fail": "review FAIL"}
_QUESTIONS = frozenset({"input", "escalation", "checkpoint"})


def inbox_lines(on: Screen, asked: Asked, now: datetime) -> Iterator[str]:
    """Yields a task's line with what it awaits and how long, what there is to know, and the next commands."""
    task = asked.standing.task
    head = f"{on.glyph(task.status)} {task.id}  {visible(task.title)}"
    yield from opposite(on, head, _waits(asked, now))
    inner = on.narrower(width(indent_of(on)))
    indent = indent_of(on)
    for line in _told(inner, asked):
        yield f"{indent}{line}".rstrip()
    for line in joined(inner, list(_facts(asked)), ", "):
        yield indent + line
    for line in joined(inner, commands(asked), " · "):
        yield indent + on.styled(line, Style.FAINT)


def commands(asked: Asked) -> list[str]:
    """Returns the commands that answer a task, the likeliest first."""
    task = asked.standing.task
    answers = answer_commands(asked.standing).split(" · ") if task.awaiting else [f'gt respond {task.id} "…"']
    is_stuck = task.status == STUCK
    return [f"gt show {task.id}", *answers, f"gt cancel {task.id}"] if is_stuck else answers


def joined(on: Screen, parts: Sequence[str], between: str) -> Iterator[str]:
    """Yields the parts on one line, or on several of a terminal that is too narrow; what has to be typed stays whole."""
    line = ""
    for part in parts:
        longer = f"{line}{between}{part}" if line else part
        if line and on.is_terminal and width(longer) > on.columns:
            yield f"{line}{between}".rstrip(" ·")
            longer = part
        line = longer
    if line:
        yield line


def _waits(asked: Asked, now: datetime) -> str:
    task = asked.standing.task
    kind = str(task.awaiting or STUCK)
    if task.asked_at is None:
        return kind
    if kind in _QUESTIONS:
        return f"{kind}, asked {ago(task.asked_at, now)}"
    return f"{kind}, waits {elapsed((now - task.asked_at).total_seconds())}"


def _told(on: Screen, asked: Asked) -> Iterator[str]:
    """Yields the beginning of what is asked, broken to the width of a terminal."""
    said = "\n".join(entry.text for entry in asked.questions) or asked.said
    lines = [line for line in map(str.strip, said.splitlines()) if line]
    if asked.standing.task.status == STUCK and lines and not asked.questions:
        lines[0] = f"stuck: {lines[0]}"
    for line in lines[:MOST_LINES]:
        yield from wrap(visible(line), max(1, on.columns)) if on.is_terminal else [visible(line)]
    if len(lines) > MOST_LINES:
        yield f"… {count_of(len(lines) - MOST_LINES, 'more line')}: `gt show {asked.standing.task.id}`"


def _facts(asked: Asked) -> Iterator[str]:
    if not asked.is_mine:
        yield f"for {visible(asked.standing.task.reviewer or '')}"
    if asked.review is not None:
        yield _review(asked.review)
    if asked.changes is not None:
        from gitticks.cli.changes_words import changes_words

        yield from changes_words(asked.changes)


def _review(review: ReviewWord) -> str:
    by = f" by {visible(review.by)}" if review.by else ""
    return f"{_OUTCOMES.get(review.outcome, 'review without a verdict')}{by}"
