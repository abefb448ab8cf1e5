"""`gt inbox`."""

from __future__ import annotations

from gitticks.actions.context import Context
from gitticks.actions.inbox import Asked, Inbox, open_inbox
from gitticks.cli.at_once import JSON, ReadingCommand, Switch
from gitticks.cli.filters import COUNT
from gitticks.cli.json import print_tasks, task_text
from gitticks.cli.render import count_of, say, screen
from gitticks.cli.views.inbox import (
    changes_object,
    commands,
    inbox_lines,
    is_answered,
    request_lines,
    request_object,
    run_ended_lines,
    waiting_merge_lines,
)
from gitticks.cli.views.tasks import warn_of_broken
from gitticks.errors import Exit

DEFAULT_COUNT = 20


def answer(context: Context, *, everybody: bool, count: int | None) -> int:
    """Show what waits for you, and what to type.

    The most urgent first: questions, work to review, what is stuck. Tasks with another person as their reviewer are
    left out; git's user.name and user.email say who you are.
    """
    if count is None and not context.as_json:
        count = DEFAULT_COUNT
    found = open_inbox(context, everybody=everybody, count=count, with_json=context.as_json)
    warn_of_broken(found.broken)
    if context.as_json:
        merges = [{"id": one.task, "reason": one.reason} for one in found.merges]
        requests = [request_object(one) for one in found.requests]
        print_tasks(map(_text, found.asked), ended=found.ended, merges=merges, requests=requests)
        return Exit.DONE
    on, now = screen(), context.now
    say(*(line for request in found.requests for line in request_lines(on, request, now)))
    say(*(line for asked in found.asked for line in inbox_lines(on, asked, now)))
    for merge in found.merges:
        say(*waiting_merge_lines(on, merge))
    if found.ended:
        say(*run_ended_lines(on, found.ended))
    rest = _rest(found)
    if rest:
        say(rest, err=found.is_empty)
    return Exit.DONE


def _rest(found: Inbox) -> str:
    if found.left_out:
        every = len(found.asked) + found.left_out
        return f"… {found.left_out} more, less urgent: `gt inbox -n {every}`"
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
        COUNT,
        JSON,
    ),
    examples=("gt inbox", "gt inbox --all"),
)
