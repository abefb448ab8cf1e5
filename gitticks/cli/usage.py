"""Turns click's usage errors into our own messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import click
from click.exceptions import NoArgsIsHelpError

_QUOTED = re.compile(r"'((?:-|\{)[^']*)'(?= requires |: | / |$)")
"""Options and choices as click quotes them; what a person typed keeps its quotes."""

_OPTIONAL = re.compile(r"(?<=value for )'\[?([A-Z]+)\]?(?:\.\.\.)?'(?=: )")

NAMES_ELSEWHERE = {
    **dict.fromkeys(("delete", "remove"), "cancel"),
    **dict.fromkeys(("finish", "resolve"), "close"),
    **dict.fromkeys(("assign", "modify", "set"), "update"),
    **dict.fromkeys(("cat", "info"), "show"),
    **dict.fromkeys(("tasks", "issues"), "list"),
    **dict.fromkeys(("find", "grep"), "search"),
    **dict.fromkeys(("fetch", "pull", "push"), "sync"),
    **dict.fromkeys(("begin", "claim", "work"), "start"),
    "annotate": "note",
    "answer": "respond",
    "depend": "block",
    "diff": "review",
    "gc": "worktree gc",
    "history": "log",
    "prune": "worktree clean",
    "settings": "config",
    "todo": "ready",
}
"""What git and other trackers call a command, and what it is called here."""

_LIKE, _SHORTEST_LIKE = 0.6, 3

_NO_NUMBER = re.compile(r"is not a valid (integer|float)(?: range)?$")
_NUMBERS = {"integer": "is not a whole number", "float": "is not a number"}

_TEXTS = ("TITLE", "TEXT", "NOTE", "FEEDBACK", "REASON", "VALUE")
"""Arguments that often are several words."""


def message_of(error: click.ClickException) -> str:
    """Returns what was wrong, in one line: lower case, what was typed or is missing in backticks."""
    if isinstance(error, NoArgsIsHelpError):
        return _lacking_command(error.ctx)
    if isinstance(error, click.NoSuchOption):
        near = _near(error.option_name, error.possibilities or ())
        return f"no such option `{error.option_name}`{did_you_mean(near)}"
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return _lacking(error.param, error.ctx)
    text = _QUOTED.sub(r"`\1`", _OPTIONAL.sub(r"`\1`", error.format_message().rstrip(".")))
    text = _NO_NUMBER.sub(lambda found: _NUMBERS[found[1]], text)
    return text[:1].lower() + text[1:]


def _near(option: str, possible: Iterable[str]) -> list[str]:
    """Returns the options that may be meant; click counts the hyphens, which make all of them look alike."""
    from difflib import get_close_matches

    named = {one.lstrip("-"): one for one in possible}
    return [named[one] for one in get_close_matches(option.lstrip("-"), named, n=2)]


def hint_of(error: click.UsageError, arguments: list[str]) -> str:
    """Returns how to get help for the command that was meant; click does not always tell which that was."""
    from gitticks.cli.catalogue import BY_NAME, name_of

    if error.ctx is not None:
        path = error.ctx.command_path
        text = _text_of(error.ctx)
        if text is not None and error.message.startswith("Got unexpected extra argument"):
            return f"put a text of several words in quotes, `{text}`; `{path} --help`"
        return f"`{path} --help`"
    is_known = bool(arguments) and name_of(arguments[0]) in BY_NAME
    return f"`gt {arguments[0]} --help`" if is_known else "`gt --help`"


def _text_of(ctx: click.Context) -> str | None:
    """Returns the last argument of a command in quotes, where that is a text."""
    last = [param.make_metavar(ctx) for param in ctx.command.params if isinstance(param, click.Argument)][-1:]
    named = last[0].strip("[]") if last else ""
    return f'"{named}"' if named in _TEXTS else None


def nearest_names(word: str, names: Sequence[str], most: int = 2) -> list[str]:
    """Returns the names that may be meant by a word: those that begin with it, else those that look like it.

    A word of one or two letters looks like too much, so only its beginning counts.
    """
    from difflib import get_close_matches

    begun = [name for name in names if len(word) > 1 and name.startswith(word)]
    if begun:
        return begun
    return get_close_matches(word, names, n=most, cutoff=_LIKE) if len(word) >= _SHORTEST_LIKE else []


def did_you_mean(near: list[str] | tuple[str, ...]) -> str:
    """Returns the end of a message that offers what was probably meant; empty if nothing is near."""
    return f"; did you mean {' or '.join(f'`{one}`' for one in near)}?" if near else ""


def _lacking_command(ctx: click.Context) -> str:
    group = ctx.command
    names = group.list_commands(ctx) if isinstance(group, click.Group) else []
    return f"`{ctx.command_path}` needs a command: {', '.join(f'`{name}`' for name in names)}"


def _lacking(param: click.Parameter, ctx: click.Context | None) -> str:
    kind = param.param_type_name
    if isinstance(param.type, click.Choice):
        return f"missing {kind}: one of {', '.join(f'`{one}`' for one in param.type.choices)}"
    hint = param.get_error_hint(ctx) if ctx is not None else param.human_readable_name
    return f"missing {kind} `{hint.strip(chr(39)).partition('...')[0]}`"
