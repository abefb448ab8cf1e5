"""What was done already: all that `decide` says is found legal, and what it never says is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.model.event import ENGINE, Actor, Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.notes import ReviewOutcome
from gitticks.model.status import ActorKind, Awaiting, Isolation, Requires, Status, TaskType, Verdict
from gitticks.model.task import Approval, Task
from gitticks.workflow.artifacts import Artifacts, count_since_last_word
from gitticks.workflow.history_rules import (
    PastChange,
    impossible,
    is_persons_word,
    merge_problems,
    problems_of,
)
from tests.support.decisions import (
    ADA,
    AT,
    HANDED_OFF,
    HEAD,
    PASSED,
    REVIEWER,
    START,
    WORKER,
    make_epic,
    make_task,
)
from tests.workflow.carrying_out import carry_out
from tests.workflow.world import ALL_CHOICES, POLICIES, World, begin, moves

S = Status
FILE = ".gitticks/tasks/f2/k7f2/TASK.md"


def move(source: Status, target: Status, actor: Actor = ADA, kind: EventType = EventType.MOVED) -> Event:
    return Event(kind, AT, actor, source, target)


def problems(
    before: Task | None, after: Task, *events: Event, artifacts: Artifacts | None = None
) -> tuple[str, ...]:
    return problems_of(PastChange(before, after, events, lambda: artifacts or Artifacts()))


def offered(world: World, after: World) -> Artifacts:
    """Returns what the files show before and after a decision."""
    reviewing = world.task.status is Status.AGENT_REVIEW
    return Artifacts(
        handoff=world.handoff or after.handoff,
        review=world.review if reviewing else ReviewOutcome.MISSING,
        open_question=world.question or after.question,
    )


@given(
    data=st.data(),
    policy=POLICIES,
    kind=st.sampled_from(TaskType),
    requires=st.sampled_from([None, *Requires]),
)
def test_whatever_is_decided_is_legal(
    data: st.DataObject, policy: Any, kind: TaskType, requires: Requires | None
) -> None:
    bound = START if kind is TaskType.EPIC and policy.isolation is Isolation.EPIC else None
    world = begin(Task(TaskId("k7f2"), "title", kind, requires=requires, start_sha=bound))
    history: list[Event] = []
    for _ in range(40):
        chosen = data.draw(st.sampled_from(list(moves(world, policy, ALL_CHOICES))))
        after, decision = carry_out(world, chosen, policy)
        if decision is not None:
            found = problems(world.task, decision.task, *decision.events, artifacts=offered(world, after))
            assert found == (), (chosen, decision)
            assert impossible(decision.task) is None
            history += decision.events
            after = replace(after, counts=count_since_last_word(history))
        world = after


def test_a_new_task_is_pending_unless_events_or_another_tracker_say_otherwise() -> None:
    created = Event(EventType.CREATED, AT, ADA)
    assert problems(None, make_task(S.PENDING)) == ()
    assert problems(None, make_task(S.PENDING), created) == ()
    assert problems(None, Task(TaskId("k7f2"), "x", status=S.DONE), created) == ()
    assert problems(None, Task(TaskId("k7f2"), "x", status=S.DONE)) == (
        "went from pending to done, and no event says so",
    )
    assert problems(None, make_task(S.WORKING), created, move(S.PENDING, S.WORKING)) == ()


def test_what_a_task_is_born_with_stays() -> None:
    task = make_task(S.PENDING, created=AT, created_by="Ada")
    assert problems(task, replace(task, created_by="Bob")) == (
        "had its `created_by` changed, which it keeps for good",
    )


@pytest.mark.parametrize(
    ("event", "artifacts", "problem"),
    [
        (move(S.WORKING, S.DONE), HANDED_OFF, "went from working to done, which is no transition"),
        (
            move(S.WORKING, S.STUCK, WORKER),
            HANDED_OFF,
            "was moved from working to stuck by worker claude, who may not",
        ),
        (
            move(S.WORKING, S.AGENT_REVIEW, WORKER),
            Artifacts(),
            f"went from working to agent-review, but `## Handoff` is missing from {FILE}",
        ),
        (
            move(S.WORKING, S.CLARIFICATION, WORKER),
            Artifacts(),
            f"went from working to clarification, but `## Questions` has no open question in {FILE}",
        ),
        (move(S.WORKING, S.AGENT_REVIEW, WORKER), HANDED_OFF, None),
        (move(S.WORKING, S.CANCELLED), Artifacts(), None),
    ],
)
def test_steps_from_working(event: Event, artifacts: Artifacts, problem: str | None) -> None:
    before = make_task(S.WORKING)
    assert event.to_status is not None
    after = replace(before, status=event.to_status)
    assert problems(before, after, event, artifacts=artifacts) == (() if problem is None else (problem,))


def test_a_review_needs_its_pass_or_a_waiver() -> None:
    before, after = make_task(S.AGENT_REVIEW), make_task(S.REVIEWING)
    step = move(S.AGENT_REVIEW, S.REVIEWING, REVIEWER)
    assert "the verdict of `## Review`" not in str(problems(before, after, step, artifacts=PASSED))
    assert problems(before, after, step, artifacts=PASSED) == ()
    assert problems(before, after, step)[0].startswith(
        "went from agent-review to reviewing, but `## Review` of this round is missing"
    )
    waived = Event(EventType.WAIVED, AT, ENGINE, data={"gate": "review"})
    assert problems(before, after, waived, step) == ()


def test_work_is_closed_by_approval_alone() -> None:
    before = make_task(S.REVIEWING)
    after = replace(before, status=S.DONE, awaiting=None)
    close = move(S.REVIEWING, S.DONE, ENGINE, EventType.ADVANCED)
    assert problems(before, after, close) == ("went from reviewing to done, but nobody had approved it",)
    approved = Event(EventType.VERDICT, AT, ADA, data={"verdict": "approved", "awaiting": "review"})
    assert problems(before, after, approved, close) == ()
    by_agent = approved._replace(actor=WORKER)
    assert problems(before, after, by_agent, close) == (
        "has a verdict.given by worker claude, and only people give that",
        "went from reviewing to done, but nobody had approved it",
    )
    merging = replace(before, awaiting=None, approval=Approval("Ada", AT, HEAD))
    assert problems(merging, replace(after, approval=None), close) == ()


def test_events_and_fields_agree() -> None:
    working = make_task(S.WORKING)
    stuck = make_task(S.STUCK)
    assert problems(working, stuck) == (
        "went from working to stuck, and no event says so",
        "awaited nobody and then escalation, and no event says so",
        "had `asked_at` changed, which only gitticks writes",
    )
    assert problems(working, working, move(S.WORKING, S.STUCK)) == (
        "is working, but its events end at stuck",
    )
    assert problems(working, stuck, move(S.PENDING, S.STUCK)) == (
        "was working, but an event moves it from pending to stuck",
    )
    given_back = Event(EventType.AWAITING_SET, AT, WORKER, data={"awaiting": None})
    asks = make_task(S.WORKING, awaiting=Awaiting.WORK)
    assert problems(asks, replace(asks, awaiting=None), given_back) == (
        "awaited work by a person, and an agent answered",
    )


def test_what_git_replayed_upon_another_version_was_legal_where_it_was_made() -> None:
    pending, working, stuck = make_task(S.PENDING), make_task(S.WORKING), make_task(S.STUCK)
    done = make_task(S.DONE)
    begun, given_up = move(S.PENDING, S.WORKING), move(S.WORKING, S.STUCK)
    for here in (working, stuck, done):
        assert problems(here, here, begun) == ()
    assert problems(stuck, stuck, begun, move(S.WORKING, S.AGENT_REVIEW)) == ()
    assert problems(pending, stuck, given_up) == ()
    assert problems(done, working, begun) == ("was done, but an event moves it from pending to working",)
    assert problems(stuck, stuck, move(S.PENDING, S.WORKING), move(S.WORKING, S.STUCK, WORKER)) != ()


def test_an_epic_gets_the_branch_of_a_task_of_its_own_and_no_other() -> None:
    epic = make_epic(base=None, branch=None, start_sha=None)
    bound = replace(epic, base="main", branch="gitticks/work/k7f2", start_sha=START)
    child = replace(bound, id=TaskId("b2c3"), type=TaskType.TASK, parent=epic.id)
    refused = ("had `base`, `branch`, `start_sha` changed, which only gitticks writes",)

    def judged(after: Task, *children: Task) -> tuple[str, ...]:
        return problems_of(PastChange(epic, after, (), Artifacts, children=lambda: children))

    assert judged(bound, replace(child, start_sha=HEAD), child) == ()
    assert judged(bound) == judged(bound, replace(child, start_sha=HEAD)) == refused
    assert judged(bound, replace(child, branch="gitticks/work/b2c3")) == refused
    assert "`end_sha`" in judged(replace(bound, end_sha=HEAD), child)[0]


def test_an_approval_comes_with_the_word_that_gave_it() -> None:
    before = make_task(S.REVIEWING)
    word = Event(EventType.VERDICT, AT, ADA, data={"verdict": "approved", "awaiting": "review"})
    after = replace(before, awaiting=None, approval=Approval("Bob", AT, HEAD))
    assert problems(before, after, word) == ("has an approval by Bob, and no event says so",)
    assert problems(before, replace(after, approval=Approval("Ada", AT, HEAD)), word) == ()


def test_only_a_person_reopens() -> None:
    done, again = make_task(S.DONE), make_task(S.PENDING, base=None, branch=None, start_sha=None)
    assert problems(done, again, move(S.DONE, S.PENDING, ADA, EventType.REOPENED)) == ()
    assert problems(done, again, move(S.DONE, S.PENDING, ENGINE, EventType.REOPENED)) == (
        "has a task.reopened by engine gitticks, and only people give that",
    )
    assert problems(done, again, move(S.DONE, S.PENDING)) == (
        "went from done to pending without being reopened",
    )


def test_a_merge_takes_the_state_of_one_side() -> None:
    working, stuck = make_task(S.WORKING), make_task(S.STUCK)
    assert merge_problems((working, stuck), replace(stuck, title="Another")) == ()
    assert merge_problems((working, stuck), replace(working, awaiting=Awaiting.WORK)) == (
        "was merged from working and stuck into a working that neither side had",
    )


def test_a_persons_word() -> None:
    assert is_persons_word([move(S.WORKING, S.CANCELLED)])
    assert not is_persons_word([move(S.WORKING, S.AGENT_REVIEW, WORKER)])
    assert not is_persons_word([Event(EventType.NOTED, AT, Actor(ActorKind.HUMAN, "Ada"))])


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        (make_task(S.STUCK, awaiting=None), "is in stuck but is not waiting for anyone"),
        (make_task(S.REVIEWING, awaiting=None), "is in reviewing but is not waiting for anyone"),
        (make_task(S.REVIEWING, awaiting=None, approval=Approval("Ada", AT, HEAD)), None),
        (make_task(S.DONE, awaiting=Awaiting.REVIEW), "is done but awaits review"),
        (
            make_task(S.WORKING, approval=Approval("Ada", AT, HEAD)),
            "has an approval, though it is working and awaits nobody",
        ),
        (make_task(S.WORKING, verdict=Verdict.APPROVED), "has a verdict that nobody has carried out"),
        (make_task(S.PENDING), None),
    ],
)
def test_states_that_cannot_be(task: Task, reason: str | None) -> None:
    assert impossible(task) == reason
