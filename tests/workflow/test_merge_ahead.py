"""Which checks made ahead hold, and which may be used, row by row."""

from __future__ import annotations

import pytest

from gitticks.model.ids import TaskId
from gitticks.workflow.merge_ahead import Candidate, CheckedMerge, count_holding, may_stand_for


def merge(words: str, policy: object = None) -> CheckedMerge:
    """Returns a merge: `b T1 T2` is b's onto the tree T1, which gives T2; `b2 T1 T2` is of another head."""
    task, onto, tree = words.split()
    return CheckedMerge(candidate(task), onto, tree, policy)


def candidate(task: str) -> Candidate:
    return Candidate(TaskId(task[0]), f"head {task[1:]}")


@pytest.mark.parametrize(
    ("ahead", "supposed", "waiting", "merging", "holding"),
    [
        ("", "T1", "b c", None, 0),
        ("b T1 T2", "T1", "b c", None, 1),
        ("b T1 T2, c T2 T3", "T1", "b c", None, 2),
        ("b T1 T2, c T2 T3", "T1", "c b", None, 2),
        ("b T1 T2, c T2 T3", "T0", "b c", None, 0),
        ("b T1 T2, c T2 T3", "T1", "c", None, 0),
        ("b T1 T2, c T2 T3", "T1", "b", None, 1),
        ("b T1 T2, c T2 T3", "T1", "b2 c", None, 0),
        ("b T1 T2, c T2 T3", "T1", "b c2", None, 1),
        ("b T1 T2, c T2 T3", None, "c", "b", 2),
        ("b T1 T2, c T2 T3", "T0", "c", "b", 2),
        ("b T1 T2, c T2 T3", None, "b c", None, 2),
        ("b T1 T2, c T2 T3", None, "", "b", 1),
        ("c T2 T3", "T2", "c", None, 1),
        ("c T2 T3", "T9", "c", None, 0),
    ],
)
def test_a_check_holds_as_long_as_its_merge_can_still_be_made(
    ahead: str, supposed: str | None, waiting: str, merging: str | None, holding: int
) -> None:
    merges = [merge(one) for one in ahead.split(", ") if one]
    found = count_holding(
        merges, supposed, [candidate(one) for one in waiting.split()], TaskId(merging) if merging else None
    )
    assert found == holding


@pytest.mark.parametrize(
    ("asked", "policy", "passed", "may"),
    [
        ("b T1 T2", "tests", True, True),
        ("b T1 T2", "tests", False, False),
        ("b2 T1 T2", "tests", True, False),
        ("b T0 T2", "tests", True, False),
        ("b T1 T9", "tests", True, False),
        ("c T1 T2", "tests", True, False),
        ("b T1 T2", "other tests", True, False),
    ],
)
def test_only_the_same_merge_under_the_same_policy_is_spared_its_check(
    asked: str, policy: str, passed: bool, may: bool
) -> None:
    assert may_stand_for(merge("b T1 T2", "tests"), merge(asked, policy), passed=passed) is may
