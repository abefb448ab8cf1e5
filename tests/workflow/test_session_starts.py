"""Who can start on a task where, and what the start of work does."""

from __future__ import annotations

import pytest

from gitticks.errors import RefusedError
from gitticks.model.event import ENGINE, EventType
from gitticks.model.status import Awaiting, Role, Status
from gitticks.model.task import Task
from gitticks.workflow.triggers import SessionStarted
from tests.support.decisions import (
    ADA,
    HEAD,
    OTHER_HEAD,
    REVIEWER,
    START,
    WORKER,
    kinds,
    make_epic,
    make_task,
    run,
    way,
)


def test_start_puts_a_pending_task_to_work() -> None:
    task = make_task(Status.PENDING)
    decision = run(task, SessionStarted(WORKER, Role.WORKER, "main", "gitticks/work/k7f2", START))
    assert way(decision) == ["pending", "working"]
    assert decision.events[0].actor == ENGINE
    assert decision.events[0].reason == f"claude, main@{START[:7]}"
    assert (decision.task.base, decision.task.branch, decision.task.start_sha) == (
        "main",
        "gitticks/work/k7f2",
        START,
    )
    assert decision.archived == ()


def test_start_again_does_not_move_the_start() -> None:
    decision = run(make_task(), SessionStarted(WORKER, Role.WORKER, "other", "other", OTHER_HEAD))
    assert decision.steps == ()
    assert (decision.task.base, decision.task.branch, decision.task.start_sha) == (
        "main",
        "gitticks/work/k7f2",
        START,
    )


def test_who_left_the_branch_of_an_epic_starts_on_the_new_one() -> None:
    task = make_task(branch="gitticks/work/h8d4", end_sha=HEAD, agent_sessions={"claude": "x"})
    decision = run(task, SessionStarted(WORKER, Role.WORKER, "main", "gitticks/work/k7f2", OTHER_HEAD))
    after = decision.task
    assert (after.branch, after.start_sha, after.end_sha) == ("gitticks/work/k7f2", OTHER_HEAD, None)
    assert after.agent_sessions == {}


def test_what_reviewers_of_an_epic_read_says_nothing_of_its_work() -> None:
    for task, strangers in (
        (make_task(Status.AGENT_REVIEW), ["Eve"]),
        (make_epic(Status.AGENT_REVIEW), None),
    ):
        started = SessionStarted(REVIEWER, Role.REVIEWER, strangers=("Eve",))
        assert run(task, started).events[-1].data.get("strangers") == strangers


def test_reviewer_binds_no_start() -> None:
    task = make_task(Status.AGENT_REVIEW, base=None, branch=None, start_sha=None)
    assert run(task, SessionStarted(WORKER, Role.REVIEWER, "main", "gitticks/work/k7f2", HEAD)).task == task


def test_person_who_starts_is_named_in_the_event() -> None:
    decision = run(make_task(Status.PENDING), SessionStarted(ADA, Role.WORKER, "main", None, START))
    assert decision.events[0].actor == ADA


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("awaiting", [None, Awaiting.WORK])
@pytest.mark.parametrize("epic", [False, True])
def test_who_can_start_where(status: Status, role: Role, awaiting: Awaiting | None, *, epic: bool) -> None:
    task = (make_epic if epic else make_task)(status)
    if awaiting and task.is_open:
        task = make_task(status, type=task.type, awaiting=awaiting)
    allowed = {
        Role.WORKER: not epic and not awaiting and status in (Status.PENDING, Status.WORKING),
        Role.REVIEWER: not awaiting and status is Status.AGENT_REVIEW,
        Role.CLARIFIER: status is Status.CLARIFICATION,
    }[role]
    trigger = SessionStarted(WORKER, role)
    if allowed:
        assert EventType.SESSION_STARTED in kinds(run(task, trigger))
    else:
        with pytest.raises(
            RefusedError, match=f"no {role} can start on `k7f2`: it is {status.words}"
        ) as caught:
            run(task, trigger)
        is_parted = epic and task.is_open
        assert ("an epic is worked on through its children" in caught.value.message) == is_parted
        next_step = '`gt respond k7f2 "…"`' if status is Status.CLARIFICATION else "`gt show k7f2`"
        assert caught.value.hint == ("`gt tree k7f2`" if is_parted else next_step)


@pytest.mark.parametrize("status", [Status.PENDING, Status.WORKING])
def test_a_person_begins_what_awaits_work_and_it_goes_on_awaiting_it(status: Status) -> None:
    decision = run(
        make_task(status, awaiting=Awaiting.WORK), SessionStarted(ADA, Role.WORKER, "main", None, START)
    )
    assert (decision.task.status, decision.task.awaiting) == (Status.WORKING, Awaiting.WORK)
    assert kinds(decision)[-1] is EventType.SESSION_STARTED
    assert (EventType.AWAITING_SET in kinds(decision)) == (status is Status.PENDING)


@pytest.mark.parametrize(
    "task",
    [
        make_task(Status.PENDING, awaiting=Awaiting.APPROVAL),
        make_task(Status.REVIEWING, awaiting=Awaiting.WORK),
        make_epic(Status.PENDING, awaiting=Awaiting.WORK),
    ],
)
def test_a_person_begins_nothing_else_that_awaits_somebody(task: Task) -> None:
    with pytest.raises(RefusedError, match="no worker can start on"):
        run(task, SessionStarted(ADA, Role.WORKER, "main", None, START))
