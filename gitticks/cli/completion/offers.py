"""What fits where a word is being typed: ids with titles, statuses, kinds of awaiting, names in use, commands.

The index answers, so that it takes the time of `gt next`. What this module does not know, click does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from gitticks.cli.completion.typed import COMMAND, NOTHING
from gitticks.cli.text import visible
from gitticks.errors import GitticksError
from gitticks.model.ids import BOARD_FOLDER
from gitticks.model.status import AWAITING_MEANINGS, STATUS_MEANINGS
from gitticks.safe_read import read_plain_text
from gitticks.store.layout import CONFIG_PATH

if TYPE_CHECKING:
    from gitticks.actions.context import Context
    from gitticks.store.task_row import TaskRow

KNOWN_AGENTS = ("claude", "codex", "gemini", "amp", "opencode", "script")
MOST_OFFERED = 300
"""So many tasks are offered before a letter is typed: nobody reads thousands, and bash takes long to take them in."""
_LIST = ","


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
    from gitticks.cli.completion.table import TABLE

    return [Offer(name.removeprefix(f"{group} ")) for name in TABLE if name.startswith(f"{group} ")]


def _topics() -> list[Offer]:
    from gitticks.cli.topics import TOPICS

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
        text = read_plain_text(f"{context.repository.main_place}/{BOARD_FOLDER}/{CONFIG_PATH}")
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
    "agent": _agents,
}
