"""The entry point of `gt`."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from gitticks.cli import render
from gitticks.cli.at_once import COMPLETION, answer_at_once
from gitticks.cli.catalogue import ALIASES, BY_NAME
from gitticks.cli.failures import guarded, tell, tell_interrupted
from gitticks.errors import Exit, UsageError

if TYPE_CHECKING:
    import click

_OBJECTS_BETWEEN_COLLECTIONS = 50_000
_COLOUR = "--color"
ALIAS_SETTING = "gitticks.alias."
"""In the user's own configuration of git: neither a fetch of the tasks nor an agent here can set one."""
_MOST_ALIASES = 10


def main() -> NoReturn:
    """Runs `gt` with the words it was called with, and ends the process with the command's exit code."""
    # Loading a command makes thousands of objects that stay; Python would look through them again and again.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    _open_missing_streams()
    words = sys.argv[1:]
    try:
        code = _run(words)
    except KeyboardInterrupt:  # while the command was still being loaded
        code = tell_interrupted()
    _leave(code)


def _run(words: list[str]) -> int:
    shell = os.environ.get(COMPLETION)
    if shell is not None and words[-2:-1] == ["-C"]:  # as long as a folder is typed, nothing can go there
        render.say("\tfolder")
        return Exit.DONE
    try:
        words = read_before(words)
    except UsageError as error:
        return tell(words, error.message, error.hint, error.exit_code)
    if shell is not None:
        from gitticks.cli.completion.offers import complete

        return guarded(words, lambda: complete(shell, words, _commands))
    code = answer_at_once(words)
    if code is None:
        from gitticks.cli.app import run

        code = run(words)
    return code


def _commands() -> click.Command:
    from gitticks.cli.app import gt

    return gt


def _open_missing_streams() -> None:
    """Opens /dev/null for each of stdin, stdout and stderr that was closed (`>&-`), as git does.

    Else the next file that is opened, such as the index, would take its number, and a subprocess would print into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            if descriptor != number:
                os.dup2(descriptor, number)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8"))  # noqa: PTH123, SIM115


def _leave(code: int) -> NoReturn:
    """Ends the process without taking Python down piece by piece, which takes a tenth of a command's time.

    What was put off to the end is done, and a thread that is still at work is waited for as ever.
    """
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        sys.exit(code)
    atexit._run_exitfuncs()  # noqa: SLF001 (as Python itself does, of which `os._exit` does nothing)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        pass  # whoever read them has gone
    os._exit(code)


def read_before(words: list[str]) -> list[str]:
    """Acts on what is before the command, also in aliases, and returns the command's own words."""
    for _ in range(_MOST_ALIASES):
        words = _act_on_flags(words)
        is_named = not words or words[0].startswith("-") or words[0] in BY_NAME or words[0] in ALIASES
        meant = None if is_named else _alias(words[0])
        if not meant:
            return _colour_after(words)
        words = meant + words[1:]
    raise UsageError(
        f"the aliases form a cycle at `{words[0]}`",
        hint=f"`git config --global --get-regexp '^{ALIAS_SETTING}'`",
    )


def _act_on_flags(words: list[str]) -> list[str]:
    """Acts on the flags before a command wherever they stand among others, which are returned with what follows."""
    others: list[str] = []
    rest = words[::-1]
    while rest and rest[-1].startswith("-") and rest[-1] != "--":
        word = rest.pop()
        if word.startswith("-C"):
            _change_folder(word[2:] or (rest.pop() if rest else ""))
        elif word == "--no-pager":
            render.CHOSEN.has_pager = False
        elif word == _COLOUR:
            _choose_colour(rest.pop() if rest else "")
        elif word.startswith(f"{_COLOUR}="):
            _choose_colour(word.partition("=")[2])
        else:
            others.append(word)
            if word == "--port" and rest:
                others.append(rest.pop())
    return others + rest[::-1]


def _change_folder(folder: str) -> None:
    if not folder:
        raise UsageError("`-C` needs a folder", hint="`gt -C ../project list`")
    if COMPLETION in os.environ:  # a shell gives it as it is written
        folder = os.path.expanduser(folder)
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


def _alias(name: str) -> list[str] | None:
    if not name.replace("-", "").isalnum() or not name.isascii():
        return None  # no key of git's configuration
    import shlex

    from gitticks.git.config import read_own_setting, read_setting_here

    key = f"{ALIAS_SETTING}{name}"
    meant = read_own_setting(key)
    if meant is None and (elsewhere := read_setting_here(key)):
        raise UsageError(
            f"the alias `{name}` does not count: it is set in this repository, where an agent could set one too",
            hint=f"`git config --global {key} {shlex.quote(elsewhere)}`",
        )
    try:
        return shlex.split(meant or "")
    except ValueError as error:
        raise UsageError(
            f"the alias `{name}` cannot be read: {error}",
            hint=f"`git config --global --edit` has `{key}`",
        ) from None
