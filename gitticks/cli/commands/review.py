"""`gt review`."""

from __future__ import annotations

import sys

import click

from gitticks.actions.context import Context
from gitticks.actions.handover import current_session, write_review
from gitticks.actions.review import ReviewView, accept_work, comment_on, diff, reject_work, view
from gitticks.actions.run import runner_merges
from gitticks.actions.task_lookup import CHARACTERS_TO_DECIDE, find_or_take_up_task
from gitticks.actions.verdict import look_at, prove_approval
from gitticks.cli.answers import typed_word
from gitticks.cli.app import run
from gitticks.cli.decisions import Decided, finish_approval, print_decided
from gitticks.cli.json import entry_object, pair_object, print_object
from gitticks.cli.options import command, task_argument
from gitticks.cli.render import GAP, say, screen
from gitticks.cli.text import visible
from gitticks.cli.views.review import review_lines
from gitticks.cli.writing import check_text, print_change
from gitticks.document.verdict_line import leading_verdict
from gitticks.errors import UsageError
from gitticks.model.ids import TaskId


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
    "--reject", metavar="FEEDBACK", help="Send the work back, even while an agent is still reviewing it."
)
@click.argument("text", required=False)
@click.option(
    "--comment",
    "comments",
    metavar="[FILE:LINE] TEXT",
    multiple=True,
    help="Add a note for the next agent, on one line or on the whole work.",
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
    as_json: bool,
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
        if as_json:
            print_object(review={"task": session.task_id, "outcome": outcome.value})
        else:
            say(f"{visible(session.name)}{GAP}review written: {outcome.value.upper()}; end your turn")
        return 0
    if accept and reject is not None:
        raise UsageError("`--accept` and `--reject` cannot be used together", hint="`gt review --help`")
    if text is not None and len(comments) != 1:
        raise UsageError(
            f"it is not clear what `{text}` is for", hint='`gt review ID --comment src/app.py:12 "…"`'
        )
    least = CHARACTERS_TO_DECIDE if accept or reject is not None else 1
    task_id = find_or_take_up_task(context, task, least=least)
    if reject is not None and not reject.strip():
        raise UsageError("the feedback is empty", hint=f'`gt review {task_id} --reject "what is missing"`')
    if comments:
        comment_on(context, task_id, comments, text)
    if accept:
        return _accept(context, task_id, as_json=as_json)
    if reject is not None:
        return _reject(context, task_id, reject, resume=not no_resume, as_json=as_json)
    if not comments:
        _show(context, task_id, with_changes=not stat, as_json=as_json)
        return 0

    count = len(comments)
    print_change(context, task_id, "note added" if count == 1 else f"{count} notes added", as_json=as_json)
    return 0


def _accept(context: Context, task_id: TaskId, *, as_json: bool) -> int:
    seen = look_at(context, task_id)
    judged = accept_work(context, task_id, seen, prove_approval(context, task_id, typed_word))
    return finish_approval(context, judged.after, "accepted", is_left=False, as_json=as_json)


def _show(context: Context, task_id: TaskId, *, with_changes: bool, as_json: bool) -> None:
    seen = view(context, task_id)
    if as_json:
        print_object(review=_object(seen))
        return
    patch = None
    if with_changes and seen.changes is not None:
        patch = diff(context, seen.task).decode("utf-8", "replace").splitlines()
    say(*review_lines(screen(), seen, patch, context.now))


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
        "rounds": [
            {"number": one.number, "handoff": one.handoff, "review": one.review, "reviews": one.councillors}
            for one in seen.earlier
        ],
        "questions": [pair_object(pair) for pair in seen.questions],
        "notes": [entry_object(note) for note in seen.notes],
        "worklog": seen.worklog,
        "changes": seen.changes,
        "conflicts": seen.conflicts,
        "look_first": seen.look_first,
    }


def _reject(context: Context, task_id: TaskId, feedback: str, *, resume: bool, as_json: bool) -> int:
    reject_work(context, task_id, feedback)
    after = context.store.task_file(task_id).task
    print_decided(context, Decided(after, ("sent back with your feedback",)), as_json=as_json)
    if not resume or runner_merges(context):
        return 0

    sys.stdout.flush()
    return run(["run", task_id, *(["--json"] if as_json else [])])
