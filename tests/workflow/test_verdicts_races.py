"""Answers to what has changed since the person looked."""

from __future__ import annotations

import pytest

from gitticks.errors import Exit, RefusedError
from gitticks.model.event import EventType
from gitticks.model.notes import ReviewOutcome
from gitticks.model.settings import MergeMode, Policy
from gitticks.model.status import Awaiting, Isolation, Status, Verdict
from gitticks.model.task import Task
from gitticks.workflow.artifacts import Artifacts
from gitticks.workflow.triggers import AwaitingSet, Closed, Proof, Requested, Seen, Trigger, VerdictGiven
from tests.support.decisions import (
    ADA,
    AT,
    EARLIER,
    HEAD,
    OTHER_HEAD,
    answer,
    kinds,
    make_merging,
    make_task,
    run,
)

SEEN = Seen(Awaiting.REVIEW, EARLIER, HEAD)


def test_verdict_on_what_was_seen() -> None:
    assert run(make_task(Status.REVIEWING), answer(Verdict.APPROVED, seen=SEEN)).task.is_merging


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize(
    ("task", "changed"),
    [
        (make_task(Status.CLARIFICATION), "it awaits input now, not review"),
        (make_task(Status.WORKING), "it is working and is not waiting for anyone now"),
        (make_merging(), "it is reviewing and is not waiting for anyone now"),
        (make_task(Status.DONE), "it is done and is not waiting for anyone now"),
        (make_task(Status.REVIEWING, end_sha=OTHER_HEAD), "its head is ccccccc now"),
        (make_task(Status.REVIEWING, asked_at=AT), "it asked again for review"),
    ],
)
def test_verdict_on_what_changed_meanwhile(task: Task, changed: str, verdict: Verdict) -> None:
    with pytest.raises(RefusedError, match=f"changed since you looked: {changed}") as refused:
        run(task, answer(verdict, seen=SEEN))
    assert refused.value.exit_code is Exit.REFUSED
    assert refused.value.hint == "`gt show k7f2`"


@pytest.mark.parametrize(
    ("task", "changed"),
    [
        (make_task(Status.REVIEWING), "it awaits review now, not work"),
        (make_task(Status.WORKING), "it is working and is not waiting for anyone now"),
        (make_task(Status.DONE), "it is done and is not waiting for anyone now"),
        (make_task(Status.REVIEWING, awaiting=Awaiting.WORK, end_sha=OTHER_HEAD), "its head is ccccccc now"),
    ],
)
def test_close_of_what_changed_meanwhile(task: Task, changed: str) -> None:
    with pytest.raises(RefusedError, match=f"changed since you looked: {changed}"):
        run(task, Closed(ADA, seen=SEEN._replace(awaiting=Awaiting.WORK)))


def test_close_of_what_was_seen() -> None:
    task = make_task(Status.REVIEWING, awaiting=Awaiting.WORK)
    seen = SEEN._replace(awaiting=Awaiting.WORK)
    assert run(task, Closed(ADA, seen=seen), artifacts=Artifacts(head=HEAD)).task.is_merging


@pytest.mark.parametrize("trigger", [answer(Verdict.APPROVED), Closed(ADA)], ids=["approve", "close"])
@pytest.mark.parametrize("shown", [OTHER_HEAD, ""])
@pytest.mark.parametrize("awaiting", [Awaiting.WORK, Awaiting.APPROVAL])
def test_work_without_a_hand_off_is_approved_at_the_commit_that_was_shown(
    trigger: VerdictGiven | Closed, shown: str, awaiting: Awaiting
) -> None:
    task, artifacts = make_task(awaiting=awaiting), Artifacts(head=HEAD)
    with pytest.raises(RefusedError, match="changed since you looked: its head is bbbbbbb now"):
        run(task, trigger._replace(proof=Proof("L1", {"head": shown})), artifacts=artifacts)
    assert run(task, trigger._replace(proof=Proof("L1", {"head": HEAD})), artifacts=artifacts).task.is_merging


def test_approved_work_is_sent_back_while_its_merge_is_pending() -> None:
    task = make_merging()
    seen = Seen(None, task.asked_at, HEAD)
    decision = run(task, answer(Verdict.REJECTED, "rename it", seen=seen))
    after = decision.task
    assert (after.status, after.awaiting, after.approval) == (Status.WORKING, None, None)
    assert kinds(decision) == [
        EventType.VOIDED,
        EventType.AWAITING_SET,
        EventType.VERDICT,
        EventType.VERDICT,
    ]
    assert [entry.text for _, entry in decision.entries] == ["rename it"]


@pytest.mark.parametrize(
    "trigger",
    [
        answer(Verdict.REJECTED, "no"),
        Requested(ADA, Status.CANCELLED),
        AwaitingSet(ADA, Awaiting.REVIEW),
    ],
)
def test_approved_work_that_the_base_has_is_not_taken_back(trigger: Trigger) -> None:
    with pytest.raises(RefusedError, match="`k7f2` is merged into main already") as refused:
        run(make_merging(), trigger, artifacts=Artifacts(head=HEAD, in_base=True))
    assert refused.value.hint == "`gt merge k7f2` closes it"
    for in_base in (False, None):
        decision = run(make_merging(), trigger, artifacts=Artifacts(head=HEAD, in_base=in_base))
        assert not decision.task.is_merging


@pytest.mark.parametrize("trigger", [AwaitingSet(ADA, Awaiting.REVIEW), Requested(ADA, Status.CANCELLED)])
@pytest.mark.parametrize("mode", [MergeMode.MANUAL, MergeMode.PULL_REQUEST])
def test_nor_is_what_a_person_merged(mode: MergeMode, trigger: Trigger) -> None:
    pr = None if mode is MergeMode.MANUAL else "https://example.org/1"
    task = make_merging(awaiting=Awaiting.WORK, pr=pr)
    policy, merged = Policy(merge_mode=mode), Artifacts(head=HEAD, in_base=True)
    with pytest.raises(RefusedError, match="`k7f2` is merged into main already") as refused:
        run(task, trigger, artifacts=merged, policy=policy)
    hint = "`gt status` closes it, or asks" if mode is MergeMode.MANUAL else "`gt sync` closes it"
    assert refused.value.hint == hint
    assert (
        run(task, trigger, artifacts=Artifacts(head=HEAD, in_base=False), policy=policy).task.approval is None
    )


@pytest.mark.parametrize("trigger", [answer(Verdict.REJECTED, "no"), AwaitingSet(ADA, None)])
def test_nor_is_what_was_merged_on_a_forge_before_anybody_approved_it_there(trigger: Trigger) -> None:
    task = make_merging(awaiting=Awaiting.REVIEW, pr="https://example.org/1")
    with pytest.raises(RefusedError, match="`k7f2` is merged into main already"):
        run(task, trigger, artifacts=Artifacts(head=HEAD, in_base=True))
    assert run(task, trigger, artifacts=Artifacts(head=HEAD)).task.status is Status.WORKING


@pytest.mark.parametrize("status", [Status.AGENT_REVIEW, Status.REVIEWING])
def test_new_commits_void_the_approval(status: Status) -> None:
    task = make_task(status, awaiting=Awaiting.APPROVAL)
    moved = Artifacts(review=ReviewOutcome.PASS, head=OTHER_HEAD)
    with pytest.raises(RefusedError, match="new commits since it was handed off"):
        run(task, answer(Verdict.APPROVED), artifacts=moved)
    assert run(task, answer(Verdict.REJECTED, "again"), artifacts=moved).task.status is Status.WORKING


def test_head_of_a_shared_branch_may_move() -> None:
    task = make_task(Status.REVIEWING, parent="e9zz")
    moved = Artifacts(head=OTHER_HEAD)
    decision = run(task, answer(Verdict.APPROVED), artifacts=moved, policy=Policy(isolation=Isolation.EPIC))
    assert decision.task.status is Status.DONE
