"""The order of the merge queue, and which checks made ahead hold and may be used, row by row."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gitticks.model.ids import TaskId
from gitticks.workflow.merge_ahead import (
    Candidate,
    CheckedMerge,
    Waiting,
    count_holding,
    may_stand_for,
    merge_order,
)


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


@pytest.mark.parametrize(
    ("waiting", "conflicts", "order"),
    [
        ("", "", ""),
        ("a1 b2 c3", "", "a b c"),
        ("c1 b2 a3", "", "c b a"),
        ("b1 a1", "", "a b"),
        ("a1 b2 c3", "ab", "c a b"),
        ("a1 b2 c3 d4", "ab ac ad", "b c d a"),
        ("a1 b2 c3 d4", "ab cd", "a b c d"),
        ("a1 b2 c3 d4", "ad bd", "c a b d"),
        ("a1>b b2 c3", "", "b a c"),
        ("a1>b b2 c3", "bc", "b a c"),
        ("a1>x b2", "", "a b"),
        ("a1>b b2>a c3", "", "c a b"),
        ("a1>b,c b2 c3>b", "", "b c a"),
        ("a1 b61 c62", "ab ac", "b a c"),
        ("a1 b62 c30", "ab", "c a b"),
        ("a1 b62 c123", "ab", "a b c"),
        ("a1>b b99 c62", "", "c b a"),
        ("a1 b300 c301 d302", "ab ac ad", "a b c d"),
    ],
)
def test_the_fewest_conflicts_come_first_after_what_is_waited_for(
    waiting: str, conflicts: str, order: str
) -> None:
    """`a1>b`: task a, approved in minute 1, waits for b; what comes more than an hour later does not overtake it."""
    midnight = datetime(2026, 1, 1, tzinfo=UTC)
    tasks = []
    for word in waiting.split():
        name, _, after = word.partition(">")
        at = midnight + timedelta(minutes=int(name[1:]))
        tasks.append(Waiting(TaskId(name[0]), at, tuple(map(TaskId, filter(None, after.split(","))))))
    pairs = [(TaskId(pair[0]), TaskId(pair[1])) for pair in conflicts.split()]
    assert " ".join(merge_order(tasks, pairs)) == order
