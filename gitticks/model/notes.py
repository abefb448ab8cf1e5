"""Entries of `## Notes` and `## Questions`, and other artifacts, as values."""

from __future__ import annotations

import re
from collections.abc import Container
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from gitticks.model.ids import TaskId, is_valid_id
from gitticks.model.status import ActorKind

_LIKE_AN_ID = "[0-9a-z](?:[0-9a-z-]*[0-9a-z])?"
_WORD = r"(?<![\w/\\@.~=%+:-])[\w-]++(?![/\\@~=%+]|[.:][\w/-])"
"""A word that is no part of a path, an address or a longer name; a dot or a colon behind it may end a sentence.

Both are compiled when they are first asked for: few commands look for mentions.
"""


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
    return set(re.findall(_LIKE_AN_ID, text))


def mentioned(text: str, ids: Container[TaskId]) -> tuple[TaskId, ...]:
    """Returns the tasks that a text names, each once, in the order of their first mention.

    An id within a path, an address or a longer word is none, such as in `tasks/f2/k7f2` or `k7f2.md`.
    """
    words = (TaskId(word.strip("-_")) for word in re.findall(_WORD, text))
    return tuple(dict.fromkeys(word for word in words if is_valid_id(word) and word in ids))
