"""How many iterations, failed checks and missing hand-offs a task may have."""

from __future__ import annotations

import pytest

from gitticks.model.event import EventType
from gitticks.model.settings import Policy
from gitticks.model.status import Awaiting, Status
from gitticks.model.task import Ending
from gitticks.workflow.artifacts import Counts
from gitticks.workflow.signals import SignalKind
from tests.support.decisions import HANDED_OFF, RED, ended, is_iteration, make_task, run, way


@pytest.mark.parametrize(
    ("ending", "kind"),
    [
        (Ending.CLEAN, None),
        (Ending.CLEAN, SignalKind.COMPLETE),
        (Ending.CLEAN, SignalKind.CONTINUE),
        (Ending.CLEAN, SignalKind.FAILED),
        (Ending.CRASHED, None),
        (Ending.REFUSED, None),
        (Ending.START_FAILED, None),
    ],
)
def test_iteration_limit(ending: Ending, kind: SignalKind | None) -> None:
    task = make_task()
    below = run(task, ended(task, ending, kind), counts=Counts(iterations=1), policy=Policy(iterations=3))
    assert below.task.status is Status.WORKING
    assert is_iteration(below)
    at = run(task, ended(task, ending, kind), counts=Counts(iterations=2), policy=Policy(iterations=3))
    assert way(at) == ["working", "stuck"]
    assert at.task.awaiting is Awaiting.ESCALATION
    assert at.steps[0].reason == "3 iterations without a hand-off"
    only = run(task, ended(task, ending, kind), policy=Policy(iterations=1))
    assert only.steps[0].reason == "1 iteration without a hand-off"


def test_at_the_iteration_limit_a_person_learns_why_the_last_hand_off_was_refused() -> None:
    task = make_task()
    decision = run(task, ended(task), artifacts=RED, counts=Counts(iterations=1), policy=Policy(iterations=2))
    assert decision.steps[0].reason == "2 iterations, the last hand-off refused: `make test` failed"


def test_at_the_iteration_limit_a_person_learns_how_the_last_session_failed() -> None:
    task = make_task()
    silent = ended(task, Ending.TIMED_OUT, detail="printed nothing for `limits.idle`")
    decision = run(task, silent, policy=Policy(iterations=1))
    assert decision.steps[0].reason == (
        "1 iteration without a hand-off; the last session: printed nothing for `limits.idle`"
    )


def test_last_iteration_may_hand_off_or_ask() -> None:
    task = make_task()
    used, limit = Counts(iterations=2), Policy(iterations=3)
    handed_off = run(task, ended(task), artifacts=HANDED_OFF, counts=used, policy=limit)
    assert handed_off.task.status is Status.AGENT_REVIEW
    asked = run(task, ended(task, kind=SignalKind.CHECKPOINT), counts=used, policy=limit)
    assert (asked.task.status, asked.task.awaiting) == (Status.WORKING, Awaiting.CHECKPOINT)


def test_failed_checks_are_fed_back_twice_then_crash() -> None:
    task = make_task()
    for before in (0, 1):
        decision = run(task, ended(task), artifacts=RED, counts=Counts(failed_checks=before))
        assert decision.task == task
        (failure,) = (event for event in decision.events if event.type is EventType.GATE_FAILED)
        assert (failure.reason, failure.data) == ("`make test` failed", {"gate": "checks"})
        assert is_iteration(decision)
    third = run(task, ended(task), artifacts=RED, counts=Counts(failed_checks=2))
    assert (third.task.status, third.task.crash_count) == (Status.WORKING, 1)
    fourth = run(third.task, ended(task), artifacts=RED, counts=Counts(failed_checks=3))
    assert way(fourth) == ["working", "stuck"]


def test_missing_handoff_is_no_failed_check() -> None:
    task = make_task()
    decision = run(task, ended(task, kind=SignalKind.COMPLETE), counts=Counts(failed_checks=5))
    assert (decision.task.status, decision.task.crash_count) == (Status.WORKING, 0)
    (failure,) = (event for event in decision.events if event.type is EventType.GATE_FAILED)
    assert failure.data == {"gate": "handoff"}
    assert "`## Handoff` is missing" in str(failure.reason)


@pytest.mark.parametrize("status", [Status.WORKING, Status.AGENT_REVIEW])
def test_a_task_whose_runner_dies_each_time_is_stuck_in_the_end(status: Status) -> None:
    task = make_task(status=status)
    below = run(task, ended(task, Ending.INTERRUPTED), counts=Counts(interruptions=8))
    assert (below.task.status, below.task.crash_count) == (status, 0)
    at = run(task, ended(task, Ending.INTERRUPTED), counts=Counts(interruptions=9))
    assert (at.task.status, at.task.awaiting) == (Status.STUCK, Awaiting.ESCALATION)
    who = "the agent" if status is Status.WORKING else "its reviewer `claude`"
    assert at.steps[-1].reason == f"{who} was interrupted 10 times in a row: its runner died"
