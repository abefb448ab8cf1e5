"""The tree of epics: groups of tops, folded places, cycles of parents, and depths that no recursion takes."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.model.forest import Forest, forest_of, walk
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.status import Status, TaskType
from gitticks.model.task import Task

DEEP = 10_000


def in_tree(task_id: str, parent: str | None = None, priority: int = 2, *, done: bool = False) -> Task:
    """Returns a task; ids that begin with `e` are epics."""
    return Task(
        TaskId(task_id),
        task_id,
        type=TaskType.EPIC if task_id.startswith("e") else TaskType.TASK,
        priority=priority,
        status=Status.DONE if done else Status.PENDING,
        parent=TaskId(parent) if parent else None,
    )


def forest(graph: TaskGraph) -> Forest[Task]:
    return forest_of(graph, lambda one: bool(graph.children(one)))


def drawn(
    graph: TaskGraph, tops: Iterable[Task], closed: Mapping[TaskId | None, int] | None = None
) -> list[str]:
    """Returns each place as its depth in dashes, its id or how many are folded, and what it says of itself."""
    return [
        "-" * place.depth
        + (place.task.id if place.task else f"{place.closed} closed")
        + ("." if place.is_last else "")
        + ("!" if place.is_again else "")
        + (":" if place.has_below else "")
        for place in walk(tops, graph.children, closed)
    ]


def ids(tasks: Iterable[Task]) -> list[str]:
    return [task.id for task in tasks]


def test_tops_stand_in_groups_each_by_urgency() -> None:
    graph = TaskGraph.of(
        [
            in_tree("e2"),
            in_tree("e1", priority=0),
            in_tree("a"),
            in_tree("b", priority=1),
            in_tree("orphan", "gone"),
            in_tree("c", "e2"),
            in_tree("has"),
            in_tree("d", "has"),
        ]
    )
    found = forest(graph)
    assert ids(found.epics) == ["e1", "e2", "has"]
    assert ids(found.standalone) == ["b", "a"]
    assert ids(found.orphans) == ["orphan"]
    assert found.cycles == []


def test_a_tree_is_shown_from_the_top_down_with_closed_ones_folded_in_last() -> None:
    graph = TaskGraph.of(
        [
            in_tree("e1"),
            in_tree("b", "e1", 3),
            in_tree("a", "e1"),
            in_tree("c", "a"),
            in_tree("z", "e1", done=True),
        ]
    )
    closed: dict[TaskId | None, int] = {TaskId("e1"): 2, TaskId("c"): 1}
    assert drawn(graph, [graph.tasks[TaskId("e1")]], closed) == [
        "e1.:",
        "-a:",
        "--c.:",
        "---1 closed.",
        "-b",
        "-z",
        "-2 closed.",
    ]


@pytest.mark.parametrize(
    ("links", "firsts", "lines"),
    [
        ({"a": "a"}, ["a"], ["a.:", "-a.!"]),
        ({"b": "a", "a": "b"}, ["a"], ["a.:", "-b.:", "--a.!"]),
        ({"b": "c", "c": "b", "x": "c"}, ["b"], ["b.:", "-c.:", "--b!", "--x."]),
        ({"x": "y", "y": "b", "b": "b"}, ["b"], ["b.:", "-b!", "-y.:", "--x."]),
    ],
)
def test_cycles_of_parents_are_reported_once(
    links: Mapping[str, str], firsts: list[str], lines: list[str]
) -> None:
    graph = TaskGraph.of([in_tree(one, parent) for one, parent in links.items()])
    found = forest(graph)
    assert ids(found.cycles) == firsts
    assert drawn(graph, found.cycles) == lines


def test_ten_thousand_parents_deep() -> None:
    tasks = [in_tree("e0"), *(in_tree(f"e{n}", f"e{n - 1}") for n in range(1, DEEP))]
    random.Random(1).shuffle(tasks)
    graph = TaskGraph.of(tasks)
    found = forest(graph)
    assert ids(found.epics) == ["e0"]
    assert [place.depth for place in walk(found.epics, graph.children)] == list(range(DEEP))


def test_a_deep_line_below_a_cycle() -> None:
    tasks = [in_tree("e0", "e1"), *(in_tree(f"e{n}", f"e{n - 1}") for n in range(1, DEEP))]
    graph = TaskGraph.of(tasks)
    assert ids(forest(graph).cycles) == ["e0"]


@given(st.lists(st.integers(-3, 12), min_size=1, max_size=12))
def test_every_task_stands_in_exactly_one_place(parents: list[int]) -> None:
    graph = TaskGraph.of(
        in_tree(f"t{n:02}", f"t{parent:02}" if parent >= 0 else None) for n, parent in enumerate(parents)
    )
    found = forest(graph)
    tops = [*found.epics, *found.standalone, *found.orphans, *found.cycles]
    places = [place.task for place in walk(tops, graph.children) if place.task and not place.is_again]
    assert sorted(ids(places)) == sorted(graph.tasks)
