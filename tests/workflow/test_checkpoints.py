"""When a checkpoint is due, its number, and what going back to one does to a task."""

from __future__ import annotations

import pytest

from gitticks.errors import RefusedError
from gitticks.model.checkpoint import is_due, nearest_number, next_number
from gitticks.model.event import ENGINE, EventType
from gitticks.model.notes import Section
from gitticks.model.status import Awaiting, Status
from gitticks.model.task import Approval, Task, Usage
from gitticks.workflow.decision import Decision
from gitticks.workflow.triggers import Resumed
from tests.support.decisions import ADA, AT, make_epic, make_task, run

THEN = Usage(14, 1000, 200, 0.5, 60.0)


def resumed(task: Task) -> Decision:
    return run(task, Resumed(ADA, "k7f2-14", "a" * 40, THEN, "b" * 40))


@pytest.mark.parametrize(
    ("before", "after", "every", "due"),
    [(0, 1, 1, True), (3, 4, 5, False), (4, 5, 5, True), (4, 7, 5, True), (5, 6, 5, False), (9, 10, 5, True)],
)
def test_one_is_due_at_each_multiple(before: int, after: int, every: int, *, due: bool) -> None:
    assert is_due(before, after, every) is due


@pytest.mark.parametrize(
    ("iteration", "taken", "number"),
    [(5, [], 5), (0, [], 1), (10, [5], 10), (5, [5], 6), (6, [5, 10], 11), (0, [1], 2)],
)
def test_a_number_is_its_iteration_unless_it_was_given_out(
    iteration: int, taken: list[int], number: int
) -> None:
    assert next_number(iteration, taken) == number


@pytest.mark.parametrize(
    ("wanted", "there", "nearest"), [(3, [], None), (3, [1, 2, 9], 2), (3, [2, 4], 2), (8, [5, 9], 9)]
)
def test_the_nearest_is_offered(wanted: int, there: list[int], nearest: int | None) -> None:
    assert nearest_number(wanted, there) == nearest


@pytest.mark.parametrize(
    ("before", "awaiting", "after"),
    [
        (Status.PENDING, None, Status.PENDING),
        (Status.WORKING, None, Status.WORKING),
        (Status.WORKING, Awaiting.CHECKPOINT, Status.WORKING),
        (Status.CLARIFICATION, Awaiting.INPUT, Status.WORKING),
        (Status.AGENT_REVIEW, None, Status.WORKING),
        (Status.REVIEWING, Awaiting.REVIEW, Status.WORKING),
        (Status.STUCK, Awaiting.ESCALATION, Status.WORKING),
    ],
)
def test_a_task_goes_back_to_its_agent(before: Status, awaiting: Awaiting | None, after: Status) -> None:
    task = make_task(
        before, awaiting=awaiting, agent_sessions={"mine": "one"}, failed_reviews=1, crash_count=1
    )
    decision = resumed(task)
    now = decision.task
    assert (now.status, now.awaiting, now.usage, now.start_sha) == (after, None, THEN, "b" * 40)
    assert (now.agent_sessions, now.failed_reviews, now.crash_count) == ({}, 0, 0)
    assert decision.events[0].type is EventType.RESUMED
    assert decision.events[0].data == {"checkpoint": "k7f2-14", "head": "a" * 40, "iteration": 14}
    assert [section for section, _ in decision.entries] == [Section.NOTES]


@pytest.mark.parametrize(
    ("task", "hint"),
    [
        (make_task(Status.DONE), "`gt reopen"),
        (make_task(Status.CANCELLED), "`gt reopen"),
        (
            make_task(Status.REVIEWING, awaiting=None, approval=Approval("Ann", AT, "a" * 40)),
            "--awaiting review",
        ),
        (make_epic(Status.REVIEWING, awaiting=Awaiting.REVIEW), "`gt reopen`"),
        (make_epic(awaiting=Awaiting.ESCALATION), "`gt show"),
    ],
)
def test_what_is_over_or_being_merged_stays(task: Task, hint: str) -> None:
    with pytest.raises(RefusedError) as refused:
        resumed(task)
    assert hint in (refused.value.hint or "")


def test_only_a_person_takes_work_back() -> None:
    with pytest.raises(RefusedError):
        run(make_task(), Resumed(ENGINE, "k7f2-14", "a" * 40, THEN, None))


def test_an_epic_keeps_its_status() -> None:
    decision = resumed(make_epic(Status.WORKING))
    assert (decision.steps, decision.entries) == ((), ())
