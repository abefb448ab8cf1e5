"""The merge queue's results, merges that were found, moved heads, and epics that follow their children."""

from __future__ import annotations

import pytest

from gitticks.errors import RefusedError
from gitticks.model.event import ENGINE, Actor, EventType
from gitticks.model.notes import Section
from gitticks.model.settings import MergeMode, OnConflict, Policy
from gitticks.model.status import Awaiting, Isolation, Requires, Status
from gitticks.model.task import Approval, Task
from gitticks.workflow.artifacts import Artifacts, Counts
from gitticks.workflow.decision import Turn, whose_turn
from gitticks.workflow.history_rules import impossible
from gitticks.workflow.transitions import GATE_MEANINGS, rows_between
from gitticks.workflow.triggers import HeadMoved, Merged, MergeFailed, MergeFound
from tests.support.decisions import (
    ADA,
    AT,
    EARLIER,
    HEAD,
    MERGE,
    OTHER_HEAD,
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
from tests.workflow.steps import is_legal_step

CONFLICT = MergeFailed("conflict in a.py", ("a.py",))
RED = MergeFailed("tests failed on the merge")
NOT_MERGING = [make_task(status) for status in Status] + [
    make_task(Status.REVIEWING, awaiting=Awaiting.APPROVAL)
]
EPIC_BRANCH = Policy(isolation=Isolation.EPIC)

# The merge queue


def test_merge_closes() -> None:
    decision = run(make_merging(), Merged(MERGE))
    assert way(decision) == ["reviewing", "done"]
    assert (decision.task.merged_sha, decision.task.closed, decision.task.approval) == (MERGE, AT, None)
    assert decision.task.closed_reason == f"merged {MERGE[:7]}"
    assert kinds(decision) == [EventType.MERGED, EventType.ADVANCED]


def test_empty_diff_closes_without_a_merge() -> None:
    decision = run(make_merging(), Merged(MERGE, was_there=True))
    assert (decision.task.status, decision.task.closed_reason) == (Status.DONE, "nothing to merge")
    assert (decision.task.is_landed, decision.events[0].data) == (True, {"sha": None})


@pytest.mark.parametrize("task", NOT_MERGING)
@pytest.mark.parametrize("trigger", [Merged(MERGE), CONFLICT, RED])
def test_result_for_a_task_that_is_not_merging(task: Task, trigger: Merged | MergeFailed) -> None:
    with pytest.raises(RefusedError, match="is not merging"):
        run(task, trigger)


@pytest.mark.parametrize("failed", [CONFLICT, RED])
def test_failed_merge_goes_back_and_the_second_is_stuck(failed: MergeFailed) -> None:
    first = run(make_merging(), failed)
    assert way(first) == ["reviewing", "working"]
    assert (first.task.approval, first.task.awaiting, whose_turn(first.task)) == (None, None, Turn.WORKER)
    assert first.archived == (Section.HANDOFF,)
    assert first.events[0].data == {"conflicts": list(failed.conflicts)}
    second = run(make_merging(), failed, counts=Counts(failed_merges=1))
    assert way(second) == ["reviewing", "stuck"]
    assert str(second.steps[0].reason).startswith("merge-failed: ")
    assert (second.task.approval, second.task.awaiting) == (None, Awaiting.ESCALATION)


def test_conflict_may_be_stuck_by_policy_but_red_checks_are_not() -> None:
    policy = Policy(on_conflict=OnConflict.STUCK)
    assert run(make_merging(), CONFLICT, policy=policy).task.status is Status.STUCK
    assert run(make_merging(), RED, policy=policy).task.status is Status.WORKING


@pytest.mark.parametrize("failed", [CONFLICT, RED])
@pytest.mark.parametrize("policy", [Policy(), Policy(on_conflict=OnConflict.STUCK)])
def test_work_of_a_person_that_cannot_be_merged_stays_theirs(failed: MergeFailed, policy: Policy) -> None:
    counts = Counts(work_approved=True, failed_merges=1)
    decision = run(make_merging(), failed, counts=counts, policy=policy)
    assert way(decision) == ["reviewing", "working"]
    assert (decision.task.awaiting, whose_turn(decision.task)) == (Awaiting.WORK, Turn.PERSON)


def test_epic_whose_merge_failed_has_a_child_for_it() -> None:
    task = make_epic(Status.REVIEWING, awaiting=None, approval=make_merging().approval)
    assert run(task, CONFLICT, policy=EPIC_BRANCH).rework == "conflict in a.py"
    assert run(task, CONFLICT, policy=EPIC_BRANCH, counts=Counts(failed_merges=1)).rework is None


# Merges that were found


@pytest.mark.parametrize(
    "task",
    [
        make_task(Status.REVIEWING),
        make_task(Status.REVIEWING, requires=Requires.APPROVAL, awaiting=Awaiting.APPROVAL),
        make_merging(),
        *(make_task(status, awaiting=Awaiting.WORK) for status in Status if not status.is_terminal),
    ],
)
def test_merge_by_a_person_closes_what_was_to_be_merged(task: Task) -> None:
    decision = run(task, MergeFound(ADA, MERGE))
    assert (decision.task.status, decision.task.merged_sha, decision.task.awaiting) == (
        Status.DONE,
        MERGE,
        None,
    )
    assert decision.events[-1].actor == ADA
    assert all(is_legal_step(step.from_status, step.to_status) for step in decision.steps)
    if task.status is Status.WORKING:
        assert waived(decision) == ["handoff", "review"]


@pytest.mark.parametrize(
    "task",
    [make_task(status) for status in Status if not status.is_terminal and status is not Status.REVIEWING],
)
def test_merge_elsewhere_asks_a_person_once(task: Task) -> None:
    found = MergeFound(ADA, MERGE)
    decision = run(task, found)
    assert decision.steps == ()
    assert (decision.task.status, decision.task.awaiting) == (task.status, Awaiting.ESCALATION)
    again = run(decision.task, found)
    assert (again.task, again.events) == (decision.task, ())
    assert run(decision.task, MergeFound(ADA, "e" * 40)).events != ()


@pytest.mark.parametrize("policy", [Policy(minimum_approval="L1"), Policy(four_eyes=True)])
def test_merge_by_hand_closes_nothing_where_a_name_is_too_little(policy: Policy) -> None:
    found = MergeFound(ADA, MERGE)
    for task in (make_task(Status.REVIEWING), make_task(Status.WORKING, awaiting=Awaiting.WORK)):
        decision = run(task, found, policy=policy)
        assert (decision.task.status, decision.task.awaiting) == (task.status, Awaiting.ESCALATION)


@pytest.mark.parametrize(
    ("policy", "approval", "is_done"),
    [
        (Policy(minimum_approval="L1"), None, False),
        (Policy(minimum_approval="L1"), Approval("Grace", EARLIER, HEAD, "L0"), False),
        (Policy(minimum_approval="L1"), Approval("Grace", EARLIER, OTHER_HEAD, "L1"), False),
        (Policy(minimum_approval="L1"), Approval("Grace", EARLIER, HEAD, "L1"), True),
        (Policy(four_eyes=True), Approval("Ada", EARLIER, HEAD), False),
        (Policy(four_eyes=True), Approval("gitticks", EARLIER, HEAD, "waived"), False),
        (Policy(four_eyes=True), Approval("Grace", EARLIER, HEAD), True),
    ],
)
@pytest.mark.parametrize("task", [make_task(Status.REVIEWING, awaiting=Awaiting.WORK), make_merging()])
def test_merge_by_hand_of_approved_work_closes_the_commit_that_was_approved_strongly_enough(
    task: Task, policy: Policy, approval: Approval | None, is_done: bool
) -> None:
    decision = run(
        task,
        MergeFound(ADA, MERGE),
        artifacts=Artifacts(head=HEAD, approved=approval),
        counts=Counts(hands=frozenset({"Ada"})),
        policy=policy._replace(merge_mode=MergeMode.MANUAL),
    )
    assert (decision.task.status is Status.DONE) is is_done
    assert is_done or decision.task.awaiting is Awaiting.ESCALATION


@pytest.mark.parametrize("actor", [WORKER, REVIEWER, ENGINE])
@pytest.mark.parametrize("task", [make_task(Status.REVIEWING), make_task(awaiting=Awaiting.WORK)])
def test_merge_by_an_agent_closes_nothing(task: Task, actor: Actor) -> None:
    decision = run(task, MergeFound(actor, MERGE))
    assert (decision.task.status, decision.task.awaiting) == (task.status, Awaiting.ESCALATION)


def test_merge_that_a_kill_left_unrecorded_closes() -> None:
    assert run(make_merging(), MergeFound(ENGINE, MERGE)).task.status is Status.DONE


@pytest.mark.parametrize("task", [make_task(Status.REVIEWING), make_merging()])
def test_merge_in_doubt_is_asked_about_and_counts_if_the_work_is_approved_then(task: Task) -> None:
    found = MergeFound(ENGINE, MERGE, "with `m3q8`")
    decision = run(task, found)
    assert (decision.task.status, decision.task.awaiting) == (Status.REVIEWING, Awaiting.ESCALATION)
    assert impossible(decision.task) is None
    assert run(make_merging(merged_sha=MERGE), found).task.status is Status.DONE


@pytest.mark.parametrize("status", [Status.DONE, Status.CANCELLED])
def test_merge_of_a_closed_task(status: Status) -> None:
    with pytest.raises(RefusedError, match="already"):
        run(make_task(status), MergeFound(ADA, MERGE))


@pytest.mark.parametrize("task", [make_task(), make_task(Status.REVIEWING)])
def test_branch_without_commits_counts_for_nothing(task: Task) -> None:
    with pytest.raises(RefusedError, match="no commit of its own"):
        run(task, MergeFound(ADA, MERGE), artifacts=Artifacts(head=START))


def test_merge_that_is_found_ends_the_manual_mode() -> None:
    task = make_task(Status.REVIEWING, awaiting=Awaiting.WORK)
    decision = run(task, MergeFound(ADA, MERGE), policy=Policy(merge_mode=MergeMode.MANUAL))
    assert way(decision) == ["reviewing", "done"]


# Heads that moved


def test_moved_head_voids_a_review_but_not_its_turn() -> None:
    decision = run(make_task(Status.AGENT_REVIEW), HeadMoved(OTHER_HEAD))
    assert decision.steps == ()
    assert (decision.task.end_sha, decision.archived, whose_turn(decision.task)) == (
        OTHER_HEAD,
        (Section.REVIEW,),
        Turn.REVIEWER,
    )
    assert kinds(decision) == [EventType.VOIDED]


@pytest.mark.parametrize("task", [make_task(Status.REVIEWING), make_merging()])
def test_moved_head_voids_an_approval(task: Task) -> None:
    decision = run(task, HeadMoved(OTHER_HEAD))
    assert way(decision) == ["reviewing", "working"]
    assert (decision.task.approval, decision.task.awaiting, whose_turn(decision.task)) == (
        None,
        None,
        Turn.WORKER,
    )


@pytest.mark.parametrize(
    "task", [make_task(Status.AGENT_REVIEW), make_task(Status.REVIEWING), make_merging()]
)
def test_second_moved_head_asks_a_person(task: Task) -> None:
    decision = run(task, HeadMoved(OTHER_HEAD), counts=Counts(voids=1))
    assert way(decision) == [str(task.status), "stuck"]
    rows = rows_between(task.status, Status.STUCK)
    assert any("the branch moved" in GATE_MEANINGS[row.gate] for row in rows)


@pytest.mark.parametrize(
    ("task", "policy"),
    [
        (make_task(), Policy()),
        (make_task(Status.PENDING), Policy()),
        (make_task(Status.CLARIFICATION), Policy()),
        (make_task(Status.STUCK), Policy()),
        (make_task(Status.DONE), Policy()),
        (make_task(Status.REVIEWING, end_sha=OTHER_HEAD), Policy()),
        (make_task(Status.REVIEWING, parent="e9zz"), EPIC_BRANCH),
        (make_task(Status.REVIEWING), Policy(isolation=Isolation.NONE)),
        (make_epic(Status.REVIEWING), Policy()),
        (make_task(Status.REVIEWING, awaiting=Awaiting.WORK), Policy(merge_mode=MergeMode.MANUAL)),
    ],
)
def test_head_that_nothing_hangs_on(task: Task, policy: Policy) -> None:
    with pytest.raises(RefusedError):
        run(task, HeadMoved(OTHER_HEAD), policy=policy)


def test_epic_whose_head_moved_needs_no_child() -> None:
    decision = run(make_epic(Status.REVIEWING), HeadMoved(OTHER_HEAD), policy=EPIC_BRANCH)
    assert (way(decision), decision.rework) == (["reviewing", "working"], None)
