"""What the end of an agent's process means: every end with every artifact, counters, limits."""

from __future__ import annotations

import pytest

from gitticks.model.event import EventType
from gitticks.model.notes import ReviewOutcome, Section
from gitticks.model.status import Awaiting, Role, Status
from gitticks.model.task import Ending, Task, Usage
from gitticks.workflow.artifacts import Artifacts, Counts
from gitticks.workflow.decision import Turn, whose_turn
from gitticks.workflow.sessions import current_round, wants_checks
from gitticks.workflow.signals import Signal, SignalKind
from gitticks.workflow.triggers import SessionEnded
from tests.support.decisions import (
    CRASHES,
    CUT_OFF,
    FINISHED,
    HANDED_OFF,
    HEAD,
    NOTHING,
    PASSED,
    RED,
    WORKER,
    ended,
    is_iteration,
    kinds,
    make_epic,
    make_task,
    run,
    way,
)

# The end of a worker without a signal


@pytest.mark.parametrize("ending", FINISHED)
def test_handoff_advances_however_the_worker_ended(ending: Ending) -> None:
    task = make_task(crash_count=1)
    decision = run(task, ended(task, ending), artifacts=HANDED_OFF)
    assert way(decision) == ["working", "agent-review"]
    assert decision.events[0].type is EventType.ADVANCED
    assert decision.events[0].reason
    assert (decision.task.review_round, decision.task.crash_count, decision.task.end_sha) == (1, 0, HEAD)
    assert decision.archived == (Section.REVIEW,)
    assert whose_turn(decision.task) is Turn.REVIEWER
    assert not is_iteration(decision)


@pytest.mark.parametrize("artifacts", [NOTHING, HANDED_OFF, RED])
@pytest.mark.parametrize("kind", [None, *SignalKind])
def test_after_a_stop_nothing_advances(artifacts: Artifacts, kind: SignalKind | None) -> None:
    task = make_task(crash_count=1)
    decision = run(task, ended(task, Ending.STOPPED, kind, "words"), artifacts=artifacts)
    assert decision.steps == ()
    assert decision.task == task
    assert not is_iteration(decision)


def test_clean_end_without_handoff_is_an_iteration() -> None:
    decision = run(make_task(), ended(make_task()), counts=Counts(iterations=8))
    assert decision.task == make_task()
    assert is_iteration(decision)


@pytest.mark.parametrize("ending", CRASHES)
def test_crash_without_handoff(ending: Ending) -> None:
    first = run(make_task(), ended(make_task(), ending, detail="exit 1"))
    assert (first.task.status, first.task.crash_count) == (Status.WORKING, 1)
    (crash,) = (event for event in first.events if event.type is EventType.CRASHED)
    assert (crash.reason, crash.data) == ("exit 1", {"status": "working", "crash_count": 1})
    assert is_iteration(first)
    second = run(first.task, ended(first.task, ending))
    assert way(second) == ["working", "stuck"]
    assert (second.task.awaiting, second.task.crash_count) == (Awaiting.ESCALATION, 2)
    assert whose_turn(second.task) is Turn.PERSON


@pytest.mark.parametrize("ending", CUT_OFF)
@pytest.mark.parametrize(
    "kind", [None, SignalKind.COMPLETE, SignalKind.CONTINUE, SignalKind.FAILED, SignalKind.INPUT_NEEDED]
)
@pytest.mark.parametrize("artifacts", [NOTHING, RED])
def test_what_is_no_crash_counts_nothing(
    ending: Ending, kind: SignalKind | None, artifacts: Artifacts
) -> None:
    task = make_task(crash_count=1)
    most = Counts(iterations=99, failed_checks=9, refusals=1)
    decision = run(task, ended(task, ending, kind), artifacts=artifacts, counts=most)
    assert decision.task == task
    assert kinds(decision) == [EventType.SESSION_ENDED]
    assert not is_iteration(decision)


@pytest.mark.parametrize("ending", CUT_OFF)
def test_question_before_an_outage_is_asked(ending: Ending) -> None:
    task = make_task()
    decision = run(task, ended(task, ending, SignalKind.INPUT_NEEDED, "which?"))
    assert decision.task.awaiting is Awaiting.INPUT


@pytest.mark.parametrize("ending", [Ending.REFUSED, Ending.START_FAILED])
@pytest.mark.parametrize("status", [Status.WORKING, Status.AGENT_REVIEW])
@pytest.mark.parametrize("artifacts", [NOTHING, HANDED_OFF, PASSED])
def test_two_refusals_or_failed_starts(ending: Ending, status: Status, artifacts: Artifacts) -> None:
    task = make_task(status)
    first = run(task, ended(task, ending, detail="no disk"), artifacts=artifacts)
    assert first.task == task
    assert kinds(first)[0] in (EventType.REFUSED, EventType.START_FAILED)
    second = run(task, ended(task, ending, detail="no disk"), artifacts=artifacts, counts=Counts(refusals=1))
    assert way(second) == [str(status), "stuck"]
    assert str(second.steps[0].reason).endswith("no disk")


def test_start_that_fails_before_the_first_work() -> None:
    task = make_task(Status.PENDING)
    first = run(task, ended(task, Ending.START_FAILED))
    assert (first.task, first.steps) == (task, ())
    second = run(task, ended(task, Ending.START_FAILED), counts=Counts(refusals=1))
    assert way(second) == ["pending", "working", "stuck"]


@pytest.mark.parametrize("ending", [ending for ending in Ending if ending is not Ending.START_FAILED])
def test_nothing_else_ends_in_pending(ending: Ending) -> None:
    task = make_task(Status.PENDING)
    assert run(task, ended(task, ending, SignalKind.COMPLETE), artifacts=HANDED_OFF).task == task


# What does not count any more


@pytest.mark.parametrize("ending", Ending)
@pytest.mark.parametrize(
    ("task", "role", "number"),
    [
        (make_task(), Role.WORKER, 2),
        (make_task(review_round=2), Role.WORKER, 2),
        (make_task(), Role.REVIEWER, 1),
        (make_task(), Role.CLARIFIER, 1),
        (make_task(Status.AGENT_REVIEW), Role.WORKER, 1),
        (make_task(Status.AGENT_REVIEW), Role.WORKER, 2),
        (make_task(Status.AGENT_REVIEW, review_round=2), Role.REVIEWER, 1),
        (make_task(Status.REVIEWING), Role.REVIEWER, 1),
        (make_task(Status.STUCK), Role.WORKER, 1),
        (make_task(Status.DONE), Role.WORKER, 1),
        (make_task(Status.CANCELLED), Role.REVIEWER, 1),
        (make_task(awaiting=Awaiting.WORK), Role.WORKER, 1),
        (make_task(Status.AGENT_REVIEW, awaiting=Awaiting.APPROVAL), Role.REVIEWER, 1),
        (make_epic(), Role.WORKER, 1),
    ],
)
def test_end_that_does_not_fit_the_task_is_only_recorded(
    task: Task, role: Role, number: int, ending: Ending
) -> None:
    everything = Artifacts(handoff=True, review=ReviewOutcome.PASS, head=HEAD)
    signal = Signal(SignalKind.COMPLETE, "all done")
    trigger = SessionEnded(WORKER, role, number, ending, signal, warnings=("odd",), detail="late")
    decision = run(task, trigger, artifacts=everything, counts=Counts(99, 99, 99, 99, 99))
    assert decision.task == task
    assert kinds(decision) == [EventType.WARNED, EventType.SESSION_ENDED]
    assert [entry.text for _, entry in decision.entries] == ["all done"]
    assert not is_iteration(decision)
    record = decision.events[-1]
    assert (record.reason, record.data["ending"], record.data["round"]) == ("late", ending.value, number)


def test_the_record_of_an_end_holds_what_the_session_took_as_far_as_it_is_known() -> None:
    task = make_task(status=Status.WORKING)
    spent = SessionEnded(
        WORKER, Role.WORKER, 1, Ending.CRASHED, spent=Usage(1, tokens_in=120, cost=0.25, seconds=61.5)
    )
    record = run(task, spent).events[-1].data
    assert (record["tokens_in"], record["cost"], record["seconds"]) == (120, 0.25, 61.5)
    assert "tokens_out" not in record
    assert "cost" not in run(task, SessionEnded(WORKER, Role.WORKER, 1, Ending.CRASHED)).events[-1].data


@pytest.mark.parametrize(
    ("role", "completed", "expected"),
    [(Role.WORKER, 0, 1), (Role.WORKER, 3, 4), (Role.REVIEWER, 1, 1), (Role.REVIEWER, 3, 3)],
)
def test_current_round(role: Role, completed: int, expected: int) -> None:
    assert current_round(make_task(review_round=completed), role) == expected


# When the quality gates are worth running


@pytest.mark.parametrize("ending", Ending)
@pytest.mark.parametrize("kind", [None, *SignalKind])
@pytest.mark.parametrize("handoff", [True, False])
def test_checks_run_where_a_hand_off_is_asked_for(
    ending: Ending, kind: SignalKind | None, *, handoff: bool
) -> None:
    task = make_task()
    end = ended(task, ending, kind, "words")
    asks = run(task, end, artifacts=Artifacts(handoff=handoff)).task.status is Status.AGENT_REVIEW
    assert wants_checks(task, end, handoff=handoff) is asks


@pytest.mark.parametrize(
    "task",
    [
        make_task(Status.AGENT_REVIEW),
        make_task(awaiting=Awaiting.WORK),
        make_task(Status.PENDING),
        make_epic(),
    ],
)
def test_checks_do_not_run_for_an_end_that_does_not_count(task: Task) -> None:
    assert not wants_checks(task, ended(task, role=Role.WORKER), handoff=True)
    assert not wants_checks(task, ended(task), handoff=True)
