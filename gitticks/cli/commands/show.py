"""`gt show`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from gitticks.actions.context import Context
from gitticks.actions.showing import ShownTask, show_round, show_task
from gitticks.cli.at_once import JSON, Argument, Option, ReadingCommand, Switch
from gitticks.cli.commands.inbox import changes_object, changes_words
from gitticks.cli.filters import parse_count
from gitticks.cli.json import print_object, print_task, task_text
from gitticks.cli.render import (
    GAP,
    Screen,
    Style,
    ago,
    below,
    count_of,
    opposite,
    prose,
    say,
    screen,
    status_word,
    warn,
)
from gitticks.cli.text import as_called, visible, width
from gitticks.cli.views.history import event_lines, turns
from gitticks.cli.views.tasks import joined, waits_for
from gitticks.document.verdict_line import review_outcome
from gitticks.model.event import Event
from gitticks.model.notes import Entry, QuestionPair, Section
from gitticks.store.layout import Round
from gitticks.world import elapsed

MOST_EVENTS = 20
MOST_PATHS = 8
_HEADING = 10
_OUTCOMES = {"pass": "PASS", "fail": "FAIL", "unclear": "no verdict"}
_LATE = (Section.HANDOFF, Section.REVIEW)
_KINDS = {"handoff": Section.HANDOFF, "review": Section.REVIEW}


def answer(context: Context, *, task: str | None, number: int | None, with_changes: bool) -> None:
    """Show one task with its hand-off, review and history.

    Without ID: the task whose workspace this is. A terminal also gets a summary of what its work changes.
    """
    if number is not None:
        task_id, earlier = show_round(context, task, number)
        if context.as_json:
            print_object(round={"id": task_id, **round_object(earlier)})
        else:
            say(*round_page(screen(), task_id, earlier))
        return
    on = screen()
    shown = show_task(context, task, with_changes=with_changes or (on.is_terminal and not context.as_json))
    for warning in shown.warnings:
        warn(warning)
    if context.as_json:
        print_task(_text(shown, with_changes=with_changes))
    else:
        say(*page(on, shown, context.now))


def verdict_objects(review: str | None) -> list[dict[str, object]]:
    """Returns how each reviewer of a council counted, as its `## Review` says."""
    from gitticks.workflow.council import answers_in  # few tasks have had a council

    return [
        {"reviewer": one.name, "verdict": one.voice, "reason": one.reason or None}
        for one in (answers_in(review) if review else ())
    ]


def round_object(found: Round, review: str | None = None) -> dict[str, object]:
    """Returns the keys of a round; of the present one, which has put no review aside, `review` is `## Review`."""
    return {
        "number": found.number,
        "handoff": found.handoff,
        "review": found.review,
        "reviews": found.councillors,
        "verdicts": verdict_objects(found.review or review) if found.councillors else [],
    }


def _text(shown: ShownTask, *, with_changes: bool) -> str:
    more: dict[str, object] = {}
    if with_changes:
        more["changes"] = changes_object(shown.changes)
    return task_text(
        shown.standing,
        summary=shown.summary,
        sections=shown.sections,
        notes=shown.notes,
        questions=shown.questions,
        history=shown.history.events,
        rounds=[round_object(one, shown.sections.get(Section.REVIEW)) for one in shown.rounds],
        mentions=[standing.task.id for standing in shown.mentions],
        **more,
    )


show_command = ReadingCommand(
    "show",
    answer,
    (
        Argument("task", "[ID]"),
        Option(
            "number",
            ("--round",),
            "Show the hand-off and review of an earlier round.",
            metavar="N",
            read=parse_count,
        ),
        Switch("with_changes", ("--stat",), "Show what the work changes, even if the output is piped."),
        JSON,
    ),
    examples=("gt show k7f2", "gt show k7f2 --round 1"),
)


def page(on: Screen, shown: ShownTask, now: datetime) -> list[str]:
    """Returns the lines of `gt show`."""
    lines = list(_page(on, shown, now))
    return lines[:-1] if lines[-1] == "" else lines


def _page(on: Screen, shown: ShownTask, now: datetime) -> Iterator[str]:
    task = shown.standing.task
    yield from opposite(on, visible(task.title), f"{task.id}{GAP}{status_word(task)}")
    for line in joined(on, list(map(visible, _facts(shown, now))), " · "):
        yield on.styled(on.fit(line), Style.FAINT)
    if shown.summary:
        yield ""
        yield from prose(on, shown.summary)
    yield ""
    for name, text in shown.sections.items():
        if name not in _LATE:
            yield from _part(on, name, "", text)
    if Section.HANDOFF in shown.sections:
        yield from _part(on, Section.HANDOFF, _by(shown.last_handoff, now), shown.sections[Section.HANDOFF])
    if Section.REVIEW in shown.sections:
        outcome, text = _OUTCOMES.get(shown.review_outcome or "", ""), shown.sections[Section.REVIEW]
        by = ": ".join(part for part in (_by(shown.last_review, now), outcome) if part)
        yield from _part(on, Section.REVIEW, by, "" if text.strip() == outcome else text)
    yield from _changes(on, shown)
    yield from _rounds(on, shown)
    asked = (line for pair in shown.questions for line in pair_lines(on, pair, now))
    yield from below(on, Section.QUESTIONS, asked)
    yield from below(on, Section.NOTES, (line for note in shown.notes for line in entry_lines(on, note, now)))
    yield from below(on, "Mentions", _mentions(on, shown))
    yield from _history(on, shown, now)


def _facts(shown: ShownTask, now: datetime) -> Iterator[str]:
    task, details = shown.standing.task, shown.details
    yield f"priority {task.priority}"
    if task.is_epic:
        closed = sum(not child.is_open for child in shown.children)
        yield f"epic, {closed} of {count_of(len(shown.children), 'child', 'children')} closed"
    if details.labels:
        yield ", ".join(details.labels)
    if task.parent:
        yield f"in {task.parent}{f' ({shown.parent.title})' if shown.parent else ''}"
    today = now.astimezone().date().isoformat()
    is_overdue = task.is_open and details.due is not None and details.due < today
    named = (
        ("by", f"{details.created_by}, a stranger here" if shown.is_by_stranger else details.created_by),
        ("for", details.agent),
        ("assigned to", details.assignee),
        ("overdue since" if is_overdue else "due", details.due),
    )
    yield from (f"{word} {value}" for word, value in named if value)
    if task.awaiting:
        asked = f", asked {ago(task.asked_at, now)}" if task.asked_at else ""
        yield f"awaits {task.awaiting}{asked}"
    elif waits_for(shown.standing):
        yield waits_for(shown.standing)
    if details.requires:
        yield f"requires {details.requires}"
    if details.reviewer:
        yield f"answered by {details.reviewer}"
    yield from _outcome(shown)


def _outcome(shown: ShownTask) -> Iterator[str]:
    details, seconds = shown.details, shown.seconds_to_close
    if seconds is not None:
        yield f"{elapsed(seconds)} from start to {'merge' if shown.is_merged else 'done'}"
    if details.iterations:
        yield count_of(details.iterations, "iteration")
    if details.cost:
        yield f"${details.cost:.2f}"
    if details.pr:
        yield details.pr
    for blocker in shown.idle_blockers:
        yield f"`{blocker}` blocks nothing: it is missing or cancelled"


def _part(on: Screen, name: str, by: str, text: str) -> Iterator[str]:
    yield _heading(on, name, by)
    yield from prose(on, text)


def _heading(on: Screen, name: str, by: str = "") -> str:
    heading = on.styled(visible(name), Style.STRONG)
    if not by:
        return heading
    gap = max(len(GAP), _HEADING - width(visible(name)))
    return f"{heading}{' ' * gap}{on.fit(visible(by), on.columns - gap - width(visible(name)))}"


def _changes(on: Screen, shown: ShownTask) -> Iterator[str]:
    changes = shown.changes
    if changes is None:
        return
    yield _heading(on, "Changes", ", ".join(changes_words(changes)))
    paths = changes.summary.paths
    yield from (on.fit(GAP + visible(path)) for path in paths[:MOST_PATHS])
    if len(paths) > MOST_PATHS:
        yield as_called(f"{GAP}… {len(paths) - MOST_PATHS} more: `gt review {shown.standing.task.id}`")


def _rounds(on: Screen, shown: ShownTask) -> Iterator[str]:
    if not shown.rounds:
        return
    yield _heading(
        on, "Rounds", as_called(f"`gt show {shown.standing.task.id} --round {shown.rounds[-1].number}`")
    )
    for one in shown.rounds:
        yield on.fit(f"{GAP}{one.number}{GAP}{round_words(one)}")


def round_words(one: Round) -> str:
    """Returns in one line what came of an earlier round."""
    text = one.review
    if text is None:
        return visible(_with_first_line("handed off" if one.handoff else "reviewed", one.handoff or "", ""))
    outcome = _OUTCOMES.get(review_outcome(text).value, "no verdict")
    return visible(_with_first_line(f"review {outcome}", text, outcome))


def _with_first_line(words: str, text: str, known: str) -> str:
    """Returns words with the first line of a text, without the sign of a list, that says more than what is known."""
    lines = (" ".join(line.removeprefix("- ").split()) for line in text.splitlines())
    first = next((more for line in lines if (more := _beyond(line, known))), "")
    return f"{words}: {first}" if first else words


def _beyond(line: str, known: str) -> str:
    """Returns what a line says beyond the word that is known: `fine` of `**PASS**: fine`."""
    rest = line.lstrip("*_ ")
    if not known or not rest.upper().startswith(known) or rest[len(known) :][:1].isalnum():
        return line
    return rest[len(known) :].lstrip("*_ :;,.-—")


def round_page(on: Screen, task_id: str, one: Round) -> Iterator[str]:
    """Yields the lines of `gt show --round`: what was handed off in an earlier round, and what reviews said."""
    yield f"{task_id}{GAP}round {one.number}"
    for kind, text in one.texts.items():
        yield ""
        yield _heading(on, _KINDS.get(kind, kind.replace("-", " by ", 1).capitalize()))
        yield from prose(on, text)


def _by(event: Event | None, now: datetime) -> str:
    return f"{event.actor.name}, {ago(event.at, now)}" if event else ""


def pair_lines(
    on: Screen, pair: QuestionPair, now: datetime, most: int | None = None, rest: str = ""
) -> Iterator[str]:
    """Yields a question and its answer, each as `entry_lines` does."""
    yield from entry_lines(on, pair.question, now, most, rest, after="" if pair.answer else ": open")
    if pair.answer:
        yield from entry_lines(on, pair.answer, now, most, rest, before="answered by ")


def entry_lines(
    on: Screen,
    entry: Entry,
    now: datetime,
    most: int | None = None,
    rest: str = "",
    *,
    before: str = "",
    after: str = "",
) -> Iterator[str]:
    """Yields who said something and when, and its first lines, or all of them; `rest` is what shows the others."""
    said = f"{GAP}{before}{visible(entry.name)}, {ago(entry.at, now)}"
    yield on.fit(said, on.columns - len(after)) + on.styled(after, Style.WAITS)
    yield from beginning(on, entry.text, most, rest, GAP * 2)


def beginning(on: Screen, text: str, most: int | None, rest: str, indent: str = GAP) -> Iterator[str]:
    """Yields the first lines of a text; a single line more is shown rather than counted."""
    lines = list(prose(on, text, indent))
    is_cut = most is not None and len(lines) > most + 1
    yield from lines[:most] if is_cut else lines
    if is_cut:
        yield f"{indent}… {count_of(len(lines) - (most or 0), 'more line')}: {rest}"


def _mentions(on: Screen, shown: ShownTask) -> Iterator[str]:
    for standing in shown.mentions:
        task = standing.task
        head = f"{GAP}{on.glyph(task.status)} "
        title = on.fit(visible(task.title), on.columns - len(head) - len(task.id) - len(GAP))
        yield f"{head}{task.id}{GAP}{title}"


def _history(on: Screen, shown: ShownTask, now: datetime) -> Iterator[str]:
    if shown.history.is_only_begun:
        return
    events = turns(shown.history.events)
    if not events:
        return
    yield _heading(on, "History")
    if len(events) > MOST_EVENTS:
        earlier = count_of(len(events) - MOST_EVENTS, "earlier event")
        yield as_called(f"{GAP}… {earlier}: `gt log {shown.standing.task.id}`")
    narrower = on.narrower(len(GAP))
    yield from (GAP + line for line in event_lines(narrower, events[-MOST_EVENTS:], now))
