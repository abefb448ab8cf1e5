"""Answers a shell's completion request, from the words before the cursor and a table of commands.

Each line is a word, a tab and what it means, as the scripts next to this module read it. A line with nothing before its
tab asks the shell for names of files or folders.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from itertools import starmap
from typing import TYPE_CHECKING, NamedTuple

from gitticks.actions.context import Context
from gitticks.cli.at_once import COMPLETION
from gitticks.cli.catalogue import CATALOGUE, PLUMBING, name_of
from gitticks.cli.completion.table import TABLE
from gitticks.cli.render import say, terminal_columns
from gitticks.cli.text import cut, visible, width
from gitticks.errors import Exit, GitticksError
from gitticks.model.ids import BOARD_FOLDER
from gitticks.model.status import AWAITING_MEANINGS, STATUS_MEANINGS, Phase
from gitticks.safe_read import read_plain_text
from gitticks.store.layout import CONFIG_PATH

if TYPE_CHECKING:
    import click

    from gitticks.model.task_row import TaskRow
    from gitticks.store.index import Index


SHELLS = ("bash", "zsh", "fish")
FILES = ("file", "folder")
_SHOWS_A_LIST = frozenset({"63", "33", "64"})
"""What bash has in COMP_TYPE while it lists; else it inserts what all words have in common."""
_GAP, _LEAST_ROOM = "  ", 8
_BARE = "_./,:@+=%-"
"""Signs that mean nothing to bash."""
COMMAND, NOTHING, ASKS_CLICK = "command", "-", "click"
_NAMES = frozenset({"task", "closed", "awaiting", "workspace", "checkpoint"})
"""Kinds of which none is offered twice on a line."""
_REPEATED = "*"
KNOWN_AGENTS = ("claude", "codex", "gemini", "amp", "opencode", "script")
MOST_OFFERED = 300
"""So many tasks are offered before a letter is typed: nobody reads thousands, and bash takes long to take them in."""
_LIST = ","


def complete(shell: str, words: list[str], commands: Callable[[], click.Command]) -> int:
    """Prints what could stand in place of the last of the words, and returns the exit code.

    `commands` loads the whole command line, for what the table does not know.
    """
    words = words or [""]
    replaced = words[-1]
    if shell == "bash":  # it gives them as they are written
        replaced = "" if _is_break(replaced) else replaced.replace("\\", "")
        words = [word.replace("\\", "") for word in _joined(words)]
    apart = len(words[-1]) - len(replaced)
    words = [name_of(words[0]), *words[1:]] if len(words) > 1 else words
    typed = what_is_typed(words)
    context = Context()
    try:
        found = _found(context, typed, words, commands)
    finally:
        if "index" in context.__dict__:
            context.index.close()
    begin = "" if typed is None else typed.flag
    found = [one._replace(word=f"{begin}{one.word}"[apart:]) if one.word else one for one in found]
    if shell in _WITH_ROOM and all(one.word for one in found):
        found = _WITH_ROOM[shell](found, terminal_columns())
    say(*(f"{one.word}\t{one.text}" for one in found))
    return Exit.DONE


def _joined(words: list[str]) -> list[str]:
    """Puts together again what bash takes for several words: `--flag=value`, and what has a colon in it."""
    joined: list[str] = []
    rest = words[::-1]
    while rest:
        word = rest.pop()
        if _is_break(word) and joined and (word != "=" or joined[-1].startswith("-")):
            joined[-1] += word + (rest.pop() if rest else "")
        else:
            joined.append(word)
    return joined


def _is_break(word: str) -> bool:
    """True for what bash ends a word at: `=` or colons."""
    return word == "=" or set(word) == {":"}


def _found(
    context: Context, typed: Typed | None, words: list[str], commands: Callable[[], click.Command]
) -> list[Offer]:
    """Returns what fits; click is asked for names of flags, and for the rare things that take more than the index."""
    if typed is not None:
        found = [Offer("", typed.kind)] if typed.kind in FILES else offers(context, typed.kind, typed.word)
        if found is not None:
            given = words[:-1] if typed.kind in _NAMES else ()
            return [one for one in found if one.word not in given]
    from click.shell_completion import ShellComplete

    *before, word = words
    items = ShellComplete(commands(), {}, "gt", COMPLETION).get_completions(before, word)
    return [Offer(item.value, visible(" ".join((item.help or "").split()))) for item in items]


def _for_bash(found: list[Offer], columns: int) -> list[Offer]:
    """Makes words fit to be inserted, or, where bash lists them, writes behind each what it means."""
    if len(found) == 1 or os.environ.get("COMP_TYPE") not in _SHOWS_A_LIST:
        return [one._replace(word=_escaped(one.word)) for one in found]
    longest = _longest(found)
    shown = _fitting(found, columns)
    return [Offer(f"{one.word.ljust(longest)}{_GAP}{one.text}".rstrip()) for one in shown]


def _fitting(found: list[Offer], columns: int) -> list[Offer]:
    room = columns - 1 - len(_GAP) - _longest(found)
    return [one._replace(text=cut(one.text, room) if room >= _LEAST_ROOM else "") for one in found]


def _longest(found: list[Offer]) -> int:
    return max((width(one.word) for one in found), default=0)


def _escaped(word: str) -> str:
    return "".join(char if char.isalnum() or char in _BARE else f"\\{char}" for char in word)


_WITH_ROOM = {"bash": _for_bash, "zsh": _fitting}
"""What shells that do not cut lines by themselves are given."""


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
    while not name or any(one.startswith(f"{name} ") for one in TABLE):
        if not before:
            return None if word.startswith("-") else Typed(f"{COMMAND} {name}".rstrip(), word)
        name, before = f"{name} {before[0]}".lstrip(), before[1:]
    if name not in TABLE:
        return None
    arguments, flags = TABLE[name]
    kinds = dict(one.split("=", 1) for one in flags.split())
    return _in_command(arguments.split(), kinds, before, word)


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
    kind = arguments[min(count, len(arguments) - 1)] if arguments else NOTHING
    is_over = count >= len(arguments) and not kind.endswith(_REPEATED)
    return Typed(NOTHING if is_over else kind.removesuffix(_REPEATED), word)


class Offer(NamedTuple):
    """A word that could be typed, and what is shown beside it."""

    word: str
    text: str = ""


_STATES = tuple(starmap(Offer, STATUS_MEANINGS.items()))
_KINDS = tuple(starmap(Offer, AWAITING_MEANINGS.items()))
_WORDS = {"status": _STATES, "kind": _KINDS}
_LISTS = {"statuses": (*_STATES, *(Offer(phase.value, "a phase") for phase in Phase)), "kinds": _KINDS}


def offers(context: Context, kind: str, typed: str) -> list[Offer] | None:
    """Returns the words of a kind that begin with what was typed, in the order to show; None for an unknown kind.

    Where there are no tasks there is nothing to offer, and no error.
    """
    if kind == NOTHING:
        return []
    if "|" in kind:
        return _beginning(typed, map(Offer, kind.split("|")))
    if kind in _WORDS:
        return _beginning(typed, _WORDS[kind])
    if kind in _LISTS:
        return _one_more(typed, _LISTS[kind])
    if kind == "topic":
        from gitticks.cli.views.workflow import TOPICS, guide_words, guides, guides_about

        topics = (Offer(name, topic.summary) for name, topic in TOPICS.items())
        pages = (Offer(guide.name, guide.title) for guide in guides().values())
        found = _beginning(typed, [*_commands(""), *topics, *pages])
        about = ((word, guides_about(word)) for word in guide_words() if not found and word.startswith(typed))
        return found or [Offer(word, one[0].title) for word, one in about if len(one) == 1]
    if kind.startswith(COMMAND):
        return _beginning(typed, _commands(kind.removeprefix(COMMAND).strip()))
    try:
        return _find(context, kind, typed)
    except GitticksError:
        return []


def _find(context: Context, kind: str, typed: str) -> list[Offer] | None:
    match kind:
        case "task":
            return _tasks(context.index, typed)
        case "closed":
            return _named(
                sorted((one for one in context.index.beginning(typed) if not one.is_open), key=_order)
            )
        case "awaiting":
            waiting = sorted(
                (one for one in context.index.awaiting() if one.id.startswith(typed)), key=_order
            )
            return [Offer(task.id, f"{task.awaiting}: {visible(task.title)}") for task in waiting]
        case "workspace":
            from gitticks.runner.workspace_removal import list_workspaces

            listed = [one.name for one in list_workspaces(context.repository, context.settings)]
            titles = {str(task.id): visible(task.title) for task in context.index.known(listed).values()}
            return _beginning(typed, [Offer(name, titles.get(name, "")) for name in listed])
        case "checkpoint":
            from gitticks.actions.checkpoints import list_checkpoints

            return _beginning(
                typed, [Offer(one.stored.id, visible(one.title)) for one in list_checkpoints(context)]
            )
        case "labels":
            return _one_more(
                typed, _in_use(label for one in context.index.details().values() for label in one.labels)
            )
        case "reviewer":
            return _beginning(typed, _in_use(one.reviewer for one in context.index.details().values()))
        case "assignee":
            used = _in_use(one.assignee for one in context.index.details().values())
            return _beginning(typed, [Offer("me", "whoever types it"), *used])
        case "agent":
            used = _in_use(one.agent for one in context.index.details().values())
            names = (*KNOWN_AGENTS, *_configured_agents(context), *(one.word for one in used))
            return _beginning(typed, map(Offer, dict.fromkeys(names)))
    return None


def _beginning(typed: str, found: Iterable[Offer]) -> list[Offer]:
    return [one for one in found if one.word.startswith(typed)]


def _commands(group: str) -> list[Offer]:
    if not group:
        return [Offer(one.name, one.summary) for one in CATALOGUE if one.heading != PLUMBING]
    return [Offer(name.removeprefix(f"{group} ")) for name in TABLE if name.startswith(f"{group} ")]


def _tasks(index: Index, typed: str) -> list[Offer]:
    """Returns open tasks before closed ones; as long as nothing is typed only the first of those that are open.

    A shell inserts what all words have in common: the ids at both ends are among the first, so that this is right.
    """
    if not typed:
        return _named(index.open_first(MOST_OFFERED))
    return _named(sorted(index.beginning(typed), key=lambda task: (not task.is_open, *_order(task))))


def _order(task: TaskRow) -> tuple[int, str, str]:
    return task.priority, task.born, task.id


def _named(tasks: Iterable[TaskRow]) -> list[Offer]:
    return [Offer(task.id, visible(task.title)) for task in tasks]


def _configured_agents(context: Context) -> tuple[str, ...]:
    """Returns the agents of the settings, for which these are read only where the board's file names any."""
    try:
        text = read_plain_text(f"{context.repository.project_place}/{BOARD_FOLDER}/{CONFIG_PATH}")
    except (OSError, ValueError):
        return ()
    return tuple(context.settings.agents) if "agents" in text else ()


def _in_use(names: Iterable[str | None]) -> list[Offer]:
    """Returns names by how often they are used; those that could not be typed are left out."""
    counts: dict[str, int] = {}
    for name in filter(None, names):
        counts[name] = counts.get(name, 0) + 1
    usual = sorted(counts, key=lambda name: (-counts[name], name))
    return [Offer(name) for name in usual if visible(name) == name]


def _one_more(typed: str, found: Iterable[Offer]) -> list[Offer]:
    """Returns what may stand as the last of a comma list, none of it twice."""
    before, comma, last = typed.rpartition(_LIST)
    taken = before.split(_LIST)
    return [
        Offer(f"{before}{comma}{one.word}", one.text)
        for one in found
        if one.word.startswith(last) and one.word not in taken and _LIST not in one.word
    ]
