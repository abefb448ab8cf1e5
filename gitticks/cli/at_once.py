"""Reading commands, described once for click and for a parser that answers plain calls without loading it."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from gitticks.cli.catalogue import BY_NAME, CATALOGUE, SEE, name_of
from gitticks.cli.failures import guarded
from gitticks.cli.render import hint, say, wants_pager, warn
from gitticks.errors import Exit, GitticksError
from gitticks.model.ids import BOARD_FOLDER

if TYPE_CHECKING:
    from gitticks.actions.context import Context


R = TypeVar("R")
_NEVER_SHARING = frozenset({"sync", "trust", "init", "hook", "merge-driver", "doctor", "watch"})
"""Commands that share by themselves, or that git or a broken repository calls for."""

NAMES = frozenset({one.name for one in CATALOGUE if one.heading == SEE} - {"log", "path"} | {"inbox"})
"""The commands that can be answered so; each is a `ReadingCommand`."""
_NAMING_BROKEN = frozenset({"board", "graph", "inbox", "list", "search", "stats", "status", "tree"})
"""The commands that name the files that cannot be read: what they show lacks their tasks."""
PAGED = frozenset({"list", "log", "show"})
"""What is shown by a pager where it is longer than the terminal."""
COMPLETION = "_GT_COMPLETE"
"""The variable in which a completion script names its shell; the words up to the cursor are the arguments."""


class Argument(NamedTuple):
    """A word that may be left out, and stands for a task; `completes` is its kind while it is typed.

    `is_repeated` takes all words that there are, as a tuple, each of them any text.
    """

    name: str
    metavar: str
    completes: str = "task"
    is_repeated: bool = False


class Switch(NamedTuple):
    """A flag without a value."""

    name: str
    words: tuple[str, ...]
    help: str


class Option(NamedTuple):
    """A flag with a value, which `read` turns from text into what the command takes.

    `completes` says what its value is while it is typed, `-` for free text. `is_repeated` collects the values of several in a tuple. `may_be_bare` lets the flag stand without a value, which
    then is empty text; what follows it is its value if `is_value` says so, or if the command takes no word of its own.
    """

    name: str
    words: tuple[str, ...]
    help: str
    metavar: str | None = None
    read: Callable[[str], Any] = str
    is_repeated: bool = False
    completes: str = "-"
    may_be_bare: bool = False
    is_value: Callable[[str], bool] | None = None


class ReadingCommand(NamedTuple):
    """A command that only reads: what it takes, and the function that answers and returns the exit code, if it is not 0.

    The function's docstring is the command's help.
    """

    name: str
    answer: Callable[..., int | None]
    parameters: tuple[Argument | Switch | Option, ...]
    examples: tuple[str, ...]


JSON = Switch("as_json", ("--json",), "Print one JSON object.")


def read_words(command: ReadingCommand, words: list[str]) -> dict[str, Any] | None:
    """Returns the values of a command's parameters; None if it takes click to understand the words."""
    flags = {
        word: flag for flag in command.parameters if not isinstance(flag, Argument) for word in flag.words
    }
    arguments = [one for one in command.parameters if isinstance(one, Argument)]
    values: dict[str, Any] = {
        one.name: False if isinstance(one, Switch) else () if one.is_repeated else None
        for one in command.parameters
    }
    free: list[str] = []
    rest = with_values(command, words)[::-1]
    while rest:
        word = rest.pop()
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        flag = flags.get(name)
        if isinstance(flag, Switch) and not equals:
            values[flag.name] = True
        elif isinstance(flag, Option):
            if not equals and (not rest or rest[-1].startswith("-")):
                return None
            given = flag.read(value if equals else rest.pop())
            values[flag.name] = (*values[flag.name], given) if flag.is_repeated else given
        elif word.startswith("-"):
            return None
        else:
            free.append(word)
    if arguments and arguments[-1].is_repeated:
        values[arguments[-1].name] = tuple(free)
        return values
    if len(free) > len(arguments):
        return None
    values.update((argument.name, word) for argument, word in zip(arguments, free, strict=False))
    return values


def with_values(command: ReadingCommand, words: list[str]) -> list[str]:
    """Returns the words with `--awaiting review` and a bare `--awaiting` written as `--awaiting=…`.

    Where the command takes words of its own, one that is no value of the flag stays with the command.
    """
    takes_words = any(isinstance(one, Argument) for one in command.parameters)
    bare = {
        word: one
        for one in command.parameters
        if isinstance(one, Option) and one.may_be_bare
        for word in one.words
    }
    done: list[str] = []
    rest = words[::-1]
    while rest:
        word = rest.pop()
        if word == "--":
            return [*done, word, *reversed(rest)]
        flag = bare.get(word)
        if flag is not None:
            follows = bool(rest) and not rest[-1].startswith("-")
            is_value = follows and (not takes_words or flag.is_value is None or flag.is_value(rest[-1]))
            word = f"{word}={rest.pop() if is_value else ''}"
        done.append(word)
    return done


def run_in(context: Context, name: str, command: Callable[..., R], values: dict[str, Any]) -> R:
    """Runs a command with its values; then shares what it changed where the settings ask for that, and prints its warnings.

    `--json` is a value of the call and not of the command, which finds it in its context.
    """
    context.as_json = values.pop(JSON.name, False)
    answer = partial(command, context, **values)
    try:
        if name in NAMES and name != "status":  # which reports them itself
            _notice_merges(context)
        shown = answer
        if name in PAGED and wants_pager():
            from gitticks.cli.pager import paged

            shown = partial(paged, answer)
        result = shown()
        if name in _NAMING_BROKEN:
            context.warnings += [f"{BOARD_FOLDER}/{file.message}" for file in context.index.to_fix()]
        return result
    finally:
        is_asked = context.has_store or context.is_current
        if is_asked and name not in _NEVER_SHARING and context.may_share():
            from gitticks.actions.sync_auto import sync_after

            sync_after(context)
        finish(context)


def finish(context: Context) -> None:
    """Lets the index of a call go, and prints warnings that came up on the way."""
    if "index" in context.__dict__:
        context.index.close()
    for warning in context.all_warnings:
        warn(warning)
    try:
        os.getcwd()  # noqa: PTH109 (pathlib costs start-up time)
    except FileNotFoundError:  # the workspace that the command was typed in was removed
        if not context.has_store:
            return
        from shlex import quote

        place = context.repository.project_place or context.repository.common_place
        hint(f"this folder was removed: `cd {quote(place)}`")


def answer_at_once(words: list[str]) -> int | None:
    """Returns the exit code of a command that was answered; None if nothing was done."""
    if not words or name_of(words[0]) not in NAMES:
        return None
    command: ReadingCommand = BY_NAME[name_of(words[0])].load()
    try:
        values = read_words(command, words[1:])
    except GitticksError:
        values = None  # click says what is wrong
    if values is None:
        return None
    from gitticks.actions.context import Context

    gc.disable()  # an answer makes many small things, and none that keep one another alive

    def answer() -> int:
        context = Context()
        return run_in(context, command.name, command.answer, values) or Exit.DONE

    return guarded(words, answer)


def _notice_merges(context: Context) -> None:
    """Moves on what was merged by hand since the last command, and says so."""
    from gitticks.actions.derived_state import may_have_merged

    if context.world.in_session or not may_have_merged(context):
        return
    from gitticks.actions.merges_by_hand import notice_merges  # loads git's history
    from gitticks.cli.views.tasks import merged_lines

    with contextlib.suppress(GitticksError):  # the command itself says what is wrong
        say(*merged_lines(notice_merges(context)), err=True)
