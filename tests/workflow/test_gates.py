"""Whose branch it is, whether its head moved, and when the rounds are spent."""

from __future__ import annotations

import pytest

from gitticks.errors import RefusedError
from gitticks.model.settings import Policy, ReviewPolicy
from gitticks.model.status import Isolation, Status, TaskType
from gitticks.workflow.artifacts import Artifacts
from gitticks.workflow.gates import check_branch, has_moved, is_at_limit, owns_branch
from tests.support.decisions import HEAD, OTHER_HEAD, START, make_task


@pytest.mark.parametrize(
    ("kind", "parent", "isolation", "owns"),
    [
        (TaskType.TASK, None, Isolation.TASK, True),
        (TaskType.TASK, "e9zz", Isolation.TASK, True),
        (TaskType.TASK, None, Isolation.EPIC, True),
        (TaskType.TASK, "e9zz", Isolation.EPIC, False),
        (TaskType.TASK, None, Isolation.NONE, False),
        (TaskType.EPIC, None, Isolation.TASK, False),
        (TaskType.EPIC, "e9zz", Isolation.EPIC, True),
        (TaskType.EPIC, None, Isolation.NONE, False),
    ],
)
def test_whose_branch(kind: TaskType, parent: str | None, isolation: Isolation, *, owns: bool) -> None:
    task = make_task(Status.REVIEWING, type=kind, parent=parent)
    policy = Policy(isolation=isolation)
    assert owns_branch(task, policy) is owns
    assert has_moved(task, Artifacts(head=OTHER_HEAD), policy) is owns
    assert not has_moved(task, Artifacts(head=HEAD), policy)
    assert not has_moved(task, Artifacts(), policy)
    assert not has_moved(make_task(type=kind, parent=parent), Artifacts(head=HEAD), policy)


@pytest.mark.parametrize("status", [Status.WORKING, Status.STUCK])
def test_begun_work_of_which_nothing_is_here_goes_no_further(status: Status) -> None:
    with pytest.raises(RefusedError, match="that branch is not in this clone"):
        check_branch(make_task(status), Artifacts())
    check_branch(make_task(status), Artifacts(head=START))
    check_branch(make_task(status, end_sha=HEAD), Artifacts())  # what is missing of this is named elsewhere
    check_branch(make_task(status, branch=None), Artifacts())
    check_branch(make_task(Status.REVIEWING, end_sha=None), Artifacts())


@pytest.mark.parametrize(
    ("review", "limit", "rounds", "failed", "spent"),
    [
        (ReviewPolicy.AGENT, 2, 3, 0, False),
        (ReviewPolicy.AGENT, 2, 3, 1, True),
        (ReviewPolicy.AGENT, 1, 3, 0, True),
        (ReviewPolicy.AGENT, 2, 3, 7, True),
        (ReviewPolicy.COUNCIL, 2, 3, 2, False),
        (ReviewPolicy.COUNCIL, 2, 3, 3, True),
        (ReviewPolicy.COUNCIL, 2, 0, 0, True),
    ],
)
def test_limit_of_failed_reviews(
    review: ReviewPolicy, limit: int, rounds: int, failed: int, *, spent: bool
) -> None:
    policy = Policy(review=review, review_limit=limit, council_rounds=rounds)
    assert is_at_limit(make_task(Status.AGENT_REVIEW, failed_reviews=failed), policy) is spent
