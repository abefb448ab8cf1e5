"""What each signal of a worker does when its process ends, with and without the artifacts it needs."""

from __future__ import annotations

import pytest

from gitticks.model.event import EventType
from gitticks.model.notes import Section
from gitticks.model.settings import HumanPolicy, Policy, ReviewPolicy
from gitticks.model.status import Awaiting, Requires, Role, Status
from gitticks.model.task import Approval, Ending
from gitticks.workflow.artifacts import Artifacts
from gitticks.workflow.signals import Signal, SignalKind
from gitticks.workflow.triggers import SessionEnded
from tests.support.decisions import (
    AT,
    FAILED,
    HANDED_OFF,
    HEAD,
    NOTHING,
    PASSED,
    WORKER,
    ended,
    is_iteration,
    kinds,
    make_merging,
    make_task,
    run,
    waived,
    way,
)


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        (SignalKind.COMPLETE, None),
        (SignalKind.APPROVAL_NEEDED, Requires.APPROVAL),
        (SignalKind.REVIEW_REQUESTED, Requires.REVIEW),
        (SignalKind.CONTENT_REVIEW, Requires.CONTENT),
    ],
)
@pytest.mark.parametrize("human", HumanPolicy)
@pytest.mark.parametrize("requires", [None, *Requires])
def test_signal_that_hands_off(
    kind: SignalKind, asked: Requires | None, human: HumanPolicy, requires: Requires | None
) -> None:
    task = make_task(requires=requires)
    decision = run(
        task,
        ended(task, Ending.CLEAN, kind, "see https://example.org/pull/7"),
        artifacts=HANDED_OFF,
        policy=Policy(review=ReviewPolicy.NONE, human=human),
    )
    waits = human is HumanPolicy.ALWAYS or asked is not None or requires is not None
    assert decision.task.status is Status.REVIEWING
    assert decision.task.is_merging is not waits
    expected = requires or asked or Requires.REVIEW
    assert decision.task.awaiting is (expected.awaiting if waits else None)
    assert decision.task.pr == ("https://example.org/pull/7" if asked else None)
    assert waived(decision) == (["review"] if waits else ["review", "person"])
    assert [(section, entry.kind.value) for section, entry in decision.entries] == [(Section.NOTES, "agent")]


def test_what_was_asked_is_kept_through_the_review_and_dropped_at_a_return() -> None:
    task = make_task()
    handed = run(task, ended(task, kind=SignalKind.CONTENT_REVIEW), artifacts=HANDED_OFF).task
    assert handed.asked is Requires.CONTENT
    reviewed = run(
        handed, ended(handed), artifacts=PASSED, policy=Policy(human=HumanPolicy.WHEN_REQUIRED)
    ).task
    assert reviewed.awaiting is Awaiting.CONTENT
    assert run(handed, ended(handed), artifacts=FAILED).task.asked is None


@pytest.mark.parametrize("kind", [SignalKind.COMPLETE, SignalKind.APPROVAL_NEEDED])
def test_signal_whose_gate_is_shut_leaves_nothing_asked(kind: SignalKind) -> None:
    task = make_task()
    decision = run(task, ended(task, Ending.CLEAN, kind))
    assert (decision.task.status, decision.task.asked) == (Status.WORKING, None)
    assert is_iteration(decision)


@pytest.mark.parametrize("artifacts", [NOTHING, HANDED_OFF])
@pytest.mark.parametrize(
    ("kind", "awaiting"),
    [(SignalKind.INPUT_NEEDED, Awaiting.INPUT), (SignalKind.ESCALATE, Awaiting.ESCALATION)],
)
def test_signal_that_asks(kind: SignalKind, awaiting: Awaiting, artifacts: Artifacts) -> None:
    task = make_task()
    signal = Signal(kind, "which port?", context="two are free", issues=("slow disk",))
    decision = run(task, SessionEnded(WORKER, Role.WORKER, 1, Ending.CLEAN, signal), artifacts=artifacts)
    assert way(decision) == ["working", "clarification"]
    assert decision.task.awaiting is awaiting
    assert [(section, entry.text) for section, entry in decision.entries] == [
        (Section.QUESTIONS, "which port?\n\ntwo are free"),
        (Section.NOTES, "- slow disk"),
    ]
    assert decision.archived == ()
    assert EventType.ASKED in kinds(decision)


@pytest.mark.parametrize("kind", [SignalKind.INPUT_NEEDED, SignalKind.ESCALATE])
def test_signal_that_asks_nothing(kind: SignalKind) -> None:
    task = make_task()
    decision = run(task, ended(task, Ending.CLEAN, kind))
    assert decision.task == task
    assert is_iteration(decision)
    asked = run(task, ended(task, Ending.CLEAN, kind), artifacts=Artifacts(open_question=True))
    assert asked.task.status is Status.CLARIFICATION
    assert asked.entries == ()


@pytest.mark.parametrize("artifacts", [NOTHING, HANDED_OFF])
@pytest.mark.parametrize(
    ("kind", "awaiting"), [(SignalKind.CHECKPOINT, Awaiting.CHECKPOINT), (SignalKind.EJECT, Awaiting.WORK)]
)
def test_signal_that_stays(kind: SignalKind, awaiting: Awaiting, artifacts: Artifacts) -> None:
    task = make_task()
    decision = run(task, ended(task, Ending.CLEAN, kind, "phase one"), artifacts=artifacts)
    assert (decision.task.status, decision.task.awaiting) == (Status.WORKING, awaiting)
    assert decision.steps == ()
    assert decision.archived == ()
    assert is_iteration(decision)


def test_continue_and_failed_hold_whatever_artifacts_are_there() -> None:
    task = make_task()
    goes_on = run(task, ended(task, kind=SignalKind.CONTINUE), artifacts=HANDED_OFF)
    assert (goes_on.task, is_iteration(goes_on)) == (task, True)
    failed = run(task, ended(task, Ending.CLEAN, SignalKind.FAILED, "no compiler"), artifacts=HANDED_OFF)
    assert (failed.task.status, failed.task.crash_count) == (Status.WORKING, 1)
    (crash,) = (event for event in failed.events if event.type is EventType.CRASHED)
    assert crash.reason == "no compiler"


def said_after_hand_off(kind: SignalKind) -> SessionEnded:
    """Returns the end of the worker's session that has handed off by command what is in review."""
    return SessionEnded(WORKER, Role.WORKER, 1, Ending.CLEAN, Signal(kind, "which port?"))


@pytest.mark.parametrize(
    ("kind", "awaiting", "section"),
    [
        (SignalKind.APPROVAL_NEEDED, None, Section.NOTES),
        (SignalKind.INPUT_NEEDED, Awaiting.INPUT, Section.QUESTIONS),
        (SignalKind.ESCALATE, Awaiting.ESCALATION, Section.QUESTIONS),
        (SignalKind.CHECKPOINT, Awaiting.CHECKPOINT, Section.NOTES),
        (SignalKind.EJECT, Awaiting.WORK, Section.NOTES),
    ],
)
def test_a_person_for_whom_a_signal_asks_after_the_hand_off_by_command_is_asked(
    kind: SignalKind, awaiting: Awaiting | None, section: Section
) -> None:
    in_review = run(make_task(Status.AGENT_REVIEW), said_after_hand_off(kind))
    assert (in_review.task.status, in_review.task.awaiting) == (Status.AGENT_REVIEW, awaiting)
    assert [name for name, _ in in_review.entries] == [section]
    waived_approval = Approval("gitticks", AT, HEAD, "waived")
    merging = run(make_merging(approval=waived_approval), said_after_hand_off(kind))
    wanted = kind.asked or Requires.REVIEW
    for decision in (in_review, merging):
        (warned,) = (event.reason for event in decision.events if event.type is EventType.WARNED)
        assert warned == f"the signal `{kind}` came after the hand-off: a person is asked"
        assert decision.task.asked is kind.asked
    assert (merging.task.awaiting, merging.task.approval) == (wanted.awaiting, None)
    assert run(make_merging(), said_after_hand_off(kind)).task == make_merging()


@pytest.mark.parametrize(
    ("status", "kind", "warns"),
    [
        (Status.AGENT_REVIEW, SignalKind.COMPLETE, False),
        (Status.REVIEWING, SignalKind.INPUT_NEEDED, True),
        (Status.REVIEWING, SignalKind.APPROVAL_NEEDED, True),
        (Status.CLARIFICATION, SignalKind.INPUT_NEEDED, False),
        (Status.CLARIFICATION, SignalKind.COMPLETE, True),
        (Status.CANCELLED, SignalKind.COMPLETE, False),
    ],
)
def test_a_signal_that_differs_from_what_was_asked_by_command_causes_a_warning(
    status: Status, kind: SignalKind, *, warns: bool
) -> None:
    task = make_task(status)
    decision = run(task, said_after_hand_off(kind))
    assert decision.task == task
    assert [section for section, _ in decision.entries] == [Section.NOTES]
    warned = [event.reason for event in decision.events if event.type is EventType.WARNED]
    assert warned == ([f"the signal `{kind}` came too late: the task was {status.words}"] if warns else [])
