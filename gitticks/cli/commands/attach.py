"""`gt attach`."""

from __future__ import annotations

import json
from collections.abc import Callable

import click

from gitticks.actions.attaching import Follower, Heard, SessionOver, find_session
from gitticks.actions.context import Context
from gitticks.cli.json import SCHEMA, plain
from gitticks.cli.live import is_reader_gone, until_interrupted
from gitticks.cli.options import command, task_argument
from gitticks.cli.render import elapsed, hint, say
from gitticks.cli.text import visible


@command("attach", "gt attach", "gt attach k7f2", "gt attach k7f2 --raw", with_json=False)
@task_argument(required=False)
@click.option("--raw", is_flag=True, help="Every line of the agent's client, its protocol too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def attach_command(context: Context, *, task: str | None, raw: bool, as_json: bool) -> None:
    """Follow the agent that works on a task.

    From any terminal: prints what it said so far and then what it says, and ends with the session, saying how that ended. Ctrl-C leaves
    the agent at its work. Without an ID: the only agent at work.
    """
    record = find_session(context, task)
    follower = Follower(context, record)
    since = elapsed((context.now - record.started).total_seconds())
    say(
        f"{record.task}  {visible(record.agent)}  {record.role}, at work for {since}; Ctrl-C leaves it alone",
        err=True,
    )
    tell = _tell_json(record.task) if as_json else _tell_lines(follower, raw=raw)
    with until_interrupted() as over:
        for heard in follower.follow(over):
            tell(heard)
            if not heard and is_reader_gone():
                return
    if over.is_set():
        say(f"{record.task}  the agent goes on", err=True)
        return
    ended = follower.ended()
    if as_json:
        say(json.dumps({"schema": SCHEMA, "event": "session.over", **plain(ended)}, ensure_ascii=True))
        return
    say(f"{ended.task}  {_ended_words(ended)}", err=True)
    if ended.ending is None:
        hint("`gt health` finishes it, and so does the next `gt run`")


def _tell_lines(follower: Follower, *, raw: bool) -> Callable[[list[Heard]], None]:
    is_first = True

    def tell(heard: list[Heard]) -> None:
        nonlocal is_first
        if is_first and follower.left_out:
            say(f"… {follower.left_out:,} bytes before this were left out", err=True)
        is_first = False
        shown = [one.line if raw else one.shown for one in heard]
        say(*(visible(line, keep="\t") for text in shown if text is not None for line in text.split("\n")))

    return tell


def _tell_json(task_id: str) -> Callable[[list[Heard]], None]:
    """Returns what prints events as `gt run --json` does."""

    def tell(heard: list[Heard]) -> None:
        for one in heard:
            if one.shown is not None:
                body = {"schema": SCHEMA, "event": "agent.said", "task": task_id, "line": one.shown}
                say(json.dumps(body, ensure_ascii=True))

    return tell


def _ended_words(ended: SessionOver) -> str:
    how = "its runner was killed" if ended.ending is None else f"session ended: {ended.ending}"
    detail = f" ({visible(ended.detail)})" if ended.detail and ended.detail != ended.ending else ""
    awaits = f" and awaits {ended.awaiting}" if ended.awaiting else ""
    return f"{how}{detail}; the task is {ended.status}{awaits}"
