"""Which gates an approval waives or was behind already, and who may approve how."""

from __future__ import annotations

import pytest

from gitticks.errors import Exit, RefusedError
from gitticks.model.approval import LEVELS, is_enough
from gitticks.model.event import Actor, Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.notes import ReviewOutcome, Section
from gitticks.model.settings import HumanPolicy, Policy
from gitticks.model.status import ActorKind, Awaiting, Isolation, Role, Status, Verdict
from gitticks.workflow.artifacts import Artifacts, count_since_last_word, left_on_epic
from gitticks.workflow.decision import waived_person
from gitticks.workflow.triggers import ApprovalVoided, Closed, Proof
from tests.support.decisions import ADA, AT, HANDED_OFF, HEAD, PASSED, START, answer, make_task, run, waived


def test_written_handoff_is_passed_not_waived() -> None:
    task = make_task(Status.WORKING, awaiting=Awaiting.WORK)
    assert waived(run(task, answer(Verdict.APPROVED), artifacts=HANDED_OFF)) == ["review"]
    red = Artifacts(handoff=True, checks_failure="tests failed", head=HEAD)
    assert waived(run(task, answer(Verdict.APPROVED), artifacts=red)) == ["checks", "review"]


def test_handoff_of_before_the_return_is_waived() -> None:
    task = make_task(Status.CLARIFICATION, awaiting=Awaiting.APPROVAL)
    decision = run(task, answer(Verdict.APPROVED), artifacts=HANDED_OFF)
    assert Section.HANDOFF in decision.archived
    assert waived(decision) == ["handoff", "review"]


@pytest.mark.parametrize(
    ("artifacts", "expected"),
    [
        (PASSED, []),
        (Artifacts(review=ReviewOutcome.FAIL, head=HEAD), ["review"]),
        (Artifacts(review=ReviewOutcome.UNCLEAR, head=HEAD), ["review"]),
    ],
)
def test_written_review_is_passed_not_waived(artifacts: Artifacts, expected: list[str]) -> None:
    task = make_task(Status.AGENT_REVIEW, awaiting=Awaiting.APPROVAL)
    assert waived(run(task, answer(Verdict.APPROVED), artifacts=artifacts)) == expected


@pytest.mark.parametrize("isolation", [Isolation.EPIC, Isolation.NONE])
def test_code_that_stands_elsewhere_needs_no_merge(isolation: Isolation) -> None:
    task = make_task(Status.REVIEWING, parent="e9zz")
    assert run(task, answer(Verdict.APPROVED), policy=Policy(isolation=isolation)).task.status is Status.DONE


def test_task_without_an_epic_has_its_own_branch() -> None:
    decision = run(
        make_task(Status.REVIEWING), answer(Verdict.APPROVED), policy=Policy(isolation=Isolation.EPIC)
    )
    assert decision.task.is_merging


def test_empty_hand_off_needs_no_merge() -> None:
    decision = run(make_task(Status.REVIEWING, end_sha=START), answer(Verdict.APPROVED))
    assert decision.task.status is Status.DONE


def test_an_approval_weaker_than_policy_asks_for_closes_nothing() -> None:
    policy = Policy(minimum_approval="L2")
    for strength in ("L0", "L1"):
        with pytest.raises(RefusedError, match="needs an approval of strength L2") as refused:
            run(make_task(Status.REVIEWING), answer(Verdict.APPROVED, proof=Proof(strength)), policy=policy)
        assert refused.value.exit_code is Exit.REFUSED
        assert refused.value.hint == "`gt approve k7f2` on a terminal asks for what is needed"
    with pytest.raises(RefusedError, match="needs an approval of strength L2") as refused:
        run(make_task(Status.WORKING), Closed(ADA), artifacts=HANDED_OFF, policy=policy)
    assert refused.value.hint == "`gt close k7f2` on a terminal asks for what is needed"
    strong = run(make_task(Status.REVIEWING), answer(Verdict.APPROVED, proof=Proof("L3")), policy=policy)
    assert strong.task.approval is not None
    returned = run(make_task(Status.STUCK), answer(Verdict.APPROVED, "try this"), policy=policy)
    assert returned.task.status is Status.WORKING


def test_with_four_eyes_nobody_approves_what_they_created() -> None:
    policy = Policy(four_eyes=True)
    with pytest.raises(RefusedError, match="somebody else has to approve it"):
        run(make_task(Status.REVIEWING, created_by=ADA.name), answer(Verdict.APPROVED), policy=policy)
    other = run(make_task(Status.REVIEWING, created_by="Grace"), answer(Verdict.APPROVED), policy=policy)
    assert other.task.approval is not None
    rejected = run(
        make_task(Status.REVIEWING, created_by=ADA.name), answer(Verdict.REJECTED, "no"), policy=policy
    )
    assert rejected.task.status is Status.WORKING


@pytest.mark.parametrize("strength", ["L0", "L1", "L2", "L3", "waived", ""])
@pytest.mark.parametrize("minimum", LEVELS)
def test_levels_go_from_a_name_to_a_hardware_key(strength: str, minimum: str) -> None:
    order = {"L0": 0, "L1": 1, "L2": 2, "L3": 3}

    assert is_enough(strength, minimum) is (order.get(strength, 0) >= order[minimum])


def test_with_four_eyes_nobody_approves_what_they_or_their_agents_did() -> None:
    policy, task = Policy(four_eyes=True), make_task(Status.REVIEWING, created_by="Grace")
    by_agent = Event(
        EventType.SESSION_STARTED,
        AT,
        Actor(ActorKind.AGENT, "claude", Role.WORKER),
        data={"role": "worker", "by": ADA.name},
    )
    by_hand = Event(EventType.TEXT_CHANGED, AT, ADA, data={"sections": ["Handoff"]})
    reopened = Event(EventType.REOPENED, AT, ADA)  # the branch stays, with what was committed on it
    left = left_on_epic(TaskId("m3xq"), (by_agent,), AT)
    assert left is not None
    for history in ((by_agent,), (by_hand,), (by_agent, reopened), (by_hand, reopened), (left,)):
        counts = count_since_last_word(history)
        with pytest.raises(RefusedError, match=f"was worked on by {ADA.name}"):
            run(task, answer(Verdict.APPROVED), policy=policy, counts=counts)
    reviewed = by_agent._replace(data={"role": "reviewer", "by": ADA.name})
    run(task, answer(Verdict.APPROVED), policy=policy, counts=count_since_last_word((reviewed,)))


@pytest.mark.parametrize("asks", [Policy(minimum_approval="L1"), Policy(four_eyes=True)])
def test_policy_that_asks_for_a_strong_approval_or_a_second_person_waives_none(asks: Policy) -> None:
    policy = Policy(human=HumanPolicy.WHEN_REQUIRED)

    assert waived_person(make_task(Status.REVIEWING), policy) is not None
    assert waived_person(make_task(Status.REVIEWING), asks._replace(human=policy.human)) is None


def test_an_approval_that_carries_no_merge_is_asked_for_again_and_the_work_stays() -> None:
    merging = run(make_task(Status.REVIEWING), answer(Verdict.APPROVED)).task

    asked = run(merging, ApprovalVoided("the signature does not hold"))

    assert (asked.task.status, asked.task.awaiting) == (Status.REVIEWING, Awaiting.REVIEW)
    assert asked.task.approval is None
    assert asked.events[0].type is EventType.VOIDED
