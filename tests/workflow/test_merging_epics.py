"""Epics that follow their children."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitticks.model.event import ENGINE
from gitticks.model.ids import TaskId
from gitticks.model.notes import Section
from gitticks.model.settings import HumanPolicy, Policy, ReviewPolicy
from gitticks.model.status import Awaiting, Isolation, Requires, Status
from gitticks.model.task import Task
from gitticks.workflow.decision import Turn, whose_turn
from gitticks.workflow.merging import bind_epic, left_epic, merged_with
from gitticks.workflow.triggers import ChildrenChanged, MergeFound
from tests.support.decisions import (
    ADA,
    HANDED_OFF,
    HEAD,
    MERGE,
    START,
    make_epic,
    make_merging,
    make_task,
    run,
    waived,
    way,
)

EPIC_BRANCH = Policy(isolation=Isolation.EPIC)
ALL_CLOSED = ChildrenChanged(any_started=True, all_closed=True)
SOME_OPEN = ChildrenChanged(any_started=True, all_closed=False)
NONE_STARTED = ChildrenChanged(any_started=False, all_closed=False)


@pytest.mark.parametrize(
    ("between", "above", "left"),
    [
        (Status.WORKING, Status.WORKING, None),
        (Status.CANCELLED, Status.WORKING, "e1"),
        (Status.DONE, Status.WORKING, "e1"),
        (Status.WORKING, Status.DONE, "e1"),
    ],
)
def test_only_open_epics_in_one_another_make_one_whole(
    between: Status, above: Status, left: str | None
) -> None:
    task = make_task(branch="gitticks/work/e1")
    ancestors = [make_epic(between, id=TaskId("e2")), make_epic(above, id=TaskId("e1"))]
    assert left_epic(task, ancestors) == left


def test_what_was_merged_with_an_epic_keeps_that_merge_and_does_not_bind_it_again() -> None:
    epic = make_epic(Status.DONE, id=TaskId("e1"), merged_sha=MERGE)
    child = make_task(Status.DONE, branch="gitticks/work/e1", start_sha=START, end_sha=HEAD)
    kept = merged_with(epic, child)
    assert kept == replace(child, merged_sha=MERGE)
    assert merged_with(epic, kept) is None
    assert merged_with(epic, replace(child, branch="gitticks/work/k7f2")) is None
    assert merged_with(replace(epic, merged_sha=None), child) is None
    reopened = make_epic(Status.PENDING, id=TaskId("e1"))
    assert bind_epic(reopened, kept) is None
    assert bind_epic(reopened, child) is not None


def test_epic_works_from_its_first_childs_start() -> None:
    assert way(run(make_epic(Status.PENDING), NONE_STARTED)) == []
    decision = run(make_epic(Status.PENDING), SOME_OPEN)
    assert way(decision) == ["pending", "working"]
    assert whose_turn(decision.task) is Turn.CHILDREN


@pytest.mark.parametrize("human", HumanPolicy)
@pytest.mark.parametrize("isolation", [Isolation.TASK, Isolation.NONE])
def test_epic_without_code_is_done_with_its_children(human: HumanPolicy, isolation: Isolation) -> None:
    decision = run(
        make_epic(), ALL_CLOSED, artifacts=HANDED_OFF, policy=Policy(human=human, isolation=isolation)
    )
    assert way(decision) == ["working", "agent-review", "reviewing", "done"]
    assert waived(decision) == ["review", "person"]
    assert {event.actor for event in decision.events} == {ENGINE}


def test_epic_without_code_keeps_what_it_requires() -> None:
    decision = run(make_epic(requires=Requires.APPROVAL), ALL_CLOSED, artifacts=HANDED_OFF)
    assert way(decision) == ["working", "agent-review", "reviewing"]
    assert decision.task.awaiting is Awaiting.APPROVAL


@pytest.mark.parametrize(
    ("review", "human", "path", "turn"),
    [
        (ReviewPolicy.AGENT, HumanPolicy.ALWAYS, ["working", "agent-review"], Turn.REVIEWER),
        (ReviewPolicy.COUNCIL, HumanPolicy.WHEN_REQUIRED, ["working", "agent-review"], Turn.REVIEWER),
        (ReviewPolicy.NONE, HumanPolicy.ALWAYS, ["working", "agent-review", "reviewing"], Turn.PERSON),
        (ReviewPolicy.NONE, HumanPolicy.WHEN_REQUIRED, ["working", "agent-review", "reviewing"], Turn.MERGE),
    ],
)
def test_epic_with_a_branch_runs_on_as_the_gates_allow(
    review: ReviewPolicy, human: HumanPolicy, path: list[str], turn: Turn
) -> None:
    policy = Policy(review=review, human=human, isolation=Isolation.EPIC)
    decision = run(make_epic(), ALL_CLOSED, artifacts=HANDED_OFF, policy=policy)
    assert (way(decision), whose_turn(decision.task)) == (path, turn)
    assert decision.task.end_sha == HEAD


@pytest.mark.parametrize(
    "task",
    [
        make_epic(Status.AGENT_REVIEW),
        make_epic(Status.REVIEWING),
        make_epic(Status.REVIEWING, awaiting=None, approval=make_merging().approval),
    ],
)
def test_child_that_is_added_returns_the_epic(task: Task) -> None:
    for children in (SOME_OPEN, NONE_STARTED):
        decision = run(task, children, policy=EPIC_BRANCH)
        assert way(decision) == [str(task.status), "working"]
        assert (whose_turn(decision.task), decision.rework, decision.task.approval) == (
            Turn.CHILDREN,
            None,
            None,
        )
        assert Section.HANDOFF in decision.archived


@pytest.mark.parametrize(
    "task",
    [
        make_epic(awaiting=Awaiting.CHECKPOINT),
        make_epic(Status.PENDING, awaiting=Awaiting.APPROVAL),
        make_epic(Status.CLARIFICATION),
        make_epic(Status.STUCK),
        make_epic(Status.AGENT_REVIEW, awaiting=Awaiting.APPROVAL),
        make_epic(Status.DONE),
    ],
)
@pytest.mark.parametrize("children", [ALL_CLOSED, SOME_OPEN, NONE_STARTED])
def test_children_do_not_answer_for_a_person(task: Task, children: ChildrenChanged) -> None:
    decision = run(task, children, artifacts=HANDED_OFF)
    assert (decision.task, decision.steps) == (task, ())


def test_merge_by_hand_does_not_close_an_epic_whose_person_left_children_open() -> None:
    epic = make_epic(awaiting=Awaiting.WORK)
    found, open_child = MergeFound(ADA, MERGE), HANDED_OFF._replace(open_children=(TaskId("c4ld"),))
    asked = run(epic, found, policy=EPIC_BRANCH, artifacts=open_child)
    assert (asked.task.status, asked.task.awaiting) == (Status.WORKING, Awaiting.ESCALATION)
    doubtful = run(epic, found._replace(doubt="with `m3q8`"), policy=EPIC_BRANCH, artifacts=open_child)
    for decision in (asked, doubtful):
        question = str(decision.events[-1].reason)
        assert "though it has open children: `c4ld`" in question
        assert "accepts it as done" not in question
        assert "`gt respond k7f2` lets them continue" in question
    assert run(epic, found, policy=EPIC_BRANCH, artifacts=HANDED_OFF).task.status is Status.DONE


def test_all_closed_again_changes_nothing() -> None:
    for status in (Status.AGENT_REVIEW, Status.REVIEWING):
        task = make_epic(status)
        assert run(task, ALL_CLOSED, policy=EPIC_BRANCH).task == task


def test_epic_whose_only_child_is_closed_at_once() -> None:
    decision = run(make_epic(Status.PENDING), ALL_CLOSED)
    assert way(decision) == ["pending", "working", "agent-review", "reviewing", "done"]
