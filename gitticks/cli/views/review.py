"""A task's work on one page: the request, what was said about it, and the changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from gitticks.cli.render import GAP, Screen, Style, ago, count_of
from gitticks.cli.text import as_called, called, visible
from gitticks.cli.views.inbox import joined
from gitticks.cli.views.task import prose
from gitticks.model.ids import task_folder
from gitticks.model.notes import Entry, QuestionPair, Section
from gitticks.model.status import Awaiting
from gitticks.model.task import Task
from gitticks.workflow.council import Voice, read_voice
from gitticks.workflow.signals import without_promises

if TYPE_CHECKING:
    from gitticks.actions.review import ReviewView
    from gitticks.runner.worklog import LoggedIteration


MOST_LINES, MOST_LINES_OF_ENTRY = 12, 4
"""So many lines are shown of a text, and of one note, question or answer."""
MOST_ENTRIES = 3

_HEADS = ("diff --git ", "--- ", "+++ ")
_STYLES = {"+": Style.GOOD, "-": Style.BAD, "@": Style.BUSY}


def told_lines(on: Screen, seen: ReviewView, now: datetime) -> Iterator[str]:
    """Yields the parts that have something in them, each after an empty line."""
    everything = as_called(f"`gt show {seen.task.id}`")
    if seen.summary:
        yield ""
        yield from _beginning(on, seen.summary, MOST_LINES, everything)
    yield from _part(on, Section.ACCEPTANCE, _beginning(on, seen.criteria or "", MOST_LINES, everything))
    review = seen.review or ""
    if seen.reviews:
        review = review.partition("\n### ")[0].strip()  # the answers follow by themselves
    for name, text in (("Said", seen.said), (Section.HANDOFF, seen.handoff), (Section.REVIEW, review)):
        yield from _part(on, name, prose(on, text or ""))
    yield from _part(on, "Council", _council(on, seen))
    yield from _part(on, "Earlier rounds", _rounds(on, seen))
    yield from _part(on, Section.QUESTIONS, _questions(on, seen.questions, now, everything))
    notes = [note for note in seen.notes if note.text != seen.said]
    yield from _part(on, Section.NOTES, _notes(on, notes, now, everything))
    yield from _part(on, "Work", _work(on, seen, now))


def _part(on: Screen, name: str, lines: Iterator[str]) -> Iterator[str]:
    first = next(lines, None)
    if first is None:
        return
    yield ""
    yield on.styled(name, Style.STRONG)
    yield first
    yield from lines


def _beginning(on: Screen, text: str, most: int, everything: str, indent: str = GAP) -> Iterator[str]:
    """Yields the first lines of a text; a single line more is shown rather than counted."""
    lines = list(prose(on, text, indent))
    is_cut = len(lines) > most + 1
    yield from lines[:most] if is_cut else lines
    if is_cut:
        yield f"{indent}… {count_of(len(lines) - most, 'more line')}: {everything}"


def _council(on: Screen, seen: ReviewView) -> Iterator[str]:
    """Yields what each member answered."""
    for name, text in seen.reviews.items():
        yield on.fit(f"{GAP}{visible(name)}: {read_voice(text)}", on.columns)
        yield from _beginning(
            on, text, MOST_LINES_OF_ENTRY, as_called(f"`gt review {seen.task.id} --json`"), GAP * 2
        )


def _rounds(on: Screen, seen: ReviewView) -> Iterator[str]:
    """Yields why each of the last rounds sent the work back: of a council what was said against it."""
    show = f"`gt show {seen.task.id} --round"
    yield from _earlier(len(seen.earlier), "round", f"{show} 1`")
    for one in seen.earlier[-MOST_ENTRIES:]:
        yield f"{GAP}round {one.number}"
        against = {name: text for name, text in one.councillors.items() if read_voice(text) is Voice.BLOCKING}
        texts = [f"{name}: {text}" for name, text in against.items()] or [one.review or ""]
        for text in texts:
            yield from _beginning(on, text, MOST_LINES_OF_ENTRY, f"{show} {one.number}`", GAP * 2)


def _questions(on: Screen, pairs: Sequence[QuestionPair], now: datetime, everything: str) -> Iterator[str]:
    yield from _earlier(len(pairs), "question", everything)
    for pair in pairs[-MOST_ENTRIES:]:
        yield from _entry(on, pair.question, now, everything, after="" if pair.answer else ": open")
        if pair.answer:
            yield from _entry(on, pair.answer, now, everything, before="answered by ")


def _notes(on: Screen, notes: Sequence[Entry], now: datetime, everything: str) -> Iterator[str]:
    yield from _earlier(len(notes), "note", everything)
    for note in notes[-MOST_ENTRIES:]:
        yield from _entry(on, note, now, everything)


def _entry(
    on: Screen, entry: Entry, now: datetime, everything: str, *, before: str = "", after: str = ""
) -> Iterator[str]:
    said = f"{GAP}{before}{visible(entry.name)}, {ago(entry.at, now)}"
    yield on.fit(said, on.columns - len(after)) + on.styled(after, Style.WAITS)
    yield from _beginning(on, entry.text, MOST_LINES_OF_ENTRY, everything, GAP * 2)


def _work(on: Screen, seen: ReviewView, now: datetime) -> Iterator[str]:
    """Yields a line for each of the last iterations, and what was said at the end where nothing was handed off."""
    file = f"`git show gitticks/state:{task_folder(seen.task.id)}/worklog.md`"
    yield from _earlier(len(seen.worklog), "iteration", file)
    for one in seen.worklog[-MOST_ENTRIES:]:
        yield on.fit(f"{GAP}{visible(_iteration(one, now))}", on.columns)
    # The kind of a signal is beside the iteration, its words as a question or a note.
    said = without_promises(seen.worklog[-1].said).strip() if seen.worklog and not seen.handoff else ""
    if said and said != seen.said:
        yield from _beginning(on, said, MOST_LINES_OF_ENTRY, file, GAP * 2)


def _iteration(one: LoggedIteration, now: datetime) -> str:
    ending, _, detail = one.ended.partition(" (")
    ended = ending if detail == f"{ending})" else one.ended
    words = ", ".join(word for word in (ended, one.signal, one.checks) if word)
    return f"{one.iteration}  {one.role} {one.agent}, {ago(one.at, now)}: {words}"


def _earlier(count: int, noun: str, everything: str) -> Iterator[str]:
    if count > MOST_ENTRIES:
        yield f"{GAP}… {count_of(count - MOST_ENTRIES, f'earlier {noun}')}: {everything}"


def review_lines(on: Screen, seen: ReviewView, patch: Sequence[str] | None, now: datetime) -> Iterator[str]:
    """Yields the page; the changes stand on it line by line where there is a patch."""
    task = seen.task
    yield on.fit(f"{task.id}{GAP}{visible(task.title)}", on.columns)
    yield f"{task.status}" + (f", awaits {task.awaiting}" if task.awaiting else "")
    yield from told_lines(on, seen, now)
    yield ""
    yield from joined(on, list(_facts(seen)), ", ")
    if seen.look_first:
        yield ""
        yield on.styled("look at these first", Style.STRONG)
        yield from (visible(f"{GAP}{one.path}: {one.why}") for one in seen.look_first)
    if patch:
        yield ""
        yield from (_patch_line(on, line) for line in patch)
    commands = _commands(task)
    if on.is_terminal and commands:
        yield ""
        yield from (on.styled(line, Style.FAINT) for line in joined(on, commands, " · "))


def _commands(task: Task) -> Sequence[str]:
    """Returns what answers the task now; nothing where no person is asked."""
    gt = called()
    match task.awaiting:
        case None:
            return ()
        case Awaiting.INPUT | Awaiting.ESCALATION | Awaiting.CHECKPOINT:
            return (f'{gt} respond {task.id} "…"',)
        case Awaiting.WORK:
            return (f"{gt} close {task.id}",)
        case Awaiting.APPROVAL | Awaiting.REVIEW | Awaiting.CONTENT:
            return f"{gt} approve {task.id}", f'{gt} reject {task.id} "…"'


def _facts(seen: ReviewView) -> Iterator[str]:
    changes, task = seen.changes, seen.task
    if changes is None:
        yield "no code was handed off"
        return
    if not changes.files:
        yield "no changes"
        return
    yield f"{count_of(changes.files, 'file')}, +{changes.added} -{changes.removed}"
    if seen.conflicts:
        yield visible(f"conflicts in {', '.join(seen.conflicts)}")
    elif task.merged_sha is not None:
        yield visible(f"merged into {task.base} as {task.merged_sha[:7]}")
    elif task.is_open and task.base is not None:
        yield visible(f"merges cleanly into {task.base}")


def _patch_line(on: Screen, line: str) -> str:
    """Returns a line of a patch, which is never broken or cut: it is code."""
    style = Style.STRONG if line.startswith(_HEADS) else _STYLES.get(line[:1], Style.PLAIN)
    return on.styled(visible(line, keep="\t"), style)
