"""Finds out what is being typed, from the words before it and a table of what each command takes."""

from __future__ import annotations

from typing import NamedTuple

from gitticks.cli.completion.table import TABLE

COMMAND, NOTHING, ASKS_CLICK = "command", "-", "click"
_REPEATED = "*"


class Typed(NamedTuple):
    """The word that is being typed: of what kind it is, as much of it as there is, and the flag that it is joined to.

    A kind is a word that `offers` knows, the alternatives themselves with `|` between them, or `-` for free text.
    """

    kind: str
    word: str
    flag: str = ""


def what_is_typed(words: list[str]) -> Typed | None:
    """Returns what the last of the words is; None for the name of a flag, and where the table lacks the command."""
    *before, word = words
    name = ""
    while not name or _is_group(name):
        if not before:
            return None if word.startswith("-") else Typed(f"{COMMAND} {name}".rstrip(), word)
        name, before = f"{name} {before[0]}".lstrip(), before[1:]
    if name not in TABLE:
        return None
    arguments, flags = TABLE[name]
    kinds = dict(one.split("=", 1) for one in flags.split())
    return _in_command(arguments.split(), kinds, before, word)


def _is_group(name: str) -> bool:
    return any(one.startswith(f"{name} ") for one in TABLE)


def _in_command(arguments: list[str], flags: dict[str, str], before: list[str], word: str) -> Typed | None:
    waiting, takes_flags, count = None, True, 0
    for one in before:
        if waiting is not None:
            waiting = None
        elif takes_flags and one == "--":
            takes_flags = False
        elif takes_flags and one.startswith("-") and one != "-":
            waiting = flags.get(one)
        else:
            count += 1
    if waiting is not None:
        return Typed(waiting, word)
    if takes_flags and word.startswith("-"):
        flag, equals, value = word.partition("=")
        return Typed(flags[flag], value, flag + equals) if equals and flag in flags else None
    return Typed(_argument(arguments, count), word)


def _argument(kinds: list[str], count: int) -> str:
    """Returns the kind of a command's argument by its number; the last one may stand for all that follow."""
    if count < len(kinds):
        return kinds[count].removesuffix(_REPEATED)
    return kinds[-1].removesuffix(_REPEATED) if kinds and kinds[-1].endswith(_REPEATED) else NOTHING
