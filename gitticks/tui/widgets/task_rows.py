"""One task as rows: its text, where it stands, what happened to it, its rounds and its commits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from gitticks.actions.showing import ShownTask
from gitticks.cli.commands.show import round_words
from gitticks.cli.render import count_of
from gitticks.cli.views.history import BAD, clock, details, turns, what_happened
from gitticks.model.event import Event
from gitticks.model.notes import Entry
from gitticks.model.task_row import TaskRow
from gitticks.store.layout import Round
from gitticks.tui.messages import Snapshot
from gitticks.tui.theme import STATUS_COLOUR, glyph
from gitticks.tui.widgets.lines import Line, Span, line
from gitticks.tui.widgets.markdown import markdown_rows
from gitticks.tui.widgets.tasks import age, note_of

_SHORT_SHA = 7
_ROOM_FOR_TIMES = 44
_KINDS = {"handoff": "Hand-off", "review": "Review"}


def text_rows(shown: ShownTask, now: datetime, width: int) -> list[Line]:
    """Returns a task's text: open questions, summary, sections, questions with their answers, and notes."""
    asked = [pair.question for pair in shown.questions if pair.answer is None]
    rows = [one for question in asked for one in _entry(question, "waits", now, width, "asks")]
    rows += _part(None, shown.summary, width) if shown.summary else []
    for name, text in shown.sections.items():
        rows += _part(name, text, width)
    if len(asked) < len(shown.questions):
        rows.append(_heading("Questions"))
    for question, answer in shown.questions:
        if answer is not None:
            rows += _entry(question, "line", now, width) + _entry(answer, "focus", now, width)
    if shown.notes:
        rows.append(_heading("Notes"))
        for note in shown.notes:
            rows += _entry(note, "line", now, width)
    while rows and not rows[-1].left:
        rows.pop()
    return rows


def _heading(name: str) -> Line:
    return line((name, "*focus"))


def _part(name: str | None, text: str, width: int) -> list[Line]:
    heading = [_heading(name)] if name else []
    return [*heading, *markdown_rows(text, width), line()]


def _entry(entry: Entry, bar: str, now: datetime, width: int, said: str = "") -> list[Line]:
    mark: Span = (f"{glyph('bar')} ", bar)
    after: list[Span | str] = [(f"  {said}", "*waits")] if said else []
    head = line(mark, (f"{entry.name} {glyph('dot')} {age(entry.at, now)} ago", "muted"), *after)
    return [head, *(line(mark, *row.left) for row in markdown_rows(entry.text, width - 2)), line()]


def round_rows(one: Round, width: int) -> list[Line]:
    """Returns the texts of an earlier round."""
    rows: list[Line] = []
    for kind, text in one.texts.items():
        rows += _part(_KINDS.get(kind, kind.replace("-", " by ", 1).capitalize()), text, width)
    return rows[:-1]


def fact_rows(snapshot: Snapshot, row: TaskRow, shown: ShownTask) -> list[Line]:
    """Returns where a task stands, and what was set for it."""
    mark, facts = snapshot.mark(row), shown.details
    colour, now = STATUS_COLOUR[mark], snapshot.around.now
    asked = age(row.asked_at, now) if row.awaiting else ""
    says = note_of(snapshot, row, mark) or row.status
    says = f"waits for {says}" if says.startswith("your ") else says
    rows = [line((f"{glyph(mark)} {says}", f"*{colour}"), right=[(asked, "muted")] if asked else [])]
    rows.append(_pairs([("priority", str(row.priority)), ("labels", ", ".join(facts.labels))]))
    rows.append(_pairs([("agent", facts.agent or "by settings"), ("requires", facts.requires or "")]))
    if shown.parent is not None:
        rows.append(_pairs([("in", f"{shown.parent.id} {shown.parent.title}")]))
    blockers = snapshot.graph.open_blockers(row)
    if blockers:
        rows.append(_pairs([("after", ", ".join(blockers))]))
    if row.is_epic or shown.children:
        done = sum(not one.is_open for one in shown.children)
        rows.append(_pairs([("children", f"{done} of {len(shown.children)} closed")]))
    if facts.iterations:
        spent = f"{count_of(facts.iterations, 'iteration')}" + (f", ${facts.cost:.2f}" if facts.cost else "")
        rows.append(_pairs([("spent", spent)]))
    if facts.pr:
        rows.append(_pairs([("pull request", facts.pr)]))
    return [one for one in rows if one.left]


def _pairs(pairs: Iterable[tuple[str, str]]) -> Line:
    spans: list[Span | str] = []
    for name, value in pairs:
        if value:
            spans += [(f"{name:<10}" if not spans else f"   {name} ", "muted"), value]
    return line(*spans)


def history_rows(events: Sequence[Event], now: datetime, width: int) -> list[Line]:
    """Returns what led a task to where it is, the newest last."""
    rows = []
    for number, event in enumerate(turns(events)):
        to = event.to_status.value if event.to_status is not None else None
        colour = "bad" if event.type in BAD else STATUS_COLOUR.get(to or "", "fg")
        when = [(f"{clock(event.at, now):<6}", "faint")] if width >= _ROOM_FOR_TIMES else []
        said = details(event)
        what = f"{glyph(to)} {to}" if to in STATUS_COLOUR and to else what_happened(event)
        rows.append(line(*when, (f"{what:<15}", colour), (f" {said}", "muted"), key=str(number)))
    return rows


def work_rows(rounds: Sequence[Round], commits: Mapping[str, str]) -> list[Line]:
    """Returns the earlier rounds and the commits, each an entry."""
    rows = [
        line((f"round {one.number}  ", "faint"), round_words(one), key=f"round {one.number}")
        for one in rounds
    ]
    rows += [
        line((f"{sha[:_SHORT_SHA]}  ", "faint"), subject, key=f"commit {sha}")
        for sha, subject in commits.items()
    ]
    return rows
