"""Answers a shell's completion request in the form its script reads.

Each line is a word, a tab and what it means; the scripts are next to this module. A line with nothing before its tab
asks the shell for names of files or folders.
"""

from __future__ import annotations

import os

from gitticks.actions.context import Context
from gitticks.cli.catalogue import name_of
from gitticks.cli.completion.offers import Offer, Typed, offers, what_is_typed
from gitticks.cli.render import PIPED_COLUMNS, say
from gitticks.cli.text import cut, visible, width
from gitticks.errors import Exit

ASKED = "_GT_COMPLETE"
"""The variable in which a script names its shell; the words up to the cursor are the arguments."""

SHELLS = ("bash", "zsh", "fish")
FILES = ("file", "folder")
_SHOWS_A_LIST = frozenset({"63", "33", "64"})
"""What bash has in COMP_TYPE while it lists; else it inserts what all words have in common."""
_GAP, _LEAST_ROOM = "  ", 8
_BARE = "_./,:@+=%-"
"""Signs that mean nothing to bash."""


def complete(shell: str, words: list[str]) -> int:
    """Prints what could stand in place of the last of the words, and returns the exit code."""
    words = words or [""]
    is_apart = shell == "bash" and "=" in words
    if shell == "bash":  # it gives them as they are written
        words = [word.replace("\\", "") for word in _joined(words)]
    words = [name_of(words[0]), *words[1:]] if len(words) > 1 else words
    typed = what_is_typed(words)
    context = Context()
    try:
        found = _found(context, typed, words)
    finally:
        if "index" in context.__dict__:
            context.index.close()
    begin = "" if typed is None or is_apart else typed.flag
    if shell in _WITH_ROOM and all(one.word for one in found):
        found = _WITH_ROOM[shell](found, _columns())
    say(*(f"{begin if one.word else ''}{one.word}\t{one.text}" for one in found))
    return Exit.DONE


def _joined(words: list[str]) -> list[str]:
    """Puts `--flag`, `=` and `value` together again, which bash takes for three words."""
    joined: list[str] = []
    rest = words[::-1]
    while rest:
        word = rest.pop()
        if word == "=" and joined and joined[-1].startswith("--"):
            joined[-1] += "=" + (rest.pop() if rest else "")
        else:
            joined.append(word)
    return joined


def _found(context: Context, typed: Typed | None, words: list[str]) -> list[Offer]:
    if typed is not None:
        if typed.kind in FILES:
            return [Offer("", typed.kind)]
        found = offers(context, typed.kind, typed.word)
        if found is not None:
            return found
    return _by_click(words)


def _by_click(words: list[str]) -> list[Offer]:
    """Lets click say what fits: names of flags, and the rare things that take more than the index."""
    from click.shell_completion import ShellComplete

    from gitticks.cli.app import gt

    *before, word = words
    items = ShellComplete(gt, {}, "gt", ASKED).get_completions(before, word)
    return [Offer(item.value, visible(" ".join((item.help or "").split()))) for item in items]


def _columns() -> int:
    given = os.environ.get("COLUMNS", "")
    return int(given) if given.isdecimal() and int(given) > 0 else PIPED_COLUMNS


def _for_bash(found: list[Offer], columns: int) -> list[Offer]:
    """Makes words fit to be inserted, or, where bash lists them, writes behind each what it means."""
    if len(found) == 1 or os.environ.get("COMP_TYPE") not in _SHOWS_A_LIST:
        return [one._replace(word=_escaped(one.word)) for one in found]
    longest = _longest(found)
    shown = _fitting(found, columns)
    return [Offer(f"{one.word.ljust(longest)}{_GAP}{one.text}".rstrip()) for one in shown]


def _fitting(found: list[Offer], columns: int) -> list[Offer]:
    """Cuts meanings so that they fit beside the words."""
    room = columns - 1 - len(_GAP) - _longest(found)
    return [one._replace(text=cut(one.text, room) if room >= _LEAST_ROOM else "") for one in found]


def _longest(found: list[Offer]) -> int:
    return max((width(one.word) for one in found), default=0)


def _escaped(word: str) -> str:
    return "".join(char if char.isalnum() or char in _BARE else f"\\{char}" for char in word)


_WITH_ROOM = {"bash": _for_bash, "zsh": _fitting}
"""What shells that do not cut lines by themselves are given."""
