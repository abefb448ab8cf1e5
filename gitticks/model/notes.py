"""Entries of `## Notes` and `## Questions`, and other artifacts, as values."""

from __future__ import annotations

from collections.abc import Container
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from gitticks.model.ids import LETTERS_AND_DIGITS, TaskId, is_valid_id
from gitticks.model.status import ActorKind

_WITHIN_WORDS = frozenset("-_")
_OF_LONGER_NAMES = frozenset("/\\@.~=%+:")
"""Signs that make a word a part of a path, an address or a longer name, where they stand directly beside it."""
_ENDS = frozenset(".:")
"""Signs of these that also end a sentence, and then nothing of a word follows."""
_SIGNS_OF_IDS = (LETTERS_AND_DIGITS + "-").encode()
_SPACES_BETWEEN_IDS = bytes(sign if sign in _SIGNS_OF_IDS else ord(" ") for sign in range(256))
"""Translates bytes that no id has to spaces; a pattern would take longer to compile than a task to show."""


def quoted(text: str) -> str:
    """Returns a text as a quotation, in which nothing is a verdict, a heading or an entry of the file that it stands in."""
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines())


class Section(StrEnum):
    """The body sections that gitticks knows by name."""

    CONTEXT = "Context"
    ACCEPTANCE = "Acceptance Criteria"
    SCRIPT = "Script"
    QUESTIONS = "Questions"
    HANDOFF = "Handoff"
    REVIEW = "Review"
    NOTES = "Notes"


class ReviewOutcome(StrEnum):
    """What the verdict line of `## Review` says; UNCLEAR is a review without a verdict."""

    MISSING = "missing"
    UNCLEAR = "unclear"
    PASS = "pass"
    FAIL = "fail"


class Entry(NamedTuple):
    """One entry: `### <UTC time> · <human|agent|engine> · <name>` and its text.

    In `## Questions`, an entry of an agent or the engine is a question and one of a person is an answer; a question
    with no answer after it is open.
    """

    at: datetime
    kind: ActorKind
    name: str
    text: str


class QuestionPair(NamedTuple):
    """A question and, once it was given, its answer."""

    question: Entry
    answer: Entry | None


def pair_questions(entries: tuple[Entry, ...]) -> tuple[QuestionPair, ...]:
    """Returns the questions in file order, each with the first person's entry that follows it.

    One answer closes every question that was open before it: people answer two questions in one breath.
    """
    pairs: list[QuestionPair] = []
    answered = 0
    for entry in entries:
        if entry.kind is not ActorKind.HUMAN:
            pairs.append(QuestionPair(entry, None))
            continue
        pairs[answered:] = [QuestionPair(pair.question, entry) for pair in pairs[answered:]]
        answered = len(pairs)
    return tuple(pairs)


def unasked(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Returns what people wrote among the questions that answers none of them, in file order."""
    answers = {pair.answer for pair in pair_questions(entries)}
    return tuple(entry for entry in entries if entry.kind is ActorKind.HUMAN and entry not in answers)


def with_unasked(notes: tuple[Entry, ...], questions: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Returns the notes and, where people wrote such among the questions, theirs as well, by time."""
    known = set(notes)
    more = [entry for entry in unasked(questions) if entry not in known]
    return tuple(sorted((*notes, *more), key=lambda entry: entry.at)) if more else notes


def open_questions(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Returns the questions that nobody has answered, in file order."""
    return tuple(pair.question for pair in pair_questions(entries) if pair.answer is None)


def answered_since(entries: tuple[Entry, ...], asked_at: datetime) -> tuple[QuestionPair, ...]:
    """Returns the questions with the last answer, if it was given since then and none is open."""
    pairs = pair_questions(entries)
    last = pairs[-1].answer if pairs else None
    is_given = last is not None and last.at >= asked_at
    return tuple(pair for pair in pairs if is_given and pair.answer == last)


def words_like_ids(text: str) -> set[str]:
    """Returns all words of a text that could name a task; most do not, and `mentioned` tells which do."""
    runs = text.encode("ascii", "replace").translate(_SPACES_BETWEEN_IDS).decode("ascii").split()
    return {run.strip("-") for run in runs} - {""}


def mentioned(text: str, ids: Container[TaskId]) -> tuple[TaskId, ...]:
    """Returns the tasks that a text names, each once, in the order of their first mention.

    An id within a path, an address or a longer word is none, such as in `tasks/f2/k7f2` or `k7f2.md`.
    """
    found: dict[TaskId, None] = {}
    end = 0
    for start in range(len(text)):
        if start < end or not _is_word(text[start]):
            continue
        end = start
        while end < len(text) and _is_word(text[end]):
            end += 1
        word = text[start:end].strip("-_")
        if is_valid_id(word) and word in ids and _stands_alone(text, start, end):
            found[TaskId(word)] = None
    return tuple(found)


def _is_word(sign: str) -> bool:
    return sign.isalnum() or sign in _WITHIN_WORDS


def _stands_alone(text: str, start: int, end: int) -> bool:
    before = text[start - 1 : start]
    after, beyond = text[end : end + 1], text[end + 1 : end + 2]
    ends_there = after in _ENDS and not (beyond and (_is_word(beyond) or beyond == "/"))
    return before not in _OF_LONGER_NAMES and (after not in _OF_LONGER_NAMES or ends_there)
