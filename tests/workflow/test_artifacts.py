"""Counts since a person's last word, as the history gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gitticks.model.event import ENGINE, Actor, Event, EventType
from gitticks.model.status import Awaiting, Status, Verdict
from gitticks.model.task import Ending
from gitticks.workflow.artifacts import Counts, checks_of, count_since_last_word, with_checks
from gitticks.workflow.triggers import ApprovalVoided, AwaitingSet, MergeFailed, Trigger
from tests.support.decisions import ADA, AT, HANDED_OFF, WORKER, answer, kinds, make_merging, make_task, run

Data = Mapping[str, str | int | float | bool | list[str] | None]


def event(kind: EventType, actor: Actor = ENGINE, data: Data | None = None) -> Event:
    return Event(kind, AT, actor, data=data or {})


ITERATION = event(EventType.SESSION_ENDED, WORKER, {"iteration": True})
ADVANCE = event(EventType.SESSION_ENDED, WORKER, {"iteration": False})
CHECKS = event(EventType.GATE_FAILED, ENGINE, {"gate": "checks"})
HANDOFF = event(EventType.GATE_FAILED, ENGINE, {"gate": "handoff"})
REFUSED = event(EventType.REFUSED, WORKER)
START_FAILED = event(EventType.START_FAILED, WORKER)
MERGE_FAILED = event(EventType.MERGE_FAILED)
VOIDED = event(EventType.VOIDED, data={"head": "f" * 40})
EVERYTHING = (ITERATION, ITERATION, CHECKS, REFUSED, START_FAILED, MERGE_FAILED, VOIDED)


def test_nothing_happened() -> None:
    assert count_since_last_word(()) == Counts()


def test_each_is_counted() -> None:
    assert count_since_last_word((*EVERYTHING, ADVANCE, HANDOFF)) == Counts(2, 1, 2, 1, 1)


@pytest.mark.parametrize(
    "kind", [EventType.VERDICT, EventType.MOVED, EventType.AWAITING_SET, EventType.REOPENED]
)
def test_persons_word_gives_a_fresh_allowance(kind: EventType) -> None:
    assert count_since_last_word((*EVERYTHING, event(kind, ADA))) == Counts()
    assert count_since_last_word((*EVERYTHING, event(kind, ADA), ITERATION)) == Counts(iterations=1)


@pytest.mark.parametrize("kind", [EventType.NOTED, EventType.FIELDS_CHANGED, EventType.TEXT_CHANGED])
def test_note_is_no_such_word(kind: EventType) -> None:
    assert count_since_last_word((*EVERYTHING, event(kind, ADA))).iterations == 2


@pytest.mark.parametrize("actor", [WORKER, ENGINE])
@pytest.mark.parametrize("kind", [EventType.ADVANCED, EventType.MOVED])
def test_step_ends_failed_checks_and_refusals_alone(kind: EventType, actor: Actor) -> None:
    assert count_since_last_word((*EVERYTHING, event(kind, actor))) == Counts(2, 0, 0, 1, 1)


def test_engines_awaiting_is_no_persons_word() -> None:
    assert count_since_last_word((*EVERYTHING, event(EventType.AWAITING_SET))) == Counts(2, 1, 2, 1, 1)


@pytest.mark.parametrize("trigger", [AwaitingSet(ADA, Awaiting.REVIEW), ApprovalVoided("it is too weak")])
def test_who_takes_an_approval_back_moved_no_head(trigger: Trigger) -> None:
    decision = run(make_merging(), trigger)
    assert EventType.VOIDED in kinds(decision)
    assert count_since_last_word(decision.events) == Counts()


@pytest.mark.parametrize(
    ("awaiting", "verdict", "expected"),
    [
        (Awaiting.WORK, Verdict.APPROVED, True),
        (Awaiting.APPROVAL, Verdict.APPROVED, False),
        (Awaiting.CHECKPOINT, Verdict.REJECTED, False),
    ],
)
def test_last_word_may_have_been_that_the_work_is_done(
    awaiting: Awaiting, verdict: Verdict, *, expected: bool
) -> None:
    given = run(make_task(awaiting=awaiting), answer(verdict), artifacts=HANDED_OFF)
    assert count_since_last_word(given.events).work_approved is expected
    if expected:
        failed = run(given.task, MergeFailed("conflict"), counts=count_since_last_word(given.events))
        assert failed.task.awaiting is Awaiting.WORK
        assert not count_since_last_word((*given.events, *failed.events)).work_approved
        later = (*given.events, *failed.events, event(EventType.AWAITING_SET, ADA))
        assert not count_since_last_word(later).work_approved


def test_interruptions_in_a_row_are_counted_until_something_else_ends_a_session_or_a_person_speaks() -> None:
    def end(ending: Ending) -> Event:
        return Event(EventType.SESSION_ENDED, AT, WORKER, data={"role": "worker", "ending": ending.value})

    cut = [end(Ending.INTERRUPTED)] * 3
    assert count_since_last_word(cut).interruptions == 3
    assert count_since_last_word([*cut, end(Ending.CLEAN), *cut[:1]]).interruptions == 1
    assert count_since_last_word([*cut, Event(EventType.VERDICT, AT, ADA)]).interruptions == 0


@pytest.mark.parametrize("marks", [["a", ["b"], {"c": 1}, 2], "a", None])
def test_marks_of_comments_are_texts_whatever_a_history_holds(marks: Any) -> None:
    found = count_since_last_word([event(EventType.NOTED, data={"taken": marks})])
    assert found.taken == (frozenset("a") if isinstance(marks, list) else frozenset())


def test_what_two_clones_saw_of_a_pull_request_counts_once_for_each_round() -> None:
    rounds = [1, 1, 2, 2]
    seen = [event(EventType.GATE_FAILED, data={"gate": "pull request", "round": one}) for one in rounds]
    assert count_since_last_word(seen).pulls_sent_back == len({*rounds})


def test_the_checks_of_a_hand_off_hold_for_its_head_alone() -> None:
    handed_off = Event(EventType.ADVANCED, AT, ENGINE, Status.WORKING, Status.AGENT_REVIEW)
    on = Event(EventType.ADVANCED, AT, ENGINE, Status.AGENT_REVIEW, Status.REVIEWING)
    history = with_checks((handed_off, on), "tests pass (1 s)", "a" * 40)
    assert history[1] == on
    assert checks_of(history, "a" * 40) == "tests pass (1 s)"
    assert checks_of(history, "b" * 40) is None
    assert checks_of((*history, handed_off), "a" * 40) is None
    assert checks_of((), None) is None
