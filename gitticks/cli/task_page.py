"""One task on one page: what it is, what was said, and what happened."""

from __future__ import annotations

from gitticks.cli.render import GAP, Style, ago, count_of, elapsed, opposite, status_word
from gitticks.cli.tasks_table import waits_for
from gitticks.cli.text import visible, width
from gitticks.model.words import HANDOFF, REVIEW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from gitticks.actions.showing import Author, ShownTask
    from gitticks.cli.render import Screen
    from gitticks.model.notes import Entry, QuestionPair

MOST_EVENTS = 20
_OUTCOMES = {"pass": "PASS", "fail": "FAIL", "unclear": "no verdict"}
_LATE = (HANDOFF, REVIEW)


def page(on: Screen, shown: ShownTask, now: datetime) -> list[str]:
    """Returns the lines of `gt show`."""
    lines = list(_page(on, shown, now))
    return lines[:-1] if lines[-1] == "" else lines


def _page(on: Screen, shown: ShownTask, now: datetime) -> Iterator[str]:
    task = shown.standing.task
    yield from opposite(on, visible(task.title), f"{task.id}{GAP}{status_word(task)}")
    yield from _wrapped(on, list(_facts(shown, now)))
    if shown.summary:
        yield ""
        yield from _indented(shown.summary)
    yield ""
    for name, text in shown.sections.items():
        if name not in _LATE:
            yield from _part(on, name, "", text)
    if HANDOFF in shown.sections:
        yield from _part(on, HANDOFF, _by(shown.handoff_author, now), shown.sections[HANDOFF])
    if REVIEW in shown.sections:
        outcome, text = _OUTCOMES.get(shown.review_outcome or "", ""), shown.sections[REVIEW]
        by = ": ".join(part for part in (_by(shown.review_author, now), outcome) if part)
        yield from _part(on, REVIEW, by, "" if text.strip() == outcome else text)
    yield from _questions(on, shown.questions, now)
    yield from _notes(on, shown.notes, now)
    yield from _history(on, shown, now)


def _facts(shown: ShownTask, now: datetime) -> Iterator[str]:
    task = shown.standing.task
    yield f"priority {task.priority}"
    if task.is_epic:
        closed = sum(not child.is_open for child in shown.children)
        yield f"epic, {closed} of {count_of(len(shown.children), 'child', 'children')} closed"
    if task.labels:
        yield ", ".join(task.labels)
    if task.parent:
        yield f"in {task.parent}{f' ({shown.parent.title})' if shown.parent else ''}"
    if task.created_by:
        yield f"by {task.created_by}"
    if task.agent:
        yield f"for {task.agent}"
    if task.awaiting:
        asked = f", asked {ago(task.asked_at, now)}" if task.asked_at else ""
        yield f"awaits {task.awaiting}{asked}"
    elif waits_for(shown.standing):
        yield waits_for(shown.standing)
    if task.requires:
        yield f"requires {task.requires}"
    if task.reviewer:
        yield f"answered by {task.reviewer}"
    yield from _outcome(shown)


def _outcome(shown: ShownTask) -> Iterator[str]:
    task = shown.standing.task
    seconds = shown.seconds_to_close
    if seconds is not None:
        yield f"{elapsed(seconds)} from start to merge"
    if task.iterations:
        yield count_of(task.iterations, "iteration")
    if task.cost:
        yield f"${task.cost:.2f}"
    if task.pr:
        yield task.pr
    for blocker in shown.idle_blockers:
        yield f"`{blocker}` blocks nothing: it is missing or cancelled"


def _wrapped(on: Screen, facts: Sequence[str]) -> Iterator[str]:
    """Yields the facts with dots between them, broken between facts where a terminal is too narrow."""
    line = ""
    for fact in map(visible, facts):
        longer = f"{line} · {fact}" if line else fact
        if line and on.is_terminal and width(longer) > on.columns:
            yield on.styled(line, Style.FAINT)
            longer = fact
        line = longer
    yield on.styled(line, Style.FAINT)


def _part(on: Screen, name: str, by: str, text: str) -> Iterator[str]:
    yield _heading(on, name, by)
    yield from _indented(text)


def _heading(on: Screen, name: str, by: str = "") -> str:
    heading = on.styled(visible(name), Style.STRONG)
    return f"{heading}{' ' * max(2, 10 - width(visible(name)))}{visible(by)}" if by else heading


def _indented(text: str, by: str = GAP) -> Iterator[str]:
    for line in text.splitlines():
        yield (by + visible(line.expandtabs(4))).rstrip()


def _by(author: Author | None, now: datetime) -> str:
    return f"{author.name}, {ago(author.at, now)}" if author else ""


def _questions(on: Screen, pairs: Sequence[QuestionPair], now: datetime) -> Iterator[str]:
    if pairs:
        yield _heading(on, "Questions")
    for pair in pairs:
        is_open = "" if pair.answer else ": open"
        yield f"{GAP}{_said(pair.question, now)}{on.styled(is_open, Style.WAITS)}"
        yield from _indented(pair.question.text, GAP * 2)
        if pair.answer:
            yield f"{GAP}answered by {_said(pair.answer, now)}"
            yield from _indented(pair.answer.text, GAP * 2)


def _notes(on: Screen, notes: Sequence[Entry], now: datetime) -> Iterator[str]:
    if notes:
        yield _heading(on, "Notes")
    for note in notes:
        yield GAP + _said(note, now)
        yield from _indented(note.text, GAP * 2)


def _said(entry: Entry, now: datetime) -> str:
    return f"{visible(entry.name)}, {ago(entry.at, now)}"


def _history(on: Screen, shown: ShownTask, now: datetime) -> Iterator[str]:
    if not shown.history:
        return
    from gitticks.cli.history import event_lines, turns

    events = turns(shown.history)
    if not events:
        return
    yield _heading(on, "History")
    if len(events) > MOST_EVENTS:
        earlier = count_of(len(events) - MOST_EVENTS, "earlier event")
        yield f"{GAP}… {earlier}: `gt log {shown.standing.task.id}`"
    narrower = on.narrower(len(GAP))
    yield from (GAP + line for line in event_lines(narrower, events[-MOST_EVENTS:], now))
