"""Answers the plain forms of a few reading commands before click is loaded, which takes longer than the answers.

It reads the words by the same description of each command that click is given, and calls the same function. Whatever
it does not understand for certain is click's: help and mistakes.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from gitticks.errors import GitticksError

if TYPE_CHECKING:
    from gitticks.cli.flags import ReadingCommand

NAMES = frozenset(
    {
        "board",
        "current",
        "graph",
        "inbox",
        "list",
        "next",
        "ready",
        "search",
        "show",
        "stats",
        "status",
        "tree",
    }
)
"""The commands that can be answered so; each module's `command` is a `ReadingCommand`."""

_COMPLETION = "_GT_COMPLETE"
"""By this variable a shell asks what could be typed, whatever the words are."""


def answer_at_once(words: list[str]) -> int | None:
    """Returns the exit code of a command that was answered; None if nothing was done."""
    shell = os.environ.get(_COMPLETION)
    if shell is not None:
        from gitticks.cli.completion.answer import complete
        from gitticks.cli.failures import guarded

        return guarded(words, lambda: complete(shell, words))
    if not words or words[0] not in NAMES:
        return None
    command: ReadingCommand = __import__(f"gitticks.cli.commands.{words[0]}", fromlist=["command"]).command
    values = _read(command, words[1:])
    if values is None:
        return None
    import gc

    from gitticks.actions.context import Context
    from gitticks.cli.failures import guarded
    from gitticks.cli.flags import run_in

    gc.disable()  # an answer makes many small things, and none that keep one another alive
    context = Context()
    return guarded(words, lambda: run_in(context, command.name, lambda: command.answer(context, **values)))


def _read(command: ReadingCommand, words: list[str]) -> dict[str, Any] | None:
    from gitticks.cli.flags import read_words

    try:
        return read_words(command, words)
    except GitticksError:
        return None
