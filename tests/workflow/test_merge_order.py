"""The order of the merge queue, row by row."""

from __future__ import annotations

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
    ],
)
def test_the_fewest_conflicts_come_first_after_what_is_waited_for(
    waiting: str, conflicts: str, order: str
) -> None:
    """`a1>b`: task a, approved at 1, waits for b."""
    tasks = []
    for word in waiting.split():
        name, _, after = word.partition(">")
        tasks.append(Waiting(TaskId(name[0]), name[1:], tuple(map(TaskId, filter(None, after.split(","))))))
    pairs = [(TaskId(pair[0]), TaskId(pair[1])) for pair in conflicts.split()]
    assert " ".join(merge_order(tasks, pairs)) == order
