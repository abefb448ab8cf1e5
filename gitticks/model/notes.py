"""Entries of `## Notes` and `## Questions`, and the artifacts' other shapes, as values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gitticks.model.status import ActorKind


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


@dataclass(frozen=True, slots=True)
class QuestionPair:
    """A question and, once it was given, its answer."""

    question: Entry
    answer: Entry | None


def pair_questions(entries: tuple[Entry, ...]) -> tuple[QuestionPair, ...]:
    """Returns the questions in file order, each with the first person's entry that follows it.

    One answer closes every question that was open before it: people answer two questions in one breath.
    """
    pairs: list[QuestionPair] = []
    for entry in entries:
        if entry.kind is not ActorKind.HUMAN:
            pairs.append(QuestionPair(entry, None))
            continue
        pairs = [QuestionPair(pair.question, pair.answer or entry) for pair in pairs]
    return tuple(pairs)


def open_questions(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Returns the questions that nobody has answered, in file order."""
    return tuple(pair.question for pair in pair_questions(entries) if pair.answer is None)
