"""`gt review`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import TypeVar

import click

from gitticks.actions.changes import outlook
from gitticks.actions.context import Context
from gitticks.actions.handover import current_session, write_review
from gitticks.actions.review import (
    ReviewView,
    check_judging,
    comment_on,
    diff,
    reject_work,
    view,
)
from gitticks.actions.task_lookup import CHARACTERS_TO_DECIDE, find_or_take_up_task
from gitticks.actions.verdict import approve_task, look_at_turn, prove_approval
from gitticks.cli.app import run
from gitticks.cli.commands.show import beginning, entry_lines, pair_lines, round_object, verdict_objects
from gitticks.cli.decisions import Decided, finish_approval, print_decided
from gitticks.cli.editor import typed_word
from gitticks.cli.json import print_answer, print_object
from gitticks.cli.options import command, task_argument
from gitticks.cli.pager import paged
from gitticks.cli.render import (
    GAP,
    NEW_COMMITS,
    Screen,
    Style,
    ago,
    below,
    count_of,
    hint,
    prose,
    say,
    screen,
)
from gitticks.cli.text import as_called, called, visible
from gitticks.cli.views.tasks import answer_commands, joined
from gitticks.cli.writing import check_text, print_change, read_text
from gitticks.document.verdict_line import leading_verdict
from gitticks.errors import Exit, UsageError
from gitticks.model.ids import TaskId, task_folder
from gitticks.model.notes import Section
from gitticks.model.task import NOTHING_TO_MERGE
from gitticks.runner.liveness import is_run_alive_at, takes_work_at
from gitticks.runner.worklog import LoggedIteration
from gitticks.store.layout import Round
from gitticks.workflow.council import answers_in, blocking_in
from gitticks.workflow.signals import without_promises
from gitticks.workflow.triggers import Seen

T = TypeVar("T")
MOST_LINES, MOST_LINES_OF_ENTRY = 12, 4
"""So many lines are shown of a text, and of one note, question or answer."""
MOST_ENTRIES = 3
_HEADS = ("diff --git ", "--- ", "+++ ")
_STYLES = {"+": Style.GOOD, "-": Style.BAD, "@": Style.BUSY}


@command(
    "review",
    "gt review k7f2",
    "gt review k7f2 --accept",
    'gt review k7f2 --reject "Test the empty case."',
    'gt review k7f2 --comment src/app.py:12 "This leaks."',
)
@task_argument()
@click.option("--accept", is_flag=True, help="Approve the work; it must be waiting for a person.")
@click.option(
    "--reject",
    metavar="FEEDBACK",
    help="Send the work back, even while an agent is still reviewing it; `-` reads it from stdin.",
)
@click.argument("text", required=False)
@click.option(
    "--comment",
    "comments",
    metavar="[FILE:LINE] TEXT",
    multiple=True,
    help="Add a note for the next agent, on one line or on the whole work; `-` reads it from stdin.",
)
@click.option("--no-resume", is_flag=True, help="With --reject: do not restart the agent now.")
@click.option("--stat", is_flag=True, help="Only the summary, not the changes themselves.")
def review_command(
    context: Context,
    *,
    task: str,
    accept: bool,
    reject: str | None,
    comments: tuple[str, ...],
    text: str | None,
    no_resume: bool,
    stat: bool,
) -> int:
    """Review a task's changes; accept or reject them.

    The task, hand-off and review are shown first, with the newest notes, questions and iterations (all with --json).
    Changes are shown as they are stored: no filter or program of the repository is run.
    In a reviewing agent's session, `gt review "PASS: …"` or `"FAIL: …"` writes the review.
    """
    session = current_session(context, None)
    verdict = None if accept or comments or reject else leading_verdict(text or task)
    if session is not None and verdict is not None:
        current_session(context, None if text is None else task)  # which refuses another task than this one
        outcome, reasons = verdict
        write_review(session, outcome, check_text(reasons))
        line = f"{visible(session.name)}{GAP}review written: {outcome.value.upper()}; end your turn"
        print_answer(context, [line], review={"task": session.task_id, "outcome": outcome.value})
        return 0
    if accept and reject is not None:
        raise UsageError("`--accept` and `--reject` cannot be used together", hint="`gt review --help`")
    if text is not None and len(comments) != 1:
        raise UsageError(
            f"it is not clear what `{text}` is for", hint='`gt review ID --comment src/app.py:12 "…"`'
        )
    least = CHARACTERS_TO_DECIDE if accept or reject is not None else 1
    task_id = _find(context, task, least=least)
    if not accept and reject is None and not comments:
        _show(context, task_id, with_changes=not stat)
        return 0
    seen = look_at_turn(context, task_id)  # first: a verdict is refused if it changes after that
    feedback = read_text(reject, "the feedback")
    if feedback is not None and not feedback.strip():
        raise UsageError("the feedback is empty", hint=f'`gt review {task_id} --reject "what is missing"`')
    said = [read_text(one, "the comment") or "" for one in (*comments, *([] if text is None else [text]))]
    add_comments = partial(_comment, context, task_id, said if text is None else [" ".join(said)])
    if accept:
        return _accept(context, task_id, seen, add_comments)
    if feedback is not None:
        return _reject(context, task_id, feedback, seen, add_comments, resume=not no_resume)

    add_comments()
    count = len(comments)
    print_change(context, task_id, "note added" if count == 1 else f"{count} notes added")
    return 0


def _show(context: Context, task_id: TaskId, *, with_changes: bool) -> None:
    seen = view(context, task_id)
    if context.as_json:
        print_object(review=_object(seen))
        return
    patch = None
    if with_changes and seen.changes is not None:
        patch = diff(context, seen.task).decode("utf-8", "replace").splitlines()
    paged(partial(say, *review_lines(screen(), seen, patch, context.now)))


def _object(seen: ReviewView) -> dict[str, object]:
    return {
        "id": seen.task.id,
        "status": seen.task.status,
        "awaiting": seen.task.awaiting,
        "head": seen.task.end_sha,
        "summary": seen.summary,
        "criteria": seen.criteria,
        "said": seen.said,
        "handoff": seen.handoff,
        "review": seen.review,
        "reviews": seen.reviews,
        "verdicts": verdict_objects(seen.review if seen.reviews else None),
        "rounds": list(map(round_object, seen.earlier)),
        "questions": seen.questions,
        "notes": seen.notes,
        "worklog": seen.worklog,
        "changes": seen.changes,
        "conflicts": seen.conflicts,
        "look_first": seen.look_first,
    }


def _find(context: Context, task: str, *, least: int) -> TaskId:
    if context.world.in_session and " " in task:  # what was meant as a review, by an agent
        raise UsageError(
            "a review begins with PASS or FAIL, alone or with a colon after it",
            hint='`gt review "PASS: …"` or `gt review "FAIL: …"`',
        )
    return find_or_take_up_task(context, task, least=least)


def _comment(context: Context, task_id: TaskId, comments: Sequence[str]) -> None:
    if comments:
        comment_on(context, task_id, comments)


def _accept(context: Context, task_id: TaskId, seen: Seen, add_comments: Callable[[], None]) -> int:
    check_judging(context, task_id, accepts=True)
    proof = prove_approval(context, task_id, typed_word)
    add_comments()
    judged = approve_task(context, task_id, None, seen, proof)
    return finish_approval(context, judged.after, "accepted", is_left=False)


def _reject(
    context: Context,
    task_id: TaskId,
    feedback: str,
    seen: Seen,
    add_comments: Callable[[], None],
    *,
    resume: bool,
) -> int:
    check_judging(context, task_id, accepts=False)
    add_comments()
    reject_work(context, task_id, feedback, seen)
    after = context.store.task_file(task_id).task
    print_decided(context, Decided(after, ("sent back with your feedback",)))
    is_by_hand = after.claim is not None and after.claim.is_by_hand
    if not resume or is_by_hand:
        return 0
    if is_run_alive_at(context.repository.own_place):
        if not takes_work_at(context.repository.own_place):
            hint(f"the run that is active ends: after it, `gt run {task_id}` restarts the agent")
        return 0

    sys.stdout.flush()
    code = run(["run", task_id, *(["--json"] if context.as_json else [])])
    return code if code == Exit.INTERRUPTED else 0  # how the run ended says nothing of the rejection


def told_lines(on: Screen, seen: ReviewView, now: datetime) -> Iterator[str]:
    """Yields the parts that have something in them, each after an empty line."""
    everything = as_called(f"`gt show {seen.task.id}`")
    if seen.summary:
        yield ""
        yield from beginning(on, seen.summary, MOST_LINES, everything)
    yield from _part(on, Section.ACCEPTANCE, beginning(on, seen.criteria or "", MOST_LINES, everything))
    review = seen.review or ""
    if seen.reviews:
        review = review.partition("\n### ")[0].strip()  # the answers follow by themselves
    for name, text in (("Said", seen.said), (Section.HANDOFF, seen.handoff), (Section.REVIEW, review)):
        yield from _part(on, name, prose(on, text or ""))
    yield from _part(on, "Council", _council(on, seen))
    yield from _part(on, "Earlier rounds", _rounds(on, seen))
    asked = partial(pair_lines, on, now=now, most=MOST_LINES_OF_ENTRY, rest=everything)
    yield from _part(on, Section.QUESTIONS, _newest(seen.questions, "question", everything, asked))
    noted = partial(entry_lines, on, now=now, most=MOST_LINES_OF_ENTRY, rest=everything)
    notes = [note for note in seen.notes if note.text != seen.said]
    yield from _part(on, Section.NOTES, _newest(notes, "note", everything, noted))
    yield from _part(on, "Work", _work(on, seen, now))


def _part(on: Screen, name: str, lines: Iterable[str]) -> list[str]:
    shown = list(below(on, name, lines))
    return ["", *shown] if shown else []


def _council(on: Screen, seen: ReviewView) -> Iterator[str]:
    voices = {one.name: one.voice for one in answers_in(seen.review)}
    for name, text in seen.reviews.items():
        voice = f": {voices[name]}" if name in voices else ""
        yield on.fit(f"{GAP}{visible(name)}{voice}")
        yield from beginning(
            on, text, MOST_LINES_OF_ENTRY, as_called(f"`gt review {seen.task.id} --json`"), GAP * 2
        )


def _rounds(on: Screen, seen: ReviewView) -> Iterator[str]:
    """Yields why each of the last rounds sent the work back: of a council what was said against it."""
    show = as_called(f"`gt show {seen.task.id} --round")

    def lines(one: Round) -> Iterator[str]:
        yield f"{GAP}round {one.number}"
        against = blocking_in(one.review)
        texts = [f"{name}: {text}" for name, text in one.councillors.items() if name in against]
        for text in texts or [one.review or ""]:
            yield from beginning(on, text, MOST_LINES_OF_ENTRY, f"{show} {one.number}`", GAP * 2)

    return _newest(seen.earlier, "round", f"{show} 1`", lines)


def _newest(
    items: Sequence[T], noun: str, everything: str, lines: Callable[[T], Iterable[str]]
) -> Iterator[str]:
    """Yields the lines of the newest, after how many there are before them and what shows these."""
    left = len(items) - MOST_ENTRIES
    if left > 0:
        yield f"{GAP}… {count_of(left, f'earlier {noun}')}: {everything}"
    for one in items[-MOST_ENTRIES:]:
        yield from lines(one)


def _work(on: Screen, seen: ReviewView, now: datetime) -> Iterator[str]:
    """Yields a line for each of the last iterations, and what was said at the end where nothing was handed off."""
    file = f"`git show gitticks/state:{task_folder(seen.task.id)}/worklog.md`"
    yield from _newest(
        seen.worklog,
        "iteration",
        file,
        lambda one: [on.fit(f"{GAP}{visible(_iteration(one, now))}")],
    )
    # The kind of a signal is beside the iteration, its words as a question or a note.
    said = without_promises(seen.worklog[-1].said).strip() if seen.worklog and not seen.handoff else ""
    if said and said != seen.said:
        yield from beginning(on, said, MOST_LINES_OF_ENTRY, file, GAP * 2)


def _iteration(one: LoggedIteration, now: datetime) -> str:
    ending, _, detail = one.ended.partition(" (")
    ended = ending if detail == f"{ending})" else one.ended
    words = ", ".join(word for word in (ended, one.signal, one.checks) if word)
    return f"{one.iteration}  {one.role} {one.agent}, {ago(one.at, now)}: {words}"


def review_lines(on: Screen, seen: ReviewView, patch: Sequence[str] | None, now: datetime) -> Iterator[str]:
    """Yields the page; the changes stand on it line by line where there is a patch."""
    task = seen.task
    yield on.fit(f"{task.id}{GAP}{visible(task.title)}")
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
    if on.is_terminal and task.awaiting:
        commands = [
            one for one in answer_commands(task, seen.to_merge) if one != f"{called()} review {task.id}"
        ]
        yield ""
        yield from (on.styled(line, Style.FAINT) for line in joined(on, commands, " · "))


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
        merged = f"merged into {task.base} as {task.merged_sha[:7]}"
        yield visible(merged if task.has_merge else NOTHING_TO_MERGE)
    elif seen.conflicts is None:
        yield NEW_COMMITS
    elif task.is_open and task.base is not None:
        yield visible(outlook(task, seen.left_epic))


def _patch_line(on: Screen, line: str) -> str:
    """Returns a line of a patch, which is never broken or cut: it is code."""
    style = Style.STRONG if line.startswith(_HEADS) else _STYLES.get(line[:1], Style.PLAIN)
    return on.styled(visible(line, keep="\t"), style)
