"""What people do besides answering: moving a task, setting whose turn it is, reopening."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from gitticks.errors import RefusedError
from gitticks.model.event import ENGINE, Actor, EventType
from gitticks.model.ids import TaskId
from gitticks.model.notes import Section
from gitticks.model.settings import HumanPolicy, Policy, ReviewPolicy
from gitticks.model.status import Awaiting, Requires, Status, Verdict
from gitticks.model.task import ENGINE_FIELDS, Approval, Claim, Task, Usage
from gitticks.workflow.artifacts import Artifacts
from gitticks.workflow.decision import Turn, whose_turn
from gitticks.workflow.gates import CHECKS_NOT_RUN
from gitticks.workflow.triggers import AwaitingSet, Reopened, Requested, VerdictGiven
from tests.support.decisions import (
    ADA,
    AT,
    EARLIER,
    FAILED,
    HANDED_OFF,
    HEAD,
    MERGE,
    PASSED,
    REVIEWER,
    START,
    WORKER,
    kinds,
    make_epic,
    make_merging,
    make_task,
    run,
    waived,
    way,
)

OPEN = [status for status in Status if not status.is_terminal]

# Requests


def test_hand_off_by_command_runs_on_as_the_gates_allow() -> None:
    policy = Policy(review=ReviewPolicy.NONE, human=HumanPolicy.WHEN_REQUIRED)
    decision = run(make_task(), Requested(WORKER, Status.AGENT_REVIEW), artifacts=HANDED_OFF, policy=policy)
    assert way(decision) == ["working", "agent-review", "reviewing"]
    assert waived(decision) == ["review", "person"]
    assert [event.actor for event in decision.events] == [WORKER, ENGINE, ENGINE, ENGINE]
    assert decision.task.approval == Approval("gitticks", AT, HEAD, "waived")
    assert decision.task.is_merging


@pytest.mark.parametrize("actor", [ADA, WORKER])
def test_another_question_is_asked_from_then_on_and_no_other_request_is(actor: Actor) -> None:
    waiting = make_task(Status.CLARIFICATION, awaiting=Awaiting.ESCALATION, asked_at=EARLIER)
    decision = run(waiting, Requested(actor, Status.CLARIFICATION, "Which size?", is_question=True))
    assert (decision.task.awaiting, decision.task.asked_at) == (Awaiting.ESCALATION, AT)
    assert kinds(decision) == [EventType.ASKED]
    with pytest.raises(RefusedError):
        run(waiting, Requested(actor, Status.CLARIFICATION))


def test_the_hint_of_a_refused_hand_over_says_what_is_to_be_done() -> None:
    asked = Requested(ADA, Status.AGENT_REVIEW)
    with pytest.raises(RefusedError) as missing:
        run(make_task(Status.WORKING), asked)
    assert missing.value.hint == '`gt handoff k7f2 --done "…"` writes it, then `gt complete k7f2`'
    with pytest.raises(RefusedError) as red:
        run(
            make_task(Status.WORKING),
            asked,
            artifacts=Artifacts(handoff=True, checks_failure="`make` failed"),
        )
    assert red.value.hint == "fix and commit that in the workspace, then `gt complete k7f2` again"
    with pytest.raises(RefusedError, match="its checks have not run") as unchecked:
        run(
            make_task(Status.WORKING),
            asked,
            artifacts=Artifacts(handoff=True, checks_failure=CHECKS_NOT_RUN),
        )
    assert unchecked.value.hint == "`gt complete k7f2` runs them and hands off"


@pytest.mark.parametrize("status", [Status.WORKING, Status.STUCK])
def test_an_epic_with_open_children_is_neither_handed_off_nor_approved(status: Status) -> None:
    epic, artifacts = (
        make_epic(status, awaiting=None),
        Artifacts(handoff=True, head=HEAD, open_children=(TaskId("c4ld"),)),
    )
    with pytest.raises(RefusedError, match="it has open children: `c4ld`") as refused:
        run(epic, Requested(ADA, Status.AGENT_REVIEW), artifacts=artifacts)
    assert (
        refused.value.hint == "`gt tree k7f2`: an epic is handed off by itself once its last child is closed"
    )
    with pytest.raises(RefusedError, match=f"it is {status}, and it has open children: `c4ld`") as unasked:
        run(epic, VerdictGiven(ADA, Verdict.APPROVED), artifacts=artifacts)
    assert unasked.value.hint == refused.value.hint
    with pytest.raises(RefusedError, match="it has open children: `c4ld`"):
        run(replace(epic, awaiting=Awaiting.REVIEW), VerdictGiven(ADA, Verdict.APPROVED), artifacts=artifacts)
    returned = run(
        replace(epic, awaiting=Awaiting.REVIEW), VerdictGiven(ADA, Verdict.REJECTED), artifacts=artifacts
    )
    assert returned.task.status is Status.WORKING


def test_pass_by_command_runs_on_too() -> None:
    task = make_task(Status.AGENT_REVIEW, failed_reviews=1, end_sha=START)
    policy = Policy(human=HumanPolicy.WHEN_REQUIRED)
    artifacts = PASSED._replace(head=START)
    decision = run(task, Requested(REVIEWER, Status.REVIEWING), artifacts=artifacts, policy=policy)
    assert way(decision) == ["agent-review", "reviewing", "done"]
    assert decision.task.failed_reviews == 0
    assert [event.actor for event in decision.events] == [REVIEWER, ENGINE, ENGINE]


@pytest.mark.parametrize(("actor", "failed"), [(REVIEWER, 1), (ENGINE, 1), (ADA, 0)])
def test_fail_by_command_counts_unless_a_person_asks(actor: Actor, failed: int) -> None:
    decision = run(make_task(Status.AGENT_REVIEW), Requested(actor, Status.WORKING), artifacts=FAILED)
    assert decision.task.failed_reviews == failed
    assert decision.archived == (Section.HANDOFF,)


@pytest.mark.parametrize("status", OPEN)
def test_person_who_cancels_a_task_closes_it(status: Status) -> None:
    decision = run(make_task(status), Requested(ADA, Status.CANCELLED, "a duplicate"))
    assert (decision.task.closed, decision.task.closed_reason) == (AT, "a duplicate")
    assert (decision.task.awaiting, decision.task.approval) == (None, None)


def test_person_wins_over_a_merge_that_has_not_moved_the_base() -> None:
    assert run(make_merging(), Requested(ADA, Status.CANCELLED)).task.status is Status.CANCELLED


def test_where_a_person_merges_the_hint_is_what_works() -> None:
    task = make_task(Status.REVIEWING, awaiting=Awaiting.WORK)
    with pytest.raises(RefusedError) as refused:
        run(task, Requested(ADA, Status.WORKING))
    assert (
        refused.value.hint
        == "`gt close k7f2`, or `gt update k7f2 --awaiting=null` gives it back to the agent"
    )
    assert run(task, AwaitingSet(ADA, None)).task.status is Status.WORKING


def test_epic_is_sent_back_with_a_child() -> None:
    review = make_epic(Status.AGENT_REVIEW)
    assert run(review, Requested(ADA, Status.WORKING), artifacts=FAILED).rework == "sent back"
    assert run(review, Requested(ADA, Status.WORKING, "typos"), artifacts=FAILED).rework == "typos"
    assert run(make_epic(Status.STUCK), Requested(ADA, Status.WORKING)).rework is None
    assert run(make_epic(Status.PENDING), Requested(ADA, Status.WORKING, "go")).rework is None


# Freshness


@pytest.mark.parametrize(
    ("source", "target", "artifacts", "archived"),
    [
        (Status.PENDING, Status.WORKING, Artifacts(), ()),
        (Status.CLARIFICATION, Status.WORKING, Artifacts(), (Section.HANDOFF,)),
        (Status.WORKING, Status.CLARIFICATION, Artifacts(), ()),
        (Status.WORKING, Status.AGENT_REVIEW, HANDED_OFF, (Section.REVIEW,)),
        (Status.WORKING, Status.STUCK, Artifacts(), (Section.HANDOFF,)),
        (Status.AGENT_REVIEW, Status.REVIEWING, PASSED, ()),
        (Status.AGENT_REVIEW, Status.WORKING, FAILED, (Section.HANDOFF,)),
        (Status.STUCK, Status.WORKING, Artifacts(), (Section.HANDOFF,)),
        (Status.STUCK, Status.AGENT_REVIEW, HANDED_OFF, (Section.REVIEW,)),
        (Status.WORKING, Status.CANCELLED, Artifacts(), ()),
    ],
)
def test_what_each_step_archives(
    source: Status, target: Status, artifacts: Artifacts, archived: tuple[Section, ...]
) -> None:
    assert run(make_task(source), Requested(ADA, target), artifacts=artifacts).archived == archived


# Whose turn it is


@pytest.mark.parametrize("status", OPEN)
@pytest.mark.parametrize("awaiting", Awaiting)
def test_person_takes_the_turn(status: Status, awaiting: Awaiting) -> None:
    task = make_task(status, awaiting=None if status is Status.WORKING else make_task(status).awaiting)
    decision = run(task, AwaitingSet(ADA, awaiting))
    assert (decision.task.status, decision.task.awaiting, whose_turn(decision.task)) == (
        status,
        awaiting,
        Turn.PERSON,
    )
    if task.awaiting is awaiting:
        assert decision.events == ()
    else:
        assert decision.task.asked_at == AT
        assert decision.archived == ()


@pytest.mark.parametrize("status", OPEN)
@pytest.mark.parametrize("awaiting", Awaiting)
def test_person_gives_the_turn_back(status: Status, awaiting: Awaiting) -> None:
    task = make_task(status, awaiting=awaiting, requires=Requires.REVIEW)
    decision = run(task, AwaitingSet(ADA, None))
    returned = status in (Status.CLARIFICATION, Status.STUCK, Status.REVIEWING)
    assert decision.task.status is (Status.WORKING if returned else status)
    assert (decision.task.awaiting, decision.task.requires) == (None, Requires.REVIEW)
    assert whose_turn(decision.task) is (Turn.REVIEWER if status is Status.AGENT_REVIEW else Turn.WORKER)
    archives = status not in (Status.PENDING, Status.AGENT_REVIEW)
    assert decision.archived == ((Section.HANDOFF,) if archives else ())


@pytest.mark.parametrize("status", [Status.PENDING, Status.WORKING, Status.AGENT_REVIEW])
def test_giving_back_what_nobody_awaits_changes_nothing(status: Status) -> None:
    decision = run(make_task(status), AwaitingSet(ADA, None))
    assert (decision.task, decision.events) == (make_task(status), ())


def test_merge_that_has_begun_is_not_given_back() -> None:
    with pytest.raises(RefusedError, match="its merge has begun"):
        run(make_merging(), AwaitingSet(ADA, None))
    decision = run(make_merging(), AwaitingSet(ADA, Awaiting.REVIEW))
    assert (decision.task.approval, decision.task.awaiting) == (None, Awaiting.REVIEW)
    assert EventType.VOIDED in kinds(decision)


@pytest.mark.parametrize("status", [Status.DONE, Status.CANCELLED])
@pytest.mark.parametrize("awaiting", [None, Awaiting.WORK])
def test_nobody_awaits_a_closed_task(status: Status, awaiting: Awaiting | None) -> None:
    with pytest.raises(RefusedError, match="already"):
        run(make_task(status), AwaitingSet(ADA, awaiting))


@pytest.mark.parametrize("actor", [WORKER, REVIEWER, ENGINE])
@pytest.mark.parametrize("awaiting", [None, Awaiting.WORK])
def test_only_people_say_whose_turn_it_is(actor: Actor, awaiting: Awaiting | None) -> None:
    with pytest.raises(RefusedError, match="only a person"):
        run(make_task(Status.CLARIFICATION), AwaitingSet(actor, awaiting))


def test_epic_that_is_given_back() -> None:
    assert run(make_epic(Status.REVIEWING), AwaitingSet(ADA, None)).rework == "sent back"
    assert run(make_epic(Status.STUCK), AwaitingSet(ADA, None)).rework is None


# Reopening

FULL = make_task(
    Status.DONE,
    labels=("auth",),
    requires=Requires.APPROVAL,
    asked=Requires.REVIEW,
    verdict=Verdict.APPROVED,
    approval=Approval("Ada", EARLIER, HEAD),
    end_sha=HEAD,
    merged_sha=MERGE,
    pr="https://example.org/pull/7",
    review_round=3,
    failed_reviews=1,
    crash_count=1,
    usage=Usage(iterations=4, cost=0.5),
    claim=Claim("runner", "host", EARLIER, AT),
    agent_sessions={"claude": "abc"},
    asked_at=EARLIER,
    responded_at=EARLIER,
    closed=EARLIER,
    closed_reason="merged",
)


@pytest.mark.parametrize("status", [Status.DONE, Status.CANCELLED])
def test_reopened_task_is_as_new(status: Status) -> None:
    decision = run(replace(FULL, status=status), Reopened(ADA))
    new = Task(FULL.id, FULL.title, labels=("auth",), requires=Requires.APPROVAL)
    assert decision.task == new
    assert way(decision) == [str(status), "pending"]
    assert decision.archived == (Section.HANDOFF, Section.REVIEW)
    assert kinds(decision) == [EventType.REOPENED]


def test_every_field_of_the_engine_is_tried_above() -> None:
    empty = Task(FULL.id, FULL.title)
    names = {field.name for field in fields(Task)}
    assert names >= ENGINE_FIELDS
    assert all(getattr(FULL, name) != getattr(empty, name) for name in ENGINE_FIELDS)


@pytest.mark.parametrize("status", OPEN)
def test_open_task_is_not_reopened(status: Status) -> None:
    with pytest.raises(RefusedError, match="is open"):
        run(make_task(status), Reopened(ADA))


@pytest.mark.parametrize("actor", [WORKER, ENGINE])
def test_only_people_reopen(actor: Actor) -> None:
    with pytest.raises(RefusedError, match="only a person"):
        run(make_task(Status.DONE), Reopened(actor))
