"""Options before the command, as in git (`-C DIR`, `--no-pager`, `--color`), and the user's aliases."""

from __future__ import annotations

import os

from gitticks.cli import render
from gitticks.cli.catalogue import ALIASES, BY_NAME
from gitticks.errors import UsageError

_COLOUR = "--color"
ALIAS_SETTING = "gitticks.alias."
"""In the user's own configuration of git: neither a fetch of the tasks nor an agent here can set one."""
_MOST_ALIASES = 10


def read_before(words: list[str]) -> list[str]:
    """Acts on what is before the command, and returns the command's own words."""
    rest = words[::-1]
    while rest and rest[-1].startswith("-"):
        word = rest.pop()
        if word == "-C":
            _change_folder(rest.pop() if rest else "")
        elif word == "--no-pager":
            render.CHOSEN.has_pager = False
        elif word == _COLOUR:
            _choose_colour(rest.pop() if rest else "")
        elif word.startswith(f"{_COLOUR}="):
            _choose_colour(word.partition("=")[2])
        else:
            rest.append(word)
            break
    return _colour_after(_without_alias(rest[::-1]))


def _change_folder(folder: str) -> None:
    if not folder:
        raise UsageError("`-C` needs a folder", hint="`gt -C ../project list`")
    try:
        os.chdir(folder)
    except OSError as error:
        raise UsageError(
            f"cannot go to `{folder}`: {error.strerror}", hint="`gt -C FOLDER` runs as if started there"
        ) from None
    os.environ.pop("PWD", None)


def _choose_colour(when: str) -> None:
    choices = {"always": True, "never": False, "auto": None}
    if when not in choices:
        raise UsageError(f"`--color` is always, never or auto, not `{when}`", hint="`gt --color=always list`")
    render.CHOSEN.colour = choices[when]


def _colour_after(words: list[str]) -> list[str]:
    """Removes `--color=WHEN` from the command's own arguments, where most people put it."""
    end = words.index("--") if "--" in words else len(words)
    found = [word for word in words[:end] if word.startswith(f"{_COLOUR}=")]
    for word in found:
        _choose_colour(word.partition("=")[2])
    return [word for word in words[:end] if word not in found] + words[end:] if found else words


def _without_alias(words: list[str]) -> list[str]:
    """Expands the user's aliases; built-in commands cannot be redefined."""
    for _ in range(_MOST_ALIASES):
        if not words or words[0].startswith("-") or words[0] in BY_NAME or words[0] in ALIASES:
            return words
        meant = _alias(words[0])
        if not meant:
            return words
        words = meant + words[1:]
    raise UsageError(
        f"the aliases form a cycle at `{words[0]}`",
        hint=f"`git config --global --get-regexp '^{ALIAS_SETTING}'`",
    )


def _alias(name: str) -> list[str] | None:
    if not name.replace("-", "").isalnum() or not name.isascii():
        return None  # no key of git's configuration
    import shlex

    from gitticks.git.config import read_own_setting

    try:
        return shlex.split(read_own_setting(f"{ALIAS_SETTING}{name}") or "")
    except ValueError as error:
        raise UsageError(
            f"the alias `{name}` cannot be read: {error}",
            hint=f"`git config --global --edit` has `{ALIAS_SETTING}{name}`",
        ) from None
