"""`gt attach`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import click

from gitticks.actions.attaching import Follower, Heard, NoSessionError, SessionOver, clarify, find_session
from gitticks.actions.context import Context
from gitticks.agents.tmux import is_joinable, join, server_name
from gitticks.cli.editor import is_on_terminal
from gitticks.cli.json import plain, print_event
from gitticks.cli.live import is_reader_gone, until_interrupted
from gitticks.cli.options import Completes, command, task_argument
from gitticks.cli.render import hint, say, screen
from gitticks.cli.text import visible
from gitticks.cli.views.run import RunLines
from gitticks.errors import UsageError
from gitticks.model.ids import TaskId
from gitticks.model.status import Status
from gitticks.world import elapsed


@command("attach", "gt attach", "gt attach k7f2", "gt attach k7f2 --raw", with_json=False)
@task_argument(required=False)
@click.option("--raw", is_flag=True, help="Print every line of the agent's client, including its protocol.")
@click.option(
    "--agent",
    shell_complete=Completes("agent"),
    help="For a task that asks something: use this agent instead of the task's.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def attach_command(context: Context, *, task: str | None, raw: bool, agent: str | None) -> None:
    """Follow the agent working on a task.

    From any terminal: prints what it has said, follows it until its session ends, and says how that ended. Ctrl-C
    leaves the agent running. Without an ID: the only agent at work.

    On a terminal, you join the session of an agent of `gt run --tmux` and can type; Ctrl-B D detaches.

    If the task asks you something, an interactive session of an agent that knows task and question is started on your
    terminal, in the task's workspace. Its notes are kept; the answer is yours to give, with `gt respond`.
    """
    context.require_person("follow an agent")  # which would print what it prints forever
    if raw and context.as_json:
        raise UsageError("`--raw` and `--json` cannot be used together", hint="use one of the two")
    try:
        record = find_session(context, task)
    except NoSessionError as error:
        if error.clarifies is None and agent is not None:
            words = f"`--agent` only works for a task that asks something: {error.message}"
            raise NoSessionError(words, hint=error.hint or "") from None
        if error.clarifies is None or context.as_json or not is_on_terminal():
            raise
        _clarify(context, error.clarifies, agent)
        return
    if agent is not None:
        words = (
            f"`--agent` only works for a task that asks something, and an agent is working on `{record.task}`"
        )
        raise UsageError(words, hint=f"`gt attach {record.task}`")
    follower = Follower(context, record)
    since = elapsed((context.now - record.started).total_seconds())
    say(
        f"{record.task}  {visible(record.agent)}  {record.role}, at work for {since}; Ctrl-C detaches",
        err=True,
    )
    tell: Callable[..., None] | None = partial(_tell, context, follower, raw=raw)
    is_left = False
    server = server_name(context.repository.own_dir, record.task)
    if not (raw or context.as_json) and is_on_terminal() and is_joinable(server):
        say(f"{record.task}  Ctrl-B D detaches from its tmux session", err=True)
        is_left = join(server)
        tell = None  # it was seen
    if _follow(follower, tell, is_left=is_left):
        _say_end(context, follower.ended())


def _follow(follower: Follower, tell: Callable[..., None] | None, *, is_left: bool) -> bool:
    """Reports what is heard, unless the person has left already; returns False if the session continues without us."""
    with until_interrupted() as over:
        if is_left:
            over.set()
        for number, heard in enumerate(follower.follow(over)):
            if tell is not None:
                tell(heard, is_first=not number)
            if not heard and is_reader_gone():
                return False
    if over.is_set():
        say(f"{follower.record.task}  the agent keeps running", err=True)
    return not over.is_set()


def _say_end(context: Context, ended: SessionOver) -> None:
    if context.as_json:
        print_event("session.over", **plain(ended))
        return
    how = "its runner was killed" if ended.ending is None else f"session ended: {ended.ending}"
    detail = f" ({visible(ended.detail)})" if ended.detail and ended.detail != ended.ending else ""
    awaits = f" and awaits {ended.awaiting}" if ended.awaiting else ""
    say(f"{ended.task}  {how}{detail}; the task is {ended.status}{awaits}", err=True)
    if ended.ending is None:
        hint("`gt health` finishes it, and so does the next `gt run`")


def _clarify(context: Context, task_id: TaskId, agent: str | None) -> None:
    task = clarify(context, task_id, RunLines(screen(), context.world), agent=agent)
    if task.status is Status.CLARIFICATION:
        hint(f'`gt respond {task_id} "…"` answers it')


def _tell(context: Context, follower: Follower, heard: list[Heard], *, raw: bool, is_first: bool) -> None:
    texts = [text for one in heard if (text := one.line if raw else one.shown) is not None]
    if context.as_json:
        for text in texts:
            print_event("agent.said", task=follower.record.task, line=text)
        return
    if is_first and follower.left_out:
        say(f"… {follower.left_out:,} earlier bytes are not shown", err=True)
    say(*(visible(line, keep="\t") for text in texts for line in text.split("\n")))
