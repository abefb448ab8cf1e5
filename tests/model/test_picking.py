"""Picking from streams gives what sorting all tasks gives, and reads no more than it must."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from gitticks.model.ids import TaskId
from gitticks.model.picking import Candidates, first_ready
from gitticks.model.queries import Surroundings, TaskGraph, by_priority_and_age
from gitticks.model.status import TaskType
from gitticks.model.task import Task
from tests.support import graphs
from tests.support.tasks import make_task


def candidates(tasks: list[Task]) -> Candidates[Task]:
    """Returns the streams of these tasks, by their definition."""
    graph = TaskGraph.of(tasks)
    workable = sorted((task for task in tasks if task.is_workable), key=by_priority_and_age)

    def below(epics: Iterable[TaskId]) -> list[Task]:
        wanted = set(epics)
        return [task for task in workable if any(one.id in wanted for one in graph.ancestors(task))]

    children = (task for task in workable if task.parent is not None)
    return Candidates(below, children, (task for task in workable if task.parent is None))


@given(graphs.tasks(), graphs.surroundings(), st.frozensets(st.sampled_from(graphs.IDS), max_size=3))
def test_the_first_of_the_streams_is_the_first_of_all(
    tasks: list[Task], around: Surroundings, unwanted: frozenset[TaskId]
) -> None:
    whole = TaskGraph.of(tasks)
    light = TaskGraph.over(whole.tasks, [task for task in tasks if task.is_begun])
    expected = [task for task in whole.ready(around) if task.id not in unwanted]
    found = first_ready(light, candidates(tasks), around, lambda task: task.id not in unwanted)
    assert found == (expected[0] if expected else None)


def test_the_streams_are_left_at_the_first_task_that_nothing_can_follow() -> None:
    epic = replace(make_task("e111"), type=TaskType.EPIC)
    tasks = [replace(make_task(f"k{number}aa"), parent=epic.id) for number in range(2, 9)]
    graph = TaskGraph.of([epic, *tasks])
    read: list[Task] = []

    def watched() -> Iterator[Task]:
        for task in tasks:
            read.append(task)
            yield task

    around = Surroundings(graphs.TODAY, graphs.NOW)
    assert first_ready(graph, Candidates(lambda _: (), watched(), ()), around) == tasks[0]
    assert read == tasks[:1]
