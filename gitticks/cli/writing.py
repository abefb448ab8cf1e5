"""Shared by commands that change tasks: field options, texts from anywhere, output."""

from __future__ import annotations

import sys
from collections.abc import Callable
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gitticks.actions.context import Context
from gitticks.cli.at_once import Option
from gitticks.cli.options import LONGEST_TEXT, STDIN, Completes, parameter_of
from gitticks.cli.render import GAP, say, warn
from gitticks.cli.text import pad, visible
from gitticks.errors import GitticksError, UsageError
from gitticks.model.ids import TaskId
from gitticks.model.status import BY_HAND, Status
from gitticks.model.task import Task
from gitticks.safe_read import reason_of

if TYPE_CHECKING:
    from gitticks.actions.handover import Session
    from gitticks.runner.outbox import Request

R = TypeVar("R")

MOST_LINES = 5_000
_TO_UTF8 = "`iconv -f LATIN1 -t UTF-8` converts it, if it is Latin-1"
_A_FILE = "that looks like the text itself: name a file, or pipe the text in and use `-`"
MANUAL_WARNING = "`--manual` is the old name of `--awaiting work`"

_FIELDS = (
    Option("type", ("-t", "--type"), "`task` or `epic`.", "TYPE", completes="task|epic"),
    Option(
        "priority",
        ("-p", "--priority"),
        "0 critical, 1 high, 2 medium, 3 low, 4 backlog; also by word.",
        "0-4",
        completes="0|1|2|3|4",
    ),
    Option(
        "labels",
        ("-l", "--label"),
        "Can be repeated, or comma-separated; on update `+x` adds and `-x` removes.",
        is_repeated=True,
        completes="labels",
    ),
    Option("parent", ("--parent",), "The epic that it belongs to.", "ID", completes="task"),
    Option(
        "blocked_by", ("--blocked-by",), "Tasks that it waits for.", "ID", is_repeated=True, completes="task"
    ),
    Option(
        "requires",
        ("--requires",),
        "Require a person's approval, review or content check.",
        "GATE",
        completes="approval|review|content",
    ),
    Option(
        "awaiting",
        ("--awaiting",),
        "Make it a person's turn: work, input, review, …",
        "KIND",
        completes="kind",
    ),
    Option("reviewer", ("--reviewer",), "Who should answer.", "NAME", completes="reviewer"),
    Option("assignee", ("--assign",), "Who is responsible; `me` is you.", "NAME", completes="assignee"),
    Option("due", ("--due",), "Due date: 2026-12-24, +3d, friday, …", "DAY"),
    Option(
        "defer_until", ("--defer-until",), "Do not start before: 2026-12-24, +3d, tomorrow, friday, …", "DAY"
    ),
    Option("agent", ("--agent",), "The agent that works on it.", "NAME", completes="agent"),
    Option("model", ("--model",), "The agent's model.", "NAME"),
    Option(
        "isolation",
        ("--isolation",),
        "`task`, `epic` or `none`: where the agent works; an epic's counts for its tasks.",
        "KIND",
        completes="task|epic|none",
    ),
)


def field_options(function: Callable[..., R]) -> Callable[..., R]:
    """Adds the options for every field that people write, and `--manual`; they arrive under the fields' names."""
    function = click.option("--manual", is_flag=True, hidden=True, help="Old name of `--awaiting work`.")(
        function
    )
    function.__dict__["__click_params__"] += map(parameter_of, reversed(_FIELDS))
    return function


def words_argument(function: Callable[..., R]) -> Callable[..., R]:
    """Adds the arguments ID and TEXT, which arrive as `words` for `split_words`, and `--file` instead of a text."""
    function = click.option(
        "--file",
        "file",
        metavar="FILE",
        shell_complete=Completes("file"),
        help="Read the text from a file; `-` is stdin.",
    )(function)
    completes = Completes("task", "-")
    return click.argument("words", metavar="[ID] [TEXT]", nargs=-1, shell_complete=completes)(function)


def wishes_of(options: dict[str, Any]) -> dict[str, str | tuple[str, ...]]:
    """Returns the fields that were given, for `field_values.read_wishes`; warns of `--manual`."""
    declared = [str(param.name) for param in click.get_current_context().command.params]
    wishes = {name: options[name] for name in declared if options.get(name) not in (None, (), False)}
    if wishes.pop("manual", False):
        warn(MANUAL_WARNING)
        if "awaiting" in wishes:
            raise UsageError(
                "`--manual` and `--awaiting` cannot be used together", hint="leave out `--manual`"
            )
        wishes["awaiting"] = "work"
    for name, wish in wishes.items():
        for text in (wish,) if isinstance(wish, str) else wish:
            check_text(text, f"`{name}`")
    return wishes


def check_text(text: str, what: str = "the text") -> str:
    """Returns a text that a task file can hold."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise UsageError(
            f"{what} is not UTF-8", hint="`export LC_ALL=C.UTF-8`, if the terminal uses UTF-8"
        ) from None
    if "\0" in text:
        raise UsageError(f"{what} contains a NUL character", hint="`tr -d '\\0'` removes it")
    if size > LONGEST_TEXT or text.count("\n") > MOST_LINES:
        raise UsageError(
            f"{what} is longer than {LONGEST_TEXT // 1000} kB or {MOST_LINES} lines",
            hint="commit it to your repository, and name the file here",
        )
    return text


def read_text(given: str | None, what: str = "the text") -> str | None:
    """Returns a text as it was given, or what stdin holds where it is `-`."""
    if given == STDIN:
        try:
            given = sys.stdin.read(LONGEST_TEXT + 1)
            given.encode()  # where the locale is C, any byte can be read
        except UnicodeError:
            raise UsageError(f"{what} is not UTF-8", hint=_TO_UTF8) from None
        click.get_current_context().ensure_object(Context).typed = given
    return None if given is None else check_text(given, what)


def read_text_file(name: str | None, what: str = "the text") -> str | None:
    """Returns the text of a file, of stdin for `-`, None for no name."""
    if name is None or name == STDIN:
        return read_text(name, what)
    try:
        with open(name, encoding="utf-8", newline="") as file:  # noqa: PTH123 - may be a pipe of the shell's
            return check_text(file.read(LONGEST_TEXT + 1), f"`{name}`")
    except OSError as error:
        raise GitticksError(
            f"`{name}` cannot be read: {reason_of(error)}",
            hint=_A_FILE if len(name.split()) > 1 else f"`ls -ld {quote(name)}` shows what is there",
        ) from error
    except UnicodeDecodeError:
        raise UsageError(f"`{name}` is not UTF-8", hint=_TO_UTF8) from None


def split_words(
    context: Context, words: tuple[str, ...], *, has_text: bool = False
) -> tuple[str | None, str | None]:
    """Returns the task and the text that `[ID] [TEXT]` name; in a workspace a single word is the text.

    With `has_text` the text comes from elsewhere, so a single word is the task.
    """
    if not words:
        return None, None
    first, *rest = words
    if rest:
        return first, " ".join(rest)
    here = None if has_text else context.task_here()
    return (first, None) if here is None or first == here else (None, first)


def print_change(context: Context, task_id: TaskId, words: str) -> None:
    """Prints a changed task: as JSON, or as one line that says what happened to it."""
    if context.as_json:
        from gitticks.actions.derived_state import standing_now
        from gitticks.cli.json import print_task, task_text

        print_task(task_text(standing_now(context, task_id)))
    else:
        say(f"{pad(task_id, 4)}{GAP}{visible(words)}")


def print_request(context: Context, session: Session, request: Request, words: str) -> None:
    """Prints what an agent left for its runner: as JSON, or as one line."""
    from gitticks.cli.json import print_answer

    said = {"kind": request.kind, "text": request.text or None, "status": request.status}
    line = f"{visible(session.name)}{GAP}{visible(words)}"
    print_answer(context, [line], request={"task": session.task_id, **said})


def moved_words(before: Task, after: Task) -> str:
    """Returns what became of a task's state, in words that follow its id."""
    if after.is_merging:
        return "approved, waiting to be merged"
    if after.status is Status.DONE:
        return "done"
    if after.status is Status.CANCELLED:
        return "cancelled"
    turn = f", awaits {after.awaiting}" if after.awaiting is not None else ""
    if before.status is not after.status:
        return f"{before.status} → {after.status}{turn}"
    if before.awaiting is not after.awaiting:
        return f"{after.status}{turn or ', not waiting for anyone'}"
    return f"{after.status}{turn}"


def agent_name(context: Context, task: Task) -> str:
    """Returns who continues with a task."""
    claim = task.claim
    if claim is not None and claim.is_by_hand and claim.expires > context.now:
        return claim.runner.removeprefix(BY_HAND)
    return task.agent or context.settings.agent or "its agent"


def returned_words(context: Context, task: Task) -> str:
    """Returns who continues with a task that is no longer a person's turn; no agent gets an epic."""
    return "its tasks continue" if task.is_epic else f"back to {agent_name(context, task)}"
