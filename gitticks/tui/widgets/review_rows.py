"""What a reviewer reads beside the changes, as rows: the question or the hand-off, checks, the council, the verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from gitticks.actions.changes import outlook
from gitticks.cli.render import NEW_COMMITS, count_of
from gitticks.model.notes import Entry
from gitticks.model.status import ANSWERED, Awaiting, Status, Verdict
from gitticks.tui.theme import glyph
from gitticks.tui.widgets.lines import Line, line
from gitticks.tui.widgets.markdown import markdown_rows, wrapped
from gitticks.tui.widgets.tasks import age
from gitticks.workflow.council import Voice, answers_in
from gitticks.workflow.transitions import VERDICTS, Outcome

if TYPE_CHECKING:
    from gitticks.actions.review import ReviewView
    from gitticks.model.task import Task
    from gitticks.model.task_row import TaskRow

_PART = re.compile(r"^(?:[-*] +)?\**([A-Z][A-Z ]+)\**: *", re.MULTILINE)
_BETWEEN_CHECKS = re.compile(r"(?<=\)); ")
_PASSED = re.compile(r" pass(es)? \([^()]*\)$")
"""How the line of a gate that passed ends, as the runner writes it; all other lines tell of a failure."""
_NOTHING = frozenset({"", "nothing", "none", "n/a", "-"})
_VOICES = {
    Voice.APPROVED: ("done", "good"),
    Voice.BLOCKING: ("cancelled", "bad"),
}


def story_rows(view: ReviewView, questions: Sequence[Entry], now: datetime, width: int) -> list[Line]:
    """Returns why it is a person's turn, what was handed off and what was asked for."""
    rows: list[Line] = []
    for question in questions:
        rows += _titled(f"{question.name} asks, {age(question.at, now)} ago", question.text, width, "waits")
    if not questions and view.said:
        rows += _titled("WHY IT IS WAITING" if view.task.awaiting else "SAID", view.said, width, "waits")
    rows += _handoff(view.handoff or "", width)
    if view.review and not view.reviews:
        rows += _titled("REVIEW", view.review, width)
    if view.summary:
        rows += _titled("REQUESTED", view.summary, width)
    if view.criteria:
        rows += _titled("ACCEPTANCE CRITERIA", view.criteria, width)
    answered = [pair for pair in view.questions if pair.answer is not None]
    for pair in answered:
        rows += _titled(f"{pair.question.name} ASKED", pair.question.text, width)
        if pair.answer is not None:
            rows += _titled(f"{pair.answer.name} ANSWERED", pair.answer.text, width)
    for note in view.notes:
        rows += _titled(f"NOTE by {note.name}, {age(note.at, now)} ago", note.text, width)
    return rows[:-1]


def _titled(title: str, text: str, width: int, colour: str = "muted") -> list[Line]:
    return [line((title, f"*{colour}" if colour == "waits" else colour)), *markdown_rows(text, width), line()]


def _handoff(text: str, width: int) -> Iterator[Line]:
    """Yields each part of a hand-off below its name; what its author is not sure of in the colour that asks."""
    for name, said in handoff_parts(text):
        yield from _titled(name or "HAND-OFF", said, width, "waits" if is_doubt(name, said) else "muted")


def handoff_parts(text: str) -> list[tuple[str, str]]:
    """Returns the parts of a hand-off with their names; what stands before them has none."""
    before, *parts = _PART.split(text)
    named = [
        (name, "\n".join(one.removeprefix("  ") for one in said.strip().split("\n")))
        for name, said in zip(parts[::2], parts[1::2], strict=True)
    ]
    return [("", before.strip()), *named] if before.strip() else named


def is_doubt(name: str, said: str) -> bool:
    """True if a part of a hand-off says what its author is not sure of."""
    return name == "UNCERTAIN" and said.strip().rstrip(".").lower() not in _NOTHING


def check_rows(view: ReviewView, width: int) -> list[Line]:
    """Returns what the gates came to on the head in review, and what speaks against a merge.

    If none ran on it, it is what they came to in the last iteration that ran any, which is said.
    """
    rows: list[Line] = []
    last = next((one for one in reversed(view.worklog) if one.checks), None) if not view.checks else None
    if last is not None:
        rows.append(line((f"of iteration {last.iteration}", "muted")))
    is_old = last is not None and view.task.is_handed_off
    lines = _BETWEEN_CHECKS.split(view.checks or (last and last.checks) or "")
    for at, one in enumerate(lines if lines != [""] else ()):
        name, _, detail = one.partition(" (")
        # Nothing runs after the first that fails.
        is_bad = at == len(lines) - 1 and not _PASSED.search(one)
        rows.append(
            line(
                (
                    f"{glyph('cancelled' if is_bad else 'done')} ",
                    "muted" if is_old else "bad" if is_bad else "good",
                ),
                (name, "muted" if is_old else "bad" if is_bad else "fg"),
                right=[(detail.rstrip(")"), "muted")] if detail and width > len(one) + 4 else [],
            )
        )
    rows += [line((f"{glyph('cancelled')} conflicts in ", "bad"), one) for one in view.conflicts or ()]
    task, doubts = view.task, []
    if view.conflicts is None:
        rows.append(line((f"{glyph('stuck')} {NEW_COMMITS}", "waits")))
    elif not view.conflicts and view.changes and view.changes.files and task.is_open and task.base:
        comes_to = outlook(task, view.left_epic)
        if view.left_epic is not None:
            doubts.append(comes_to)
        else:
            words, blank, name = comes_to.rpartition(" ")
            rows.append(line((f"{glyph('done')} ", "good"), words + blank, (name, "strong")))
    doubts += [f"look first: {remark.path}: {remark.why}" for remark in view.look_first]
    for doubt in doubts:
        said = wrapped(doubt, max(8, width - 2), "waits")
        rows += [
            line((f"{glyph('stuck')} " if not at else "  ", "waits"), *row.left)
            for at, row in enumerate(said)
        ]
    return rows


def voices(view: ReviewView) -> dict[str, Voice]:
    """Returns how each member of the council counts; as silent where a person replaced the council's review."""
    said = dict.fromkeys(view.reviews, Voice.SILENT)
    return said and {**said, **{one.name: one.voice for one in answers_in(view.review)}}


def blocking(view: ReviewView) -> list[str]:
    """Returns the members of the council who block the work."""
    return [name for name, voice in voices(view).items() if voice is Voice.BLOCKING]


def council_rows(view: ReviewView, width: int) -> list[Line]:
    """Returns what each member of the council answered, those who block first."""
    rows: list[Line] = []
    for name, voice in sorted(voices(view).items(), key=lambda one: one[1] is not Voice.BLOCKING):
        sign, colour = _VOICES.get(voice, ("dot", "muted"))
        text = view.reviews.get(name, "")
        rows.append(line((f"{glyph(sign)} ", colour), (name, "*fg"), right=[(voice.value, colour)], key=name))
        said = "\n".join(one for one in text.splitlines() if "VERDICT" not in one)
        rows += [line("  ", *row.left, key=name) for row in markdown_rows(said, width - 2, colour="muted")]
    return rows


def answers(task: Task | TaskRow) -> tuple[str, str]:
    """Returns what `y` and `n` do with a task, in a word or two; nothing where they do nothing."""
    if task.awaiting is None:
        can_send_back = task.is_merging or task.status == Status.AGENT_REVIEW
        return "merge" if task.is_merging else "", "reject" if can_send_back else ""
    outcome = VERDICTS[Awaiting(task.awaiting), Verdict.REJECTED]
    no = {Outcome.RETURN: "reject", Outcome.CANCEL: "cancel"}.get(outcome, "")
    if task.awaiting == Awaiting.CHECKPOINT:
        no = "redo the phase"
    if task.status == Status.STUCK:
        return "decide", no
    if task.awaiting == Awaiting.WORK:
        return "it is done", no
    return "answer" if task.awaiting in ANSWERED else "approve", no


def verdict_row(view: ReviewView, comments: Mapping[str, str], follows: str, *, is_stale: bool) -> Line:
    """Returns what a verdict would lead to; `follows` is what becomes of changed code that is approved."""
    task = view.task
    if is_stale:
        says = f"{glyph('stuck')} the {'task' if task.awaiting in ANSWERED else 'work'} changed; "
        return line((says, "*waits"), ("r", "*focus"), (" reloads", "waits"))
    sent = [(count_of(len(comments), "comment"), "waits")] if comments else []
    if task.is_merging:
        return line(("approved", "good"), (", waits for its merge", "muted"), right=sent)
    if task.status is Status.STUCK:
        follows = "y asks what to do"
    elif task.awaiting in ANSWERED:
        follows = "^g in the box for the answer opens your editor"
    elif task.awaiting is None:
        follows = f"{task.status}: it is not waiting for anyone"
    elif task.awaiting is Awaiting.WORK:
        follows = "closes the task"
    elif view.changes is None or not view.changes.files:
        follows = "no change to the code: merges nothing"
    elif view.conflicts is None:
        follows = NEW_COMMITS
    return line((follows, "muted"), right=sent)
