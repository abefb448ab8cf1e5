"""What tasks are handed down, against a walk of all ancestors: many of them, deep ones, and in cycles."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

import pytest
from hypothesis import given

from gitticks.model.ids import TaskId
from gitticks.model.queries import Surroundings, TaskGraph, is_deferred, is_taken
from gitticks.model.status import Awaiting, Status
from gitticks.model.task import Task
from tests.support import graphs
from tests.support.graphs import graph, make

AROUND = Surroundings(graphs.TODAY, graphs.NOW)
MANY = 10_000


# Each of the first ones takes minutes if every task looks at its whole family.


def test_ten_thousand_tasks_in_one_epic_with_a_thousand_blockers() -> None:
    blockers = [f"b{number}" for number in range(1000)]
    children = [make(f"t{number}", parent="e1") for number in range(MANY)]
    tasks = graph(make("e1", *blockers), *(make(one) for one in blockers), *children)
    assert len(tasks.ready(AROUND)) == len(blockers)
    closed = graph(make("e1", *blockers), *(make(one, status=Status.DONE) for one in blockers), *children)
    assert len(closed.ready(AROUND)) == MANY


def test_ten_thousand_epics_in_one_another_with_a_task_in_each() -> None:
    epics = [make(f"e{number}", parent=f"e{number + 1}") for number in range(MANY)]
    tasks = [make(f"t{number}", parent=f"e{number}") for number in range(MANY)]
    assert len(graph(*epics, *tasks).ready(AROUND)) == MANY
    held = [*epics[:-1], replace(epics[-1], awaiting=Awaiting.INPUT)]
    assert graph(*held, *tasks).ready(AROUND) == []


def test_ten_thousand_tasks_that_wait_in_a_row() -> None:
    row = [make(f"t{number}", f"t{number + 1}") for number in range(MANY)]
    assert [task.id for task in graph(*row).ready(AROUND)] == [f"t{MANY - 1}"]


def open_above(graph: TaskGraph, task: Task) -> Iterator[Task]:
    """Yields the ancestors up to a closed one, which keeps nobody."""
    return takewhile(lambda one: one.is_open, graph.ancestors(task))


def walked_blockers(graph: TaskGraph, task: Task) -> tuple[TaskId, ...]:
    """Returns what `open_blockers` says, by walking all ancestors."""
    owners = (task, *open_above(graph, task))
    found = [one for owner in owners for one in owner.blocked_by if graph.is_open_id(one) and one != task.id]
    return tuple(dict.fromkeys(found))


@pytest.mark.parametrize("seed", range(60))
def test_blockers_are_those_of_all_ancestors_also_in_cycles(seed: int) -> None:
    draw = random.Random(seed)
    ids = [TaskId(f"t{number:02}") for number in range(12)]
    tasks = [
        Task(
            one,
            "x",
            parent=draw.choice([None, *ids]),
            blocked_by=tuple(draw.sample(ids, draw.choice([0, 0, 0, 1, 2]))),
            status=draw.choice([Status.PENDING, Status.PENDING, Status.DONE]),
        )
        for one in ids
    ]
    graph = TaskGraph.of(tasks)
    for task in draw.sample(tasks, len(tasks)):
        assert graph.open_blockers(task) == walked_blockers(graph, task)


def walked_epic(graph: TaskGraph, task: Task) -> TaskId | None:
    """Returns what `epic_of` says, by walking all ancestors."""
    return next((one.id for one in open_above(graph, task) if one.is_epic), None)


def is_walked_ready(graph: TaskGraph, task: Task, around: Surroundings) -> bool:
    """Returns what `is_ready` says, by walking all ancestors."""
    family = (task, *open_above(graph, task))
    is_free = not any(one.awaiting or is_deferred(one, around.today) for one in family)
    return task.is_workable and not is_taken(task, around) and is_free and not walked_blockers(graph, task)


@given(graphs.tasks(), graphs.surroundings())
def test_what_is_handed_down_is_what_a_walk_finds_also_in_cycles(
    tasks: list[Task], around: Surroundings
) -> None:
    graph = TaskGraph.of(tasks)
    for task in tasks:
        assert graph.epic_of(task) == walked_epic(graph, task)
        assert graph.is_ready(task, around) == is_walked_ready(graph, task, around)
        assert graph.is_blocked(task) == (task.is_open and bool(walked_blockers(graph, task)))
        holders = [one for one in open_above(graph, task) if one.awaiting or is_deferred(one, around.today)]
        assert graph.holder(task, around) == (holders[0] if task.is_open and holders else None)
    picked = graph.in_picking_order([task for task in tasks if task.is_open])
    assert [graph.pick_key(task) for task in picked] == sorted(graph.pick_key(task) for task in picked)


def test_ten_thousand_epics_in_a_cycle_with_a_task_in_each() -> None:
    epics = [make(f"e{number}", parent=f"e{(number + 1) % MANY}") for number in range(MANY)]
    tasks = [make(f"t{number}", parent=f"e{number}") for number in range(MANY)]
    round_about = graph(*epics, *tasks)
    assert len(round_about.ready(AROUND)) == MANY
    assert round_about.epic_of(epics[0]) == "e1"
    held = graph(*epics[:-1], replace(epics[-1], awaiting=Awaiting.INPUT), *tasks)
    assert held.ready(AROUND) == []
