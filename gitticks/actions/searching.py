"""Finds tasks by words in their titles and texts: what was asked for, asked, noted, handed off and reviewed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from gitticks.actions.context import Context
from gitticks.actions.derived_state import Standing, standing_of
from gitticks.actions.listing import Filter, read_passing
from gitticks.errors import UsageError
from gitticks.model.forest import in_tree_order
from gitticks.model.ids import TaskId
from gitticks.model.task_row import TaskRow
from gitticks.store.index import BrokenFile, Index, graph_over

MOST_LINES = 3
"""So many lines of one task are kept; each is the first with one of the words."""
_SECTION = "\n## "

_FENCE = re.compile(r"---[ \t]*\r?")
_MOST_CHARACTERS, _BEFORE = 300, 100


class Needle:
    """A word to find, or several that follow one another; capitals matter if it has any."""

    def __init__(self, words: str) -> None:
        pieces = words.split()
        has_capitals = words.lower() != words
        self.pattern = re.compile(r"\s+".join(map(_form, pieces)), 0 if has_capitals else re.IGNORECASE)
        self._raw = [piece.lower().encode() for piece in pieces if piece.isascii()]

    def may_be_in(self, title: str, lowered: bytes) -> bool:
        """True unless a glance shows that the word is neither in the title nor in the bytes, which have no capitals."""
        return all(raw in lowered or raw in title.lower().encode() for raw in self._raw)


def _form(piece: str) -> str:
    """Returns the pattern of a word; letters with marks are found whether a file has them as one sign or as two."""
    if piece.isascii():
        return re.escape(piece)
    from unicodedata import normalize

    forms = dict.fromkeys((piece, normalize("NFC", piece), normalize("NFD", piece)))
    return f"(?:{'|'.join(map(re.escape, forms))})"


class Match(NamedTuple):
    """A line of a task's file with one of the words; `section` is empty for the text above all sections."""

    line: int
    section: str
    text: str


class Found(NamedTuple):
    """A task that has all the words; `matches` are lines with those that its title lacks, in file order."""

    standing: Standing[TaskRow]
    in_title: bool
    matches: tuple[Match, ...]


class FoundBroken(NamedTuple):
    """A task that has all the words in a file that cannot be read; `matches` are the lines, in file order."""

    id: TaskId
    path: str
    matches: tuple[Match, ...]


class Search(NamedTuple):
    """What was found: tasks with the words in their titles first, open before closed ones, then by urgency and age.

    `left_out` is how many more there are than were asked for; `found_broken` are those whose files cannot be read.
    """

    needles: tuple[Needle, ...]
    found: tuple[Found, ...]
    found_broken: tuple[FoundBroken, ...]
    left_out: int


def search_tasks(
    context: Context,
    words: Sequence[str],
    wanted: Filter,
    *,
    count: int | None = None,
) -> Search:
    """Returns the tasks that have all the words, at most `count`, by statuses, labels and `with_closed` of a filter."""
    needles = tuple(Needle(one) for one in words if one.strip())
    if not needles:
        raise UsageError("no search words were given", hint='`gt search "return URL"`')
    index = context.index
    found = _scan(context, needles, wanted)
    found.sort(key=lambda one: (not one[1], *in_tree_order(one[0])))
    broken = index.broken()
    found_broken = search_broken(index, broken, needles) if broken and wanted.is_empty else []
    shown = found if count is None else found[:count]
    shown_broken = found_broken if count is None else found_broken[: count - len(shown)]
    graph = graph_over(index)
    around = context.surroundings() if shown else None
    return Search(
        needles,
        tuple(
            Found(standing_of(context, task, graph, around), in_title, matches)
            for task, in_title, matches in shown
            if around is not None
        ),
        tuple(shown_broken),
        len(found) + len(found_broken) - len(shown) - len(shown_broken),
    )


def _scan(
    context: Context, needles: Sequence[Needle], wanted: Filter
) -> list[tuple[TaskRow, bool, tuple[Match, ...]]]:
    tasks = {task.id: task for task in read_passing(context, wanted, None)[1]}
    found = []
    for task_id, data, body_start in context.index.texts(open_only=not wanted.needs_closed):
        task = tasks.get(task_id)
        if task is None:
            continue
        title, lowered = task.title, data.lower()
        if not all(needle.may_be_in(title, lowered) for needle in needles):
            continue
        missing = [needle for needle in needles if not needle.pattern.search(title)]
        matches = matches_in(data.decode("utf-8", "replace"), body_start, missing)
        if matches is not None:
            found.append((task, not missing, matches))
    return found


def matches_in(text: str, body_start: int, needles: Sequence[Needle]) -> tuple[Match, ...] | None:
    """Returns the first line with each word, without repeats; None if a word is not in the body."""
    starts: set[int] = set()
    for needle in needles:
        match = needle.pattern.search(text, body_start)
        if match is None:
            return None
        starts.add(text.rfind("\n", 0, match.start()) + 1)
    return tuple(_match(text, max(start, body_start), body_start) for start in sorted(starts)[:MOST_LINES])


def _match(text: str, start: int, body_start: int) -> Match:
    end = text.find("\n", start)
    heading = text.rfind(_SECTION, body_start, start)
    below = text[heading + len(_SECTION) : text.find("\n", heading + 1)] if heading >= 0 else ""
    line = text[start:] if end < 0 else text[start:end]
    return Match(text.count("\n", 0, start) + 1, below.strip(), line.strip())


def search_broken(index: Index, files: Sequence[BrokenFile], needles: Sequence[Needle]) -> list[FoundBroken]:
    """Returns the broken files that have all the words, in the order given."""
    found = []
    for file in files:
        data = None if file.task_id is None else index.data(file.task_id)
        if file.task_id is None or data is None:
            continue
        matches = matches_in(readable_part(data.decode("utf-8", "replace")), 0, needles)
        if matches is not None:
            cut = tuple(_cut(match, needles) for match in matches)
            found.append(FoundBroken(file.task_id, file.path, cut))
    return found


def readable_part(text: str) -> str:
    """Returns a broken file's text with its lines where they are, but of the frontmatter the titles alone."""
    lines = text.split("\n")
    ends = (number for number, line in enumerate(lines) if number and _FENCE.fullmatch(line))
    end = next(ends, None) if _FENCE.fullmatch(lines[0].removeprefix("\ufeff")) else None
    if end is None:
        return text
    head = [line if line.startswith("title:") else "" for line in lines[: end + 1]]
    return "\n".join([*head, *lines[end + 1 :]])


def _cut(match: Match, needles: Sequence[Needle]) -> Match:
    """Returns a line that is no longer than people can use, as those of binary files can be."""
    if len(match.text) <= _MOST_CHARACTERS:
        return match
    places = [place.start() for needle in needles if (place := needle.pattern.search(match.text))]
    begin = max(0, min(places, default=0) - _BEFORE)
    return Match(match.line, match.section, match.text[begin : begin + _MOST_CHARACTERS])
