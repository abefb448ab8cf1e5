"""Rows of the inbox, and the preview of what its entries are about."""

from __future__ import annotations

from datetime import datetime

from gitticks.actions.changes import Changes
from gitticks.actions.inbox import Asked, ReviewWord
from gitticks.cli.render import NEW_COMMITS, count_of
from gitticks.model.status import ANSWERED, Awaiting, Status
from gitticks.runner.questions import Question
from gitticks.runner.run_record import QueuedMerge
from gitticks.store.index import BrokenFile
from gitticks.tui.messages import Snapshot
from gitticks.tui.theme import STATUS_COLOUR, glyph
from gitticks.tui.widgets.lines import Line, Span, line
from gitticks.tui.widgets.markdown import paragraphs, wrapped
from gitticks.tui.widgets.permission_rows import left, question_rows
from gitticks.tui.widgets.review_rows import handoff_parts, is_doubt
from gitticks.tui.widgets.tasks import age
from gitticks.workflow.permissions import rule_words

PERMISSION, MERGE, BROKEN = "permission:", "merge:", "file:"
"""How the keys of entries begin that are no tasks: questions about permissions, merges that wait, unreadable files."""
Entry = Asked | Question | QueuedMerge | BrokenFile
Preview = tuple[str, list[Line]]
"""Title and rows of what is shown of an entry."""
_MOST_ROWS = 2
_OUTCOMES = {"pass": ("passed", "good"), "fail": ("failed", "bad")}
_NO_VERDICT = ("without a verdict", "waits")
_NAME_COLUMNS = 11
_KINDS: dict[str, str] = {Awaiting.WORK: "your work", Awaiting.INPUT: "question"}


def rows(snapshot: Snapshot, now: datetime, width: int) -> list[Line]:
    """Returns what waits for a person: title, what is asked in at most two rows, a blank row between entries.

    Questions of agents about permissions come first: they are denied after a while.
    """
    found = question_rows(snapshot.questions, now, width, PERMISSION)
    found += [line()] if found else []
    for asked in snapshot.inbox:
        row, mark = asked.standing.task, _mark(asked)
        sign = (f"{glyph(mark)} ", f"*{STATUS_COLOUR[mark]}")
        head = [sign, (row.id, "muted"), ("  ", "fg"), (row.title, "strong")]
        found += _entry(row.id, head, gist(asked), width, age(row.asked_at, now))
    for merge in snapshot.merges:
        approved = snapshot.find(merge.task)
        title = "" if approved is None else approved.title
        head = [(f"{glyph('reviewing')} ", "*waits"), (merge.task, "muted"), ("  ", "fg"), (title, "strong")]
        found += _entry(f"{MERGE}{merge.task}", head, f"merge waits: {merge.reason}", width)
    for broken in snapshot.broken:
        head = [(f"{glyph('stuck')} ", "*bad"), (broken.path, "strong")]
        found += _entry(f"{BROKEN}{broken.path}", head, broken.message, width)
    return found[:-1]


def entries(snapshot: Snapshot) -> dict[str, Entry]:
    """Returns what waits for a person, by the keys of the rows."""
    return {
        **{one.standing.task.id: one for one in snapshot.inbox},
        **{f"{PERMISSION}{one.number}": one for one in snapshot.questions},
        **{f"{MERGE}{one.task}": one for one in snapshot.merges},
        **{f"{BROKEN}{one.path}": one for one in snapshot.broken},
    }


def _entry(key: str, head: list[Span], says: str, width: int, right: str = "") -> list[Line]:
    return [
        line(*head, right=[(right, "muted")], key=key),
        *(line("  ", (part, "muted"), key=key) for part in paragraphs(says, width - 4, _MOST_ROWS)),
        line(),
    ]


def permission_preview(question: Question, now: datetime, width: int) -> Preview:
    """Returns title and rows of the preview of such a question."""
    found = wrapped(question.access.target, width, "*strong")
    found += [line(), line((f"{question.agent} asks for {question.access.operation.value}", "fg"))]
    found += wrapped(question.reason, width, "muted")
    found += [
        line(),
        line(("denied in ", "muted"), (left(question.expires, now), "waits")),
        line(("Y and N remember ", "muted"), rule_words(question.rule)),
    ]
    return f"{question.task}  permission", found


def _mark(asked: Asked) -> str:
    row = asked.standing.task
    if asked.standing.is_conflicted or row.status == "stuck":
        return "stuck"
    return "clarification" if row.awaiting in ANSWERED else "reviewing"


def gist(asked: Asked) -> str:
    """Returns in a sentence what an entry is about."""
    if asked.standing.is_conflicted:
        return "its file has a conflict"
    if asked.questions:
        return asked.questions[-1].text
    if asked.review is not None or asked.said:
        review = asked.review and review_words(asked.review)
        return "; ".join(filter(None, (review, asked.said)))
    awaiting = asked.standing.task.awaiting
    if awaiting is None:
        return "needs you"
    kind = "answer" if awaiting in ANSWERED else _KINDS.get(awaiting, awaiting).removeprefix("your ")
    return f"waits for your {kind}"


def review_words(review: ReviewWord) -> str:
    """Returns what an agent's review came to."""
    by = f" by {review.by}" if review.by else ""
    return f"review {_OUTCOMES.get(review.outcome, _NO_VERDICT)[0]}{by}"


def changes_words(changes: Changes) -> list[Span]:
    """Returns how much is changed, and whether it merges cleanly."""
    summary = changes.summary
    if not summary.files:
        return [("no change to the code", "muted")]
    found: list[Span] = [(f"{count_of(summary.files, 'file')} ", "fg"), (f"+{summary.added}", "good")]
    if summary.removed:
        found.append((f" {glyph('minus')}{summary.removed}", "bad"))
    if changes.conflicts:
        found.append((f"  conflicts with {changes.base} in {', '.join(changes.conflicts[:2])}", "bad"))
    elif changes.outlook is not None:
        found.append((f"  {changes.outlook}", "muted"))
    elif changes.has_new_commits:
        found.append((f"  {NEW_COMMITS}", "waits"))
    return found


def preview(asked: Asked, changes: Changes | None, handoff: str, now: datetime, width: int) -> Preview:
    """Returns title and rows of an entry's preview."""
    row = asked.standing.task
    kind = (
        _KINDS.get(row.awaiting, row.awaiting)
        if row.awaiting and row.status != Status.STUCK
        else "conflict"
        if asked.standing.is_conflicted
        else row.status
    )
    found: list[Line] = []
    if changes is not None:
        found += [line(*changes_words(changes)), line()]
    if asked.said:
        found += [*wrapped(asked.said, width), line()]
    if asked.review is not None:
        word, colour = _OUTCOMES.get(asked.review.outcome, _NO_VERDICT)
        by = f" by {asked.review.by}" if asked.review.by else ""
        found.append(line((f"review {word}", colour), (by, "muted")))
        found += wrapped(asked.review.text, width)
        found.append(line())
    if handoff and asked.standing.task.awaiting not in ANSWERED:
        found += [*_handoff(handoff, width), line()]
    for entry in asked.questions:
        found += wrapped(entry.text, width, "*strong")
        found += [line((f"{entry.name}, {age(entry.at, now)} ago", "muted")), line()]
    if asked.answer is not None:
        found += [line((f"answered by {asked.answer.name}; counts once it is approved", "waits")), line()]
    if not found:
        found = [line((gist(asked), "muted"))]
    return f"{row.id}  {kind}", found


def _handoff(text: str, width: int) -> list[Line]:
    """Returns what the agent says of its work; what it is not sure of stands out."""
    found: list[Line] = []
    for name, said in handoff_parts(text):
        colour = "waits" if is_doubt(name, said) else "muted"
        room = width - _NAME_COLUMNS if name else width
        for number, part in enumerate(paragraphs(said, room)):
            label = [(f"{'' if number else name:<{_NAME_COLUMNS}}", colour)] if name else []
            found.append(line(*label, (part, "fg")))
    return found
