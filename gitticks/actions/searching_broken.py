"""Finds words in tasks whose files cannot be read: in lines that still look like titles, and in the text below.

What a broken file says of status, labels and the rest is not known, so nothing is asked of it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gitticks.actions.searching import FoundBroken, Match, matches_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitticks.actions.searching import Needle
    from gitticks.store.index import BrokenFile, Index

_FENCE = re.compile(r"---[ \t]*\r?")
_MOST_CHARACTERS, _BEFORE = 300, 100


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
