"""Entries of `## Notes` and `## Questions`, and the artifacts' other shapes, as values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from gitticks.model import words
from gitticks.model.status import ActorKind


class Section(StrEnum):
    """The body sections that gitticks knows by name."""

    CONTEXT = words.CONTEXT
    ACCEPTANCE = words.ACCEPTANCE
    SCRIPT = words.SCRIPT
    QUESTIONS = words.QUESTIONS
    HANDOFF = words.HANDOFF
    REVIEW = words.REVIEW
    NOTES = words.NOTES


class ReviewOutcome(StrEnum):
    """What the verdict line of `## Review` says; UNCLEAR is a review without a verdict."""

    MISSING = "missing"
    UNCLEAR = "unclear"
    PASS = "pass"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Entry:
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


def answer_since(entries: tuple[Entry, ...], asked_at: datetime) -> Entry | None:
    """Returns the last answer, if it was given since then and no question is open; else None."""
    pairs = pair_questions(entries)
    answer = pairs[-1].answer if pairs else None
    return answer if answer is not None and answer.at >= asked_at else None
