"""What the end of a reviewer's process means, and of a council's time."""

from __future__ import annotations

from itertools import product

import pytest

from gitticks.errors import RefusedError
from gitticks.model.event import EventType
from gitticks.model.notes import ReviewOutcome, Section
from gitticks.model.settings import HumanPolicy, Policy, ReviewPolicy
from gitticks.model.status import Awaiting, Requires, Status
from gitticks.model.task import Ending, Task
from gitticks.workflow.artifacts import Artifacts, Counts
from gitticks.workflow.decision import Turn, whose_turn
from gitticks.workflow.signals import SignalKind
from gitticks.workflow.triggers import CouncilUndecided
from tests.support.decisions import (
    CRASHES,
    CUT_OFF,
    FAILED,
    FINISHED,
    HEAD,
    NOTHING,
    OTHER_HEAD,
    PASSED,
    ended,
    is_iteration,
    kinds,
    make_task,
    run,
    waived,
    way,
)

UNCLEAR = Artifacts(review=ReviewOutcome.UNCLEAR, head=HEAD)
COUNCIL = Policy(review=ReviewPolicy.COUNCIL)


@pytest.mark.parametrize("ending", FINISHED)
@pytest.mark.parametrize("kind", [None, *SignalKind])
def test_review_decides_not_the_signal(ending: Ending, kind: SignalKind | None) -> None:
    task = make_task(Status.AGENT_REVIEW, failed_reviews=0, crash_count=1)
    passed = run(task, ended(task, ending, kind, "fine"), artifacts=PASSED)
    assert way(passed) == ["agent-review", "reviewing"]
    assert (passed.task.awaiting, passed.task.crash_count) == (Awaiting.REVIEW, 0)
    failed = run(task, ended(task, ending, kind, "bad"), artifacts=FAILED)
    assert way(failed) == ["agent-review", "working"]
    assert (failed.task.failed_reviews, failed.task.review_round) == (1, 1)
    assert failed.archived == (Section.HANDOFF,)
    assert whose_turn(failed.task) is Turn.WORKER
    assert [section for section, _ in passed.entries] == ([Section.NOTES] if kind else [])


@pytest.mark.parametrize(
    ("ending", "what"), [(Ending.REFUSED, "refused"), (Ending.START_FAILED, "could not be started")]
)
def test_a_reviewer_that_cannot_review_is_named_as_the_reason(ending: Ending, what: str) -> None:
    task = make_task(Status.AGENT_REVIEW)
    over = run(task, ended(task, ending, detail="log in first"), counts=Counts(refusals=1))
    assert over.task.status is Status.STUCK
    assert over.steps[-1].reason == f"its reviewer `claude` {what}: log in first"


def test_pass_ends_a_row_of_fails() -> None:
    task = make_task(Status.AGENT_REVIEW, failed_reviews=1)
    assert run(task, ended(task), artifacts=PASSED).task.failed_reviews == 0


def test_second_fail_of_a_single_reviewer_is_stuck() -> None:
    task = make_task(Status.AGENT_REVIEW, failed_reviews=1)
    decision = run(task, ended(task), artifacts=FAILED)
    assert way(decision) == ["agent-review", "stuck"]
    assert (decision.task.awaiting, decision.task.failed_reviews) == (Awaiting.ESCALATION, 2)


@pytest.mark.parametrize("human", HumanPolicy)
def test_fourth_block_of_a_council_goes_to_a_person(human: HumanPolicy) -> None:
    policy = Policy(review=ReviewPolicy.COUNCIL, human=human)
    for before in range(3):
        task = make_task(Status.AGENT_REVIEW, failed_reviews=before)
        assert way(run(task, ended(task), artifacts=FAILED, policy=policy)) == ["agent-review", "working"]
    task = make_task(Status.AGENT_REVIEW, failed_reviews=3)
    decision = run(task, ended(task), artifacts=FAILED, policy=policy)
    assert way(decision) == ["agent-review", "reviewing"]
    assert decision.steps[0].reason == "rounds-exhausted"
    assert (decision.task.awaiting, waived(decision)) == (Awaiting.REVIEW, [])


@pytest.mark.parametrize("artifacts", [Artifacts(handoff=True, head=HEAD), UNCLEAR])
@pytest.mark.parametrize("ending", [Ending.CLEAN, *CRASHES])
def test_review_without_a_verdict_is_a_crash(artifacts: Artifacts, ending: Ending) -> None:
    task = make_task(Status.AGENT_REVIEW)
    first = run(task, ended(task, ending), artifacts=artifacts)
    assert (first.task.status, first.task.crash_count) == (Status.AGENT_REVIEW, 1)
    second = run(first.task, ended(first.task, ending), artifacts=artifacts)
    assert way(second) == ["agent-review", "stuck"]
    assert str(second.steps[0].reason).startswith("its reviewer `claude` crashed: ")


@pytest.mark.parametrize("ending", [Ending.STOPPED, *CUT_OFF])
@pytest.mark.parametrize("artifacts", [NOTHING, UNCLEAR])
def test_reviewer_that_was_cut_off(ending: Ending, artifacts: Artifacts) -> None:
    task = make_task(Status.AGENT_REVIEW, crash_count=1)
    assert run(task, ended(task, ending), artifacts=artifacts).task == task


def test_reviewer_never_uses_up_iterations() -> None:
    task = make_task(Status.AGENT_REVIEW)
    decision = run(task, ended(task), counts=Counts(iterations=99))
    assert not is_iteration(decision)
    assert decision.task.status is Status.AGENT_REVIEW


def test_review_of_a_head_that_moved_is_void() -> None:
    task = make_task(Status.AGENT_REVIEW)
    moved = Artifacts(handoff=True, review=ReviewOutcome.PASS, head=OTHER_HEAD)
    decision = run(task, ended(task), artifacts=moved)
    assert decision.steps == ()
    assert decision.task.end_sha == OTHER_HEAD
    assert decision.archived == (Section.REVIEW,)
    assert EventType.VOIDED in kinds(decision)
    assert way(run(task, ended(task), artifacts=moved, counts=Counts(voids=1))) == ["agent-review", "stuck"]


@pytest.mark.parametrize(("human", "requires"), list(product(HumanPolicy, [None, Requires.APPROVAL])))
def test_council_that_ran_out_of_time(human: HumanPolicy, requires: Requires | None) -> None:
    task = make_task(Status.AGENT_REVIEW, requires=requires)
    decision = run(task, CouncilUndecided(), policy=Policy(review=ReviewPolicy.COUNCIL, human=human))
    assert way(decision) == ["agent-review", "reviewing"]
    assert decision.steps[0].reason == "council-timeout"
    assert decision.task.awaiting is (Awaiting.APPROVAL if requires else Awaiting.REVIEW)
    assert waived(decision) == []


@pytest.mark.parametrize(
    ("task", "policy"),
    [
        (make_task(), COUNCIL),
        (make_task(Status.REVIEWING), COUNCIL),
        (make_task(Status.AGENT_REVIEW, awaiting=Awaiting.APPROVAL), COUNCIL),
        (make_task(Status.AGENT_REVIEW), Policy()),
    ],
)
def test_no_council_no_time_out(task: Task, policy: Policy) -> None:
    with pytest.raises(RefusedError, match="no council reviews"):
        run(task, CouncilUndecided(), policy=policy)
