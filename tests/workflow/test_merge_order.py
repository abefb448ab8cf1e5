"""The order of the merge queue, row by row."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gitticks.model.ids import TaskId
from gitticks.workflow.merge_order import Waiting, merge_order


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
