"""A council's result: each answer's verdict, the tally, and the `## Review` made of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from gitticks.model.notes import ReviewOutcome, quoted
from gitticks.model.settings import CouncilRule
from gitticks.model.task import KEPT_FROM_WORK, Ending
from gitticks.workflow.transitions import REVIEW_ABSTAINED, REVIEW_LATE

_LONGEST_SHOWN = 6_000
_UNDECIDED = {
    REVIEW_LATE: "The council's time is up",
    REVIEW_ABSTAINED: "Half of the council or more abstained",
}


class Voice(StrEnum):
    """How one reviewer of a council counts."""

    APPROVED = "APPROVED"
    BLOCKING = "BLOCKING"
    SILENT = "no verdict"
    ABSTAINED = "abstained"
    LATE = "no answer in time"


_LISTED = re.compile(rf"^- `([^`\n]+)`: ({'|'.join(Voice)})(?: \((.*)\))?$", re.MULTILINE)
VOICES = {ReviewOutcome.PASS: Voice.APPROVED, ReviewOutcome.FAIL: Voice.BLOCKING}
"""How an answer with a verdict counts."""


class Answer(NamedTuple):
    """What one reviewer answered: its name in the settings, how it counts, its text, and why it abstained."""

    name: str
    voice: Voice
    text: str = ""
    reason: str = ""


class Tally(NamedTuple):
    """What a council says.

    `outcome` is MISSING if it says nothing: all abstained, or it is `undecided`, for a reason of a step to a person.
    `review` is the text for `## Review`, `abstained` names in a few words who abstained and why.
    """

    outcome: ReviewOutcome
    review: str
    warnings: tuple[str, ...] = ()
    undecided: str = ""
    abstained: str = ""


def judge_answer(
    name: str,
    text: str,
    outcome: ReviewOutcome,
    ending: Ending,
    detail: str,
    *,
    limit: str | None,
    is_late: bool,
) -> Answer:
    """Returns how a reviewer's answer counts: one that blocks does however its agent ended, others only if it ended well.

    `detail` says why it ended so, `limit` what its text says of a limit of its service's, if it does. `is_late` if the
    council's time was up before it ended.
    """
    voice = VOICES.get(outcome, Voice.SILENT)
    if voice is Voice.BLOCKING:
        return Answer(name, voice, text)
    if ending is Ending.STOPPED and is_late:
        return Answer(name, Voice.LATE, text)
    if ending is not Ending.CLEAN:
        return Answer(name, Voice.ABSTAINED, text, detail or ending.value)
    if voice is Voice.SILENT and (limit is not None or not text.strip()):
        return Answer(name, Voice.ABSTAINED, text, limit or "it said nothing")
    return Answer(name, voice, text)


def ending_of(counted: Tally, endings: Sequence[Ending]) -> Ending:
    """Returns how the session of a council ended whose agents ended so: without any answer it is no crash if one may yet give it."""
    if counted.undecided or counted.outcome is not ReviewOutcome.MISSING:
        return Ending.CLEAN
    alike = Ending.START_FAILED if set(endings) == {Ending.START_FAILED} else Ending.CRASHED
    return next((one for one in endings if one in KEPT_FROM_WORK), alike)


def tally(answers: Sequence[Answer], rule: CouncilRule, *, person_follows: bool) -> Tally:
    """Counts the answers.

    An answer without a verdict approves, with a warning, but blocks where no person looks at the work afterwards.
    Whoever abstained is not counted; a tie fails. What came too late leaves the decision to a person, and so does a
    PASS to which half of the council or more did not speak.
    """
    silent = Voice.APPROVED if person_follows else Voice.BLOCKING
    voices = [silent if one.voice is Voice.SILENT else one.voice for one in answers]
    blocking, approving = voices.count(Voice.BLOCKING), voices.count(Voice.APPROVED)
    undecided = REVIEW_LATE if Voice.LATE in voices else ""
    if undecided or not blocking + approving:
        outcome = ReviewOutcome.MISSING
    elif rule is CouncilRule.MAJORITY:
        outcome = ReviewOutcome.PASS if approving > blocking else ReviewOutcome.FAIL
    else:
        outcome = ReviewOutcome.FAIL if blocking else ReviewOutcome.PASS
    if outcome is ReviewOutcome.PASS and voices.count(Voice.ABSTAINED) * 2 >= len(voices):
        outcome, undecided = ReviewOutcome.MISSING, REVIEW_ABSTAINED
    counted = (
        "counts as APPROVED"
        if person_follows
        else "counts as BLOCKING, since no person reviews the work afterwards"
    )
    warnings = [
        f"reviewer `{one.name}` gave no verdict: it {counted}" for one in answers if one.voice is Voice.SILENT
    ]
    abstained = _abstained(answers)
    if abstained and blocking + approving:
        warnings.append(f"{approving} of {len(answers)} approve{'s' if approving == 1 else ''}; {abstained}")
    review = _review(outcome, answers, blocking, undecided)
    return Tally(outcome, review, tuple(warnings), undecided, abstained)


def _abstained(answers: Sequence[Answer]) -> str:
    """Returns who abstained, those for one reason together."""
    found: dict[str, list[str]] = {}
    for one in answers:
        if one.voice is Voice.ABSTAINED:
            found.setdefault(one.reason, []).append(one.name)
    return "; ".join(f"{', '.join(names)} abstained ({reason})" for reason, names in found.items())


def answers_in(review: str | None) -> tuple[Answer, ...]:
    """Returns who counted how, as the list in a council's `## Review` says, without their texts."""
    found = _LISTED.findall(review or "")
    return tuple(Answer(name, Voice(voice), reason=reason) for name, voice, reason in found)


def blocking_in(review: str | None) -> tuple[str, ...]:
    """Returns who blocked, as a council's `## Review` says."""
    return tuple(one.name for one in answers_in(review) if one.voice is Voice.BLOCKING)


def is_shortened(text: str) -> bool:
    """True if the review has only the ends of an answer, which is whole in `rounds/`."""
    return len(text) > _LONGEST_SHOWN


def shortened(text: str) -> str:
    """Returns an answer as the review has it: of a long one the beginning and the end, where the verdict stands."""
    if not is_shortened(text):
        return text
    left_out = len(text) - _LONGEST_SHOWN
    half = _LONGEST_SHOWN // 2
    return f"{text[:half]}\n\n[{left_out:,} characters left out; `rounds/` has all of them]\n\n{text[-half:]}"


def _review(outcome: ReviewOutcome, answers: Sequence[Answer], blocking: int, undecided: str) -> str:
    decided = outcome is not ReviewOutcome.MISSING
    head = f"{outcome.value.upper()}\n\n" if decided else ""
    many = "reviewer" if len(answers) == 1 else "reviewers"
    count = f"{blocking} of {len(answers)} {many} block{'s' if 1 in (blocking, len(answers)) else ''}."
    count = f"{_UNDECIDED[undecided]}, so a person decides. {count}" if undecided else count
    lines = [f"- `{one.name}`: {one.voice}{f' ({one.reason})' if one.reason else ''}" for one in answers]
    texts = [f"### {one.name}\n\n{quoted(shortened(one.text))}" for one in answers if one.text.strip()]
    return "\n\n".join([f"{head}{count}", "\n".join(lines), *texts])
