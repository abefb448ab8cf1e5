"""Finds tasks that a text speaks of, so that notes and questions can lead to them."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from gitticks.model.ids import LETTERS_AND_DIGITS, TaskId, is_valid_id

_WITHIN_WORDS = frozenset("-_")
_OF_LONGER_NAMES = frozenset("/\\@.~=%+:")
"""Signs that make a word a part of a path, an address or a longer name, where they stand directly beside it."""
_ENDS = frozenset(".:")
"""Signs of these that also end a sentence, and then nothing of a word follows."""


_SIGNS_OF_IDS = (LETTERS_AND_DIGITS + "-").encode()
_SPACES_BETWEEN_IDS = bytes(sign if sign in _SIGNS_OF_IDS else ord(" ") for sign in range(256))
"""Translates bytes that no id has to spaces; a pattern would take longer to compile than a task to show."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A task's id in a text: `text[start:end]`."""

    start: int
    end: int
    task: TaskId


def find_mentions(text: str, ids: Container[TaskId]) -> tuple[Mention, ...]:
    """Returns where a text names tasks, in order, each id as a word of its own.

    An id within a path, an address or a longer word is none, such as in `tasks/f2/k7f2` or `k7f2.md`.

    Args:
        text: any text.
        ids: those that exist.
    """
    found: list[Mention] = []
    end = 0
    for start in range(len(text)):
        if start < end or not _is_word(text[start]):
            continue
        end = start
        while end < len(text) and _is_word(text[end]):
            end += 1
        word = text[start:end].strip("-_")
        begin = start + text[start:end].index(word) if word else start
        if is_valid_id(word) and word in ids and _stands_alone(text, start, end):
            found.append(Mention(begin, begin + len(word), TaskId(word)))
    return tuple(found)


def words_like_ids(text: str) -> set[str]:
    """Returns all words of a text that could name a task; most do not, and `mentioned` tells which do."""
    runs = text.encode("ascii", "replace").translate(_SPACES_BETWEEN_IDS).decode("ascii").split()
    return {run.strip("-") for run in runs} - {""}


def mentioned(text: str, ids: Container[TaskId]) -> tuple[TaskId, ...]:
    """Returns the tasks that a text names, each once, in the order of their first mention."""
    return tuple(dict.fromkeys(mention.task for mention in find_mentions(text, ids)))


def _is_word(sign: str) -> bool:
    return sign.isalnum() or sign in _WITHIN_WORDS


def _stands_alone(text: str, start: int, end: int) -> bool:
    before = text[start - 1 : start]
    after, beyond = text[end : end + 1], text[end + 1 : end + 2]
    ends_there = after in _ENDS and not (beyond and (_is_word(beyond) or beyond == "/"))
    return before not in _OF_LONGER_NAMES and (after not in _OF_LONGER_NAMES or ends_there)
