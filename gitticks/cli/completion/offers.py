"""Works out what is being completed, from the words before it and a table of commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from gitticks.actions.context import Context
from gitticks.cli.completion.table import TABLE
from gitticks.cli.text import visible
from gitticks.errors import GitticksError
from gitticks.model.ids import BOARD_FOLDER
from gitticks.model.status import AWAITING_MEANINGS, STATUS_MEANINGS
from gitticks.safe_read import read_plain_text
from gitticks.store.layout import CONFIG_PATH

if TYPE_CHECKING:
    from gitticks.store.task_row import TaskRow


COMMAND, NOTHING, ASKS_CLICK = "command", "-", "click"
_REPEATED = "*"

KNOWN_AGENTS = ("claude", "codex", "gemini", "amp", "opencode", "script")
MOST_OFFERED = 300
"""So many tasks are offered before a letter is typed: nobody reads thousands, and bash takes long to take them in."""
_LIST = ","


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


class Offer(NamedTuple):
    """A word that could be typed, and what is shown beside it."""

    word: str
    text: str = ""


def offers(context: Context, kind: str, typed: str) -> list[Offer] | None:
    """Returns the words of a kind that begin with what was typed, in the order to show; None for an unknown kind.

    Where there are no tasks there is nothing to offer, and no error.
    """
    if kind == NOTHING:
        return []
    if "|" in kind:
        return _beginning(typed, map(Offer, kind.split("|")))
    if kind == "topic":
        return _beginning(typed, _commands("") + _topics())
    if kind.startswith(COMMAND):
        return _beginning(typed, _commands(kind.removeprefix(COMMAND).strip()))
    find = _FINDERS.get(kind)
    if find is None:
        return None
    try:
        return find(context, typed)
    except GitticksError:
        return []


def _beginning(typed: str, found: Iterable[Offer]) -> list[Offer]:
    return [one for one in found if one.word.startswith(typed)]


def _commands(group: str) -> list[Offer]:
    if not group:
        from gitticks.cli.catalogue import CATALOGUE, PLUMBING

        return [Offer(one.name, one.summary) for one in CATALOGUE if one.heading != PLUMBING]

    return [Offer(name.removeprefix(f"{group} ")) for name in TABLE if name.startswith(f"{group} ")]


def _topics() -> list[Offer]:
    from gitticks.cli.views.workflow import TOPICS

    return [Offer(name, topic.summary) for name, topic in TOPICS.items()]


def _tasks(context: Context, typed: str) -> list[Offer]:
    """Returns open tasks before closed ones; as long as nothing is typed only the first of those that are open.

    A shell inserts what all words have in common: the ids at both ends are among the first, so that this is right.
    """
    if not typed:
        return _named(context.index.open_first(MOST_OFFERED))
    found = context.index.beginning(typed)
    return _named(sorted(found, key=lambda task: (not task.is_open, *_order(task))))


def _closed(context: Context, typed: str) -> list[Offer]:
    return _named(sorted((one for one in context.index.beginning(typed) if not one.is_open), key=_order))


def _awaiting(context: Context, typed: str) -> list[Offer]:
    found = sorted((one for one in context.index.awaiting() if one.id.startswith(typed)), key=_order)
    return [Offer(task.id, f"{task.awaiting}: {visible(task.title)}") for task in found]


def _order(task: TaskRow) -> tuple[int, str, str]:
    return task.priority, task.born, task.id


def _named(tasks: Iterable[TaskRow]) -> list[Offer]:
    return [Offer(task.id, visible(task.title)) for task in tasks]


def _statuses(_context: Context, typed: str) -> list[Offer]:
    from gitticks.model.status import Phase, Status

    phases = (Offer(phase.value, "a phase") for phase in Phase)
    return _one_more(typed, [*(Offer(one.value, STATUS_MEANINGS[one.value]) for one in Status), *phases])


def _status(_context: Context, typed: str) -> list[Offer]:
    return _beginning(typed, (Offer(word, meaning) for word, meaning in STATUS_MEANINGS.items()))


def _kinds(_context: Context, typed: str) -> list[Offer]:
    return _one_more(typed, [Offer(word, meaning) for word, meaning in AWAITING_MEANINGS.items()])


def _kind(_context: Context, typed: str) -> list[Offer]:
    return _beginning(typed, (Offer(word, meaning) for word, meaning in AWAITING_MEANINGS.items()))


def _labels(context: Context, typed: str) -> list[Offer]:
    return _one_more(
        typed, _in_use(label for one in context.index.details().values() for label in one.labels)
    )


def _assignees(context: Context, typed: str) -> list[Offer]:
    used = _in_use(one.assignee for one in context.index.details().values() if one.assignee)
    return _beginning(typed, [Offer("me", "whoever types it"), *used])


def _reviewers(context: Context, typed: str) -> list[Offer]:
    return _beginning(
        typed, _in_use(one.reviewer for one in context.index.details().values() if one.reviewer)
    )


def _agents(context: Context, typed: str) -> list[Offer]:
    used = (one.agent for one in context.index.details().values() if one.agent)
    names = dict.fromkeys((*KNOWN_AGENTS, *_configured_agents(context), *(one.word for one in _in_use(used))))
    return _beginning(typed, map(Offer, names))


def _configured_agents(context: Context) -> tuple[str, ...]:
    """Returns the agents of the settings, for which these are read only where the board's file names any."""
    try:
        text = read_plain_text(f"{context.repository.project_place}/{BOARD_FOLDER}/{CONFIG_PATH}")
    except (OSError, ValueError):
        return ()
    return tuple(context.settings.agents) if "agents" in text else ()


def _in_use(names: Iterable[str]) -> list[Offer]:
    """Returns names by how often they are used; those that could not be typed are left out."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    usual = sorted(counts, key=lambda name: (-counts[name], name))
    return [Offer(name) for name in usual if name and visible(name) == name]


def _one_more(typed: str, found: Iterable[Offer]) -> list[Offer]:
    """Returns what may stand as the last of a comma list, none of it twice."""
    before, comma, last = typed.rpartition(_LIST)
    taken = before.split(_LIST)
    return [
        Offer(f"{before}{comma}{one.word}", one.text)
        for one in found
        if one.word.startswith(last) and one.word not in taken and _LIST not in one.word
    ]


_FINDERS: dict[str, Callable[[Context, str], list[Offer]]] = {
    "task": _tasks,
    "closed": _closed,
    "awaiting": _awaiting,
    "status": _status,
    "statuses": _statuses,
    "kind": _kind,
    "kinds": _kinds,
    "labels": _labels,
    "reviewer": _reviewers,
    "assignee": _assignees,
    "agent": _agents,
}
