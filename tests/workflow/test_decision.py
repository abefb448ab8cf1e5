"""Whose turn it is in every state, and waivers: events of their own, one step a transition."""

from __future__ import annotations

import pytest

from gitticks.model.event import ENGINE, EventType
from gitticks.model.settings import HumanPolicy, MergeMode, Policy, ReviewPolicy
from gitticks.model.status import Awaiting, Requires, Status
from gitticks.workflow.decision import Turn, whose_turn
from gitticks.workflow.triggers import PolicyChanged
from tests.support.decisions import (
    HANDED_OFF,
    START,
    ended,
    kinds,
    make_epic,
    make_merging,
    make_task,
    run,
    waived,
    way,
)

TURNS = [
    (Status.PENDING, Turn.WORKER),
    (Status.WORKING, Turn.WORKER),
    (Status.CLARIFICATION, Turn.PERSON),
    (Status.AGENT_REVIEW, Turn.REVIEWER),
    (Status.REVIEWING, Turn.PERSON),
    (Status.STUCK, Turn.PERSON),
    (Status.DONE, Turn.NOBODY),
    (Status.CANCELLED, Turn.NOBODY),
]


@pytest.mark.parametrize(("status", "turn"), TURNS)
def test_turn(status: Status, turn: Turn) -> None:
    assert whose_turn(make_task(status)) is turn
    epic_turn = Turn.CHILDREN if turn is Turn.WORKER else turn
    assert whose_turn(make_epic(status)) is epic_turn


@pytest.mark.parametrize("awaiting", Awaiting)
@pytest.mark.parametrize("status", [status for status in Status if not status.is_terminal])
def test_turn_of_what_awaits_a_person(status: Status, awaiting: Awaiting) -> None:
    assert whose_turn(make_task(status, awaiting=awaiting)) is Turn.PERSON


def test_turn_while_merging() -> None:
    assert whose_turn(make_merging()) is Turn.MERGE


# review, human, merge mode, requires, whether there is code; the way, and the gates that were waived
RUNS = [
    ("agent", "always", "queue", None, True, "agent-review", []),
    ("council", "when-required", "queue", None, True, "agent-review", []),
    ("none", "always", "queue", None, True, "agent-review reviewing", ["review"]),
    ("none", "when-required", "queue", "content", True, "agent-review reviewing", ["review"]),
    ("none", "when-required", "queue", None, True, "agent-review reviewing", ["review", "person"]),
    ("none", "when-required", "manual", None, True, "agent-review reviewing", ["review", "person"]),
    ("none", "when-required", "queue", None, False, "agent-review reviewing done", ["review", "person"]),
    ("none", "when-required", "manual", None, False, "agent-review reviewing done", ["review", "person"]),
]


@pytest.mark.parametrize(("review", "human", "mode", "requires", "code", "path", "gates"), RUNS)
def test_hand_off_runs_on_as_the_gates_allow(
    *, review: str, human: str, mode: str, requires: str | None, code: bool, path: str, gates: list[str]
) -> None:
    artifacts = HANDED_OFF
    task = make_task(requires=Requires(requires) if requires else None)
    if not code:
        task = make_task(start_sha=artifacts.head)
    policy = Policy(review=ReviewPolicy(review), human=HumanPolicy(human), merge_mode=MergeMode(mode))
    decision = run(task, ended(task), artifacts=artifacts, policy=policy)
    assert way(decision) == ["working", *path.split()]
    assert waived(decision) == gates
    assert all(event.actor == ENGINE for event in decision.events if event.type is EventType.WAIVED)


def test_manual_mode_leaves_waived_work_to_a_person() -> None:
    task = make_task()
    policy = Policy(review=ReviewPolicy.NONE, human=HumanPolicy.WHEN_REQUIRED, merge_mode=MergeMode.MANUAL)
    decision = run(task, ended(task), artifacts=HANDED_OFF, policy=policy)
    assert (decision.task.awaiting, decision.task.approval) == (Awaiting.WORK, None)
    assert whose_turn(decision.task) is Turn.PERSON


def test_review_that_no_agent_can_give_is_waived_with_its_reason() -> None:
    task = make_task()
    decision = run(
        task, ended(task), artifacts=HANDED_OFF, policy=Policy(review_waiver="the script has no reviewer")
    )
    assert way(decision) == ["working", "agent-review", "reviewing"]
    (waiver,) = (event for event in decision.events if event.type is EventType.WAIVED)
    assert waiver.reason == "the script has no reviewer"


def test_review_that_policy_drops_lets_a_waiting_task_go_on() -> None:
    task = make_task(Status.AGENT_REVIEW)
    assert run(task, PolicyChanged()).steps == ()
    none = Policy(review=ReviewPolicy.NONE)
    assert way(run(task, PolicyChanged(), policy=none)) == ["agent-review", "reviewing"]
    held = make_task(Status.AGENT_REVIEW, awaiting=Awaiting.APPROVAL)
    assert run(held, PolicyChanged(), policy=none).task == held
    asked = make_task(Status.REVIEWING)
    assert run(asked, PolicyChanged(), policy=Policy(human=HumanPolicy.WHEN_REQUIRED)).task == asked


def test_empty_hand_off_is_done_without_a_merge() -> None:
    task = make_task(Status.AGENT_REVIEW, end_sha=START)
    policy = Policy(review=ReviewPolicy.NONE, human=HumanPolicy.WHEN_REQUIRED)
    assert run(task, PolicyChanged(), policy=policy).task.status is Status.DONE
    assert EventType.MERGED not in kinds(run(task, PolicyChanged(), policy=policy))
