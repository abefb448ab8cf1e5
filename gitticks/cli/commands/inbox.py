"""`gt inbox`, and how a task that is waiting for a person is shown: what is asked, what was found, what to type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from gitticks.actions.context import Context
from gitticks.actions.derived_state import Standing
from gitticks.cli.at_once import JSON, ReadingCommand, Switch
from gitticks.cli.filters import COUNT
from gitticks.cli.json import print_tasks, task_text
from gitticks.cli.render import (
    GAP,
    NEW_COMMITS,
    Screen,
    Style,
    age_of,
    ago,
    count_of,
    opposite,
    say,
    screen,
    whole,
)
from gitticks.cli.text import as_called, called, from_here, visible
from gitticks.cli.views.tasks import answer_commands, indent_of, joined
from gitticks.errors import first_of
from gitticks.model.status import ANSWERED, BUDGET_SPENT, REVIEWER_CRASHED, Status
from gitticks.world import elapsed

if TYPE_CHECKING:
    from gitticks.actions.changes import Changes
    from gitticks.actions.inbox import Asked, Inbox, ReviewWord
    from gitticks.model.notes import Entry
    from gitticks.model.task_row import AnyTask
    from gitticks.runner.questions import Question
    from gitticks.workflow.merging import LeftMerge


DEFAULT_COUNT = 20
MOST_LINES = 3
"""So much of a question is shown; `gt show` has the rest."""
_PASS, _FAIL = "pass", "fail"
_OUTCOMES = {_PASS: "review PASS", _FAIL: "review FAIL"}
_VERDICTS = frozenset({"", "PASS", "FAIL"})

_MOST_PATHS = 3


def answer(context: Context, *, everybody: bool, count: int | None) -> None:
    """Show what waits for you, and what to type.

    The most urgent first: questions, work to review, what is stuck. Tasks with another person as their reviewer are
    left out; git's user.name and user.email say who you are.
    """
    from gitticks.actions.inbox import open_inbox  # which others that show such tasks do not need

    if count is None and not context.as_json:
        count = DEFAULT_COUNT
    found = open_inbox(context, everybody=everybody, count=count)
    if context.as_json:
        merges = [{"id": one.task, "reason": one.reason} for one in found.merges]
        requests = [request_object(one) for one in found.requests]
        print_tasks(map(_text, found.asked), ended=found.ended, merges=merges, requests=requests)
        return
    on, now = screen(), context.now
    indent = indent_of(on)
    say(*(line for request in found.requests for line in request_lines(on, request, now)))
    say(*(line for asked in found.asked for line in inbox_lines(on, asked, now)))
    for merge in found.merges:
        waits = f"{merge.task}{GAP}merge waits: {visible(from_here(merge.reason))}"
        say(waits, indent + on.styled(f"{called()} merge {merge.task}", Style.FAINT))
    if found.ended:
        ended = on.fit(f"the last run ended: {visible(found.ended)}")
        say(ended, indent + on.styled(f"{called()} run", Style.FAINT))
    rest = _rest(found, everybody=everybody)
    if rest:
        say(rest, err=found.is_empty)


def _rest(found: Inbox, *, everybody: bool) -> str:
    if found.left_out:
        every = len(found.asked) + found.left_out
        return f"… {found.left_out} more, less urgent: `gt inbox {'--all ' if everybody else ''}-n {every}`"
    if found.for_others:
        tasks = count_of(found.for_others, "task")
        verb = "is" if found.for_others == 1 else "are"
        nothing = "nothing is waiting for you; " if found.is_empty else ""
        return f"{nothing}{tasks} {verb} waiting for others: `gt inbox --all`"
    is_quiet = found.is_empty and not found.ended
    return "nothing is waiting for you: `gt status` shows what is running" if is_quiet else ""


def _text(asked: Asked) -> str:
    return task_text(
        asked.standing,
        mine=asked.is_mine,
        open_questions=asked.questions,
        said=asked.said,
        review=asked.review,
        changes=changes_object(asked.changes),
        commands=commands(asked.standing, is_answered=is_answered(asked), to_merge=asked.to_merge),
    )


inbox_command = ReadingCommand(
    "inbox",
    answer,
    (
        Switch("everybody", ("-a", "--all"), "Include what is waiting for others."),
        COUNT._replace(help=f"Show at most N ({DEFAULT_COUNT})."),
        JSON,
    ),
    examples=("gt inbox", "gt inbox --all"),
)


def inbox_lines(on: Screen, asked: Asked, now: datetime) -> Iterator[str]:
    """Yields a task of the inbox, with the beginning of what is asked and what was found out of its work."""
    said = "\n".join(entry.text for entry in asked.questions) or asked.said
    if asked.review is not None and asked.review.outcome != _PASS:
        said = f"{said}\n{_review(asked.review)}:\n{_reasons(asked.review)}"
    answers = commands(asked.standing, is_answered=is_answered(asked), to_merge=asked.to_merge)
    if _is_unreviewed(asked):
        gt, task_id = called(), asked.standing.task.id
        answers.insert(1, f'{gt} handoff {task_id} --done "…" && {gt} complete {task_id}')
    return _lines(
        on,
        asked.standing,
        said,
        now,
        facts=list(_facts(asked)),
        answers=answers,
        most=MOST_LINES * (1 if asked.answer is None else 2),
    )


def request_lines(on: Screen, request: Question, now: datetime) -> Iterator[str]:
    """Yields what an agent at work asks permission for, until when, and what answers it."""
    left = elapsed(max(0.0, (request.expires - now).total_seconds()))
    wants = f"{request.task}{GAP}{visible(request.agent)} wants {request.access.operation}:"
    yield from opposite(on, wants, f"permission {request.number}, {left} left")
    indent, gt = indent_of(on), f"{called()} permissions"
    inner = on.narrower(len(indent))
    for line in whole(inner, request.access.target):  # whoever answers must have seen all of it
        yield indent + line
    for line in whole(inner, request.reason):
        yield indent + on.styled(line, Style.FAINT)
    yield indent + on.styled(f"{gt} allow {request.number} · {gt} deny {request.number}", Style.FAINT)


def request_object(one: Question) -> dict[str, object]:
    """Returns a permission request as JSON shows it."""
    return {
        "number": one.number,
        "task": one.task,
        "agent": one.agent,
        "operation": one.access.operation,
        "target": one.access.target,
        "reason": one.reason,
        "asked": one.asked,
        "expires": one.expires,
        "rule": one.rule,
    }


def is_answered(asked: Asked) -> bool:
    """True if an approval alone is an answer: one is in the file, or a budget is spent and wants no words."""
    return asked.answer is not None or _is_spent(asked)


def _is_spent(asked: Asked) -> bool:
    return not asked.questions and asked.said.startswith(BUDGET_SPENT)


def _is_unreviewed(asked: Asked) -> bool:
    return asked.standing.task.status == Status.STUCK and asked.said.startswith(REVIEWER_CRASHED)


def awaiting_lines(
    on: Screen,
    standing: Standing[AnyTask],
    questions: Sequence[Entry],
    now: datetime,
    *,
    said: str,
    to_merge: LeftMerge | None,
) -> Iterator[str]:
    """Yields a task that awaits a person, with all of its open questions, or why it is stuck or what its agent said."""
    said = "\n".join(entry.text for entry in questions) or said
    return _lines(on, standing, said, now, answers=commands(standing, to_merge=to_merge))


def _lines(
    on: Screen,
    standing: Standing[AnyTask],
    said: str,
    now: datetime,
    *,
    answers: Sequence[str],
    facts: Sequence[str] = (),
    most: int | None = None,
) -> Iterator[str]:
    """Yields a task's line with what it awaits and how long, what there is to know, and the next commands."""
    task, indent = standing.task, indent_of(on)
    yield from opposite(
        on, f"{on.glyph(task.status)} {task.id}  {visible(task.title)}", _waits(standing, now)
    )
    inner = on.narrower(len(indent))
    for line in _told(inner, task, said, most):
        yield f"{indent}{line}".rstrip()
    for line in joined(inner, facts, ", "):
        yield indent + line
    for line in joined(inner, answers, " · "):
        yield indent + on.styled(line, Style.FAINT)


def commands(
    standing: Standing[AnyTask], *, is_answered: bool = False, to_merge: LeftMerge | None = None
) -> list[str]:
    """Returns the commands that answer a task, the likeliest first; an answer that is there needs a verdict."""
    task, gt = standing.task, called()
    if standing.is_conflicted:
        return [f"{gt} edit {task.id}"]
    again = f"{gt} update {task.id} --status working"
    answers = answer_commands(task, to_merge) if task.awaiting else [again]
    if is_answered:
        answers = [f"{gt} approve {task.id}", *answers]
    is_stuck = task.status == Status.STUCK
    return [f"{gt} show {task.id}", *answers, f"{gt} cancel {task.id}"] if is_stuck else answers


def _waits(standing: Standing[AnyTask], now: datetime) -> str:
    task = standing.task
    if standing.is_conflicted:
        return "conflict"
    kind = str(task.awaiting or Status.STUCK)
    if task.asked_at is None:
        return kind
    if kind in ANSWERED:
        return f"{kind}, asked {ago(task.asked_at, now)}"
    return f"{kind}, waits {age_of(task.asked_at, now)}"


def _told(on: Screen, task: AnyTask, said: str, most: int | None) -> Iterator[str]:
    lines = [line for line in map(str.strip, said.splitlines()) if line]
    if task.status == Status.STUCK and lines:
        lines[0] = f"stuck: {lines[0]}"
    for line in lines[:most]:
        yield from whole(on, line)
    if most is not None and len(lines) > most:
        yield as_called(f"… {count_of(len(lines) - most, 'more line')}: `gt show {task.id}`")


def _facts(asked: Asked) -> Iterator[str]:
    task = asked.standing.task
    if asked.stranger is not None:
        yield f"by {visible(asked.stranger)}, a stranger here"
    if not asked.is_mine:
        yield f"for {visible(asked.reviewer or 'nobody')}"
    if asked.answer is not None:
        yield f"answered by {visible(asked.answer.name)}, counts once it is approved"
    if _is_spent(asked):
        yield _outcome_of_grant(asked)
    if _is_unreviewed(asked):
        yield "a hand-off of yours goes to review again, an answer back to the worker"
    if asked.review is not None and asked.review.outcome == _PASS:
        yield visible(_review(asked.review))
    if asked.review is not None and asked.review.outcome == _FAIL and task.status == Status.REVIEWING:
        yield "rejected in its last round, so no agent continues by itself"
    if asked.changes is not None:
        yield from changes_words(asked.changes)
    if asked.conflicts_with:
        yield f"conflicts with {', '.join(map(visible, asked.conflicts_with))}"


def _outcome_of_grant(asked: Asked) -> str:
    if asked.ends:
        return "all below it is closed, so approving lets it end"
    return f"approving grants {f'another {asked.granted}' if asked.granted else 'the same amount again'}"


def _review(review: ReviewWord) -> str:
    by = f" by {review.by}" if review.by else ""
    return f"{_OUTCOMES.get(review.outcome, 'review without a verdict')}{by}"


def _reasons(review: ReviewWord) -> str:
    """Returns a review without the lines that are nothing but its verdict."""
    return "\n".join(
        line for line in review.text.splitlines() if line.strip(" *.:#").upper() not in _VERDICTS
    )


def changes_words(changes: Changes) -> Iterator[str]:
    """Yields how much is changed, and whether it merges cleanly, as far as that is known."""
    summary = changes.summary
    if not summary.files:
        yield "no changes"
        return
    yield f"{count_of(summary.files, 'file')}, +{summary.added} -{summary.removed}"
    if changes.conflicts:
        paths = [visible(path) for path in changes.conflicts]
        yield f"conflicts with {visible(changes.base or '')} in {first_of(paths, _MOST_PATHS)}"
    elif changes.outlook is not None:
        yield visible(changes.outlook)
    elif changes.has_new_commits:
        yield NEW_COMMITS


def changes_object(changes: Changes | None) -> dict[str, Any] | None:
    """Returns the same as JSON has it."""
    return changes and {
        "files": changes.summary.files,
        "added": changes.summary.added,
        "removed": changes.summary.removed,
        "conflicts": None if changes.conflicts is None else list(changes.conflicts),
    }
