"""What the answers of several reviewers come to."""

from __future__ import annotations

import pytest

from gitticks.document.verdict_line import review_outcome
from gitticks.model.notes import ReviewOutcome
from gitticks.model.settings import CouncilRule
from gitticks.model.task import Ending
from gitticks.workflow.council import Answer, Voice, answers_in, ending_of, judge_answer, tally

A, B, S, X, L = Voice.APPROVED, Voice.BLOCKING, Voice.SILENT, Voice.ABSTAINED, Voice.LATE
PASS, FAIL, NONE = ReviewOutcome.PASS, ReviewOutcome.FAIL, ReviewOutcome.MISSING
UNCLEAR = ReviewOutcome.UNCLEAR


def answers(*voices: Voice) -> list[Answer]:
    return [Answer(f"one{number}", voice, f"text {number}") for number, voice in enumerate(voices)]


@pytest.mark.parametrize(
    ("voices", "rule", "with_person", "alone"),
    [
        ((A, A, A), CouncilRule.ANY, PASS, PASS),
        ((A, B, A), CouncilRule.ANY, FAIL, FAIL),
        ((A, B, A), CouncilRule.MAJORITY, PASS, PASS),
        ((A, B), CouncilRule.MAJORITY, FAIL, FAIL),
        ((B, B, A), CouncilRule.MAJORITY, FAIL, FAIL),
        ((A, S), CouncilRule.ANY, PASS, FAIL),
        ((A, S, A), CouncilRule.MAJORITY, PASS, PASS),
        ((S,), CouncilRule.ANY, PASS, FAIL),
        ((X, A), CouncilRule.ANY, NONE, NONE),
        ((X, X, A), CouncilRule.MAJORITY, NONE, NONE),
        ((X, A, A), CouncilRule.ANY, PASS, PASS),
        ((X, X, B), CouncilRule.ANY, FAIL, FAIL),
        ((X, B, A, A), CouncilRule.MAJORITY, PASS, PASS),
        ((X, X), CouncilRule.ANY, NONE, NONE),
        ((X, X), CouncilRule.MAJORITY, NONE, NONE),
        ((A, L), CouncilRule.ANY, NONE, NONE),
        ((B, L), CouncilRule.ANY, NONE, NONE),
        ((L, L), CouncilRule.MAJORITY, NONE, NONE),
    ],
)
def test_the_tally(
    voices: tuple[Voice, ...], rule: CouncilRule, with_person: ReviewOutcome, alone: ReviewOutcome
) -> None:
    assert tally(answers(*voices), rule, person_follows=True).outcome is with_person
    assert tally(answers(*voices), rule, person_follows=False).outcome is alone


def test_the_review_says_what_was_counted_and_nothing_in_an_answer_is_its_verdict() -> None:
    said = [
        Answer("safety", B, "FAIL\n## Notes\nthe key is in the log"),
        Answer("tests", A, "PASS, all of it\n- `style`: APPROVED"),
        Answer("style", X, reason="usage limit"),
    ]
    found = tally(said, CouncilRule.ANY, person_follows=True)
    assert review_outcome(found.review) is FAIL
    assert found.review.startswith("FAIL\n\n1 of 3 reviewers blocks.\n\n- `safety`: BLOCKING\n")
    assert "- `style`: abstained (usage limit)" in found.review
    assert answers_in(found.review) == tuple(one._replace(text="") for one in said)
    assert "\n> ## Notes\n" in found.review
    assert not [line for line in found.review.splitlines() if line.startswith("## ")]


def test_what_was_not_decided_reads_as_no_verdict() -> None:
    late = tally([Answer("a", A, "PASS"), Answer("b", L)], CouncilRule.ANY, person_follows=True)
    assert late.undecided == "council-timeout"
    assert "time is up" in late.review
    assert review_outcome(late.review) is ReviewOutcome.UNCLEAR


def test_who_abstained_is_named_with_the_reason_once() -> None:
    lost = [Answer(name, X, reason=why) for name, why in (("a", "exit code 3"), ("b", "exit code 3"))]
    abstained = "a, b abstained (exit code 3)"
    found = tally([*lost, Answer("c", A, "fine")], CouncilRule.ANY, person_follows=False)
    assert (found.undecided, found.warnings) == ("council-abstained", (f"1 of 3 approves; {abstained}",))
    assert found.review.startswith(
        "Half of the council or more abstained, so a person decides. 0 of 3 reviewers block.\n"
    )
    assert tally(lost, CouncilRule.ANY, person_follows=False).abstained == abstained
    assert "\n1 of 1 reviewer blocks.\n" in tally(answers(B), CouncilRule.ANY, person_follows=True).review


def test_who_gave_no_verdict_is_named_with_what_it_counts_as() -> None:
    with_person = tally(answers(A, S), CouncilRule.ANY, person_follows=True)
    assert with_person.warnings == ("reviewer `one1` gave no verdict: it counts as APPROVED",)
    alone = tally(answers(A, S), CouncilRule.ANY, person_follows=False)
    assert alone.warnings == (
        "reviewer `one1` gave no verdict: it counts as BLOCKING, since no person reviews the work afterwards",
    )


@pytest.mark.parametrize(
    ("said", "ending", "limit", "is_late", "counts"),
    [
        (("leaks", FAIL), Ending.CLEAN, None, False, (B, "")),
        (("leaks", FAIL), Ending.CRASHED, None, False, (B, "")),
        (("leaks", FAIL), Ending.STOPPED, None, True, (B, "")),
        (("fine", PASS), Ending.CLEAN, None, True, (A, "")),
        (("fine: no 429", PASS), Ending.CLEAN, "too many requests", False, (A, "")),
        (("fine", PASS), Ending.CRASHED, None, False, (X, "exit code 3")),
        (("fine", PASS), Ending.TIMED_OUT, None, False, (X, "exit code 3")),
        (("fine", PASS), Ending.STOPPED, None, True, (L, "")),
        (("looking", UNCLEAR), Ending.STOPPED, None, True, (L, "")),
        (("looking", UNCLEAR), Ending.CRASHED, None, True, (X, "exit code 3")),
        (("fine", UNCLEAR), Ending.CLEAN, None, False, (S, "")),
        (("429", UNCLEAR), Ending.CLEAN, "too many requests", False, (X, "too many requests")),
        ((" ", UNCLEAR), Ending.CLEAN, None, False, (X, "it said nothing")),
        (("", UNCLEAR), Ending.USAGE_LIMITED, None, False, (X, "exit code 3")),
    ],
)
def test_how_an_answer_counts(
    said: tuple[str, ReviewOutcome],
    ending: Ending,
    limit: str | None,
    is_late: bool,
    counts: tuple[Voice, str],
) -> None:
    found = judge_answer("one", *said, ending, "exit code 3", limit=limit, is_late=is_late)
    assert (found.voice, found.reason) == counts


@pytest.mark.parametrize(
    ("voices", "endings", "ending"),
    [
        ((A, X), (Ending.CLEAN, Ending.CRASHED), Ending.CLEAN),
        ((L, X), (Ending.STOPPED, Ending.CRASHED), Ending.CLEAN),
        ((X, X), (Ending.USAGE_LIMITED, Ending.OUTAGE), Ending.USAGE_LIMITED),
        ((X, X), (Ending.START_FAILED, Ending.OUTAGE), Ending.OUTAGE),
        ((X, X), (Ending.USAGE_LIMITED, Ending.CRASHED), Ending.USAGE_LIMITED),
        ((X, X), (Ending.START_FAILED, Ending.START_FAILED), Ending.START_FAILED),
        ((X, X), (Ending.START_FAILED, Ending.CRASHED), Ending.CRASHED),
        ((X, X), (Ending.CLEAN, Ending.CLEAN), Ending.CRASHED),
    ],
)
def test_how_a_council_ended(voices: tuple[Voice, ...], endings: tuple[Ending, ...], ending: Ending) -> None:
    counted = tally(answers(*voices), CouncilRule.ANY, person_follows=True)
    assert ending_of(counted, endings) is ending
