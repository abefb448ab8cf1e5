"""Tasks with links, by hand, and at random with all that the picking order depends on."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from hypothesis import strategies as st

from gitticks.model.ids import TaskId
from gitticks.model.queries import Surroundings, TaskGraph
from gitticks.model.status import Awaiting, Status, TaskType
from gitticks.model.task import Claim, Task
from tests.support.tasks import CREATED, make_task

IDS = tuple(TaskId(f"{letter}{number}aa") for letter in "abc" for number in range(2, 7))
TODAY = date(2026, 1, 10)
NOW = CREATED + timedelta(days=8)
OPEN_MOSTLY = (Status.PENDING,) * 6 + tuple(Status)
_LINKS = st.one_of(st.none(), st.sampled_from(IDS), st.just(TaskId("gone")))


def make(task_id: str, *blockers: str, parent: str | None = None, **fields: Any) -> Task:
    """Returns a task; ids that begin with `e` are epics."""
    usual: dict[str, Any] = {"type": TaskType.EPIC if task_id.startswith("e") else TaskType.TASK}
    return Task(
        TaskId(task_id),
        task_id,
        blocked_by=tuple(TaskId(one) for one in blockers),
        parent=TaskId(parent) if parent else None,
        **{**usual, **fields},
    )


def graph(*tasks: Task) -> TaskGraph:
    """Returns the graph of these tasks."""
    return TaskGraph.of(tasks)


@st.composite
def _task(draw: st.DrawFn, task_id: TaskId) -> Task:
    expires = draw(st.sampled_from([None, None, None, NOW - timedelta(hours=1), NOW + timedelta(hours=1)]))
    return replace(
        make_task(task_id),
        type=draw(st.sampled_from((TaskType.TASK, TaskType.TASK, TaskType.EPIC))),
        status=draw(st.sampled_from(OPEN_MOSTLY)),
        priority=draw(st.integers(0, 4)),
        parent=draw(_LINKS),
        blocked_by=tuple(draw(st.lists(st.sampled_from(IDS), max_size=1))),
        awaiting=draw(st.sampled_from((None, None, None, None, Awaiting.INPUT))),
        defer_until=draw(st.sampled_from((None, None, None, TODAY, TODAY + timedelta(days=1)))),
        claim=Claim("runner", "host", CREATED, expires) if expires else None,
        created=draw(st.sampled_from((None, CREATED, CREATED + timedelta(days=1)))),
    )


def tasks() -> st.SearchStrategy[list[Task]]:
    """Returns lists of tasks with ids of `IDS`, in any order."""
    return st.lists(st.sampled_from(IDS), unique=True).flatmap(
        lambda ids: st.tuples(*(_task(task_id) for task_id in ids)).map(list)
    )


def surroundings() -> st.SearchStrategy[Surroundings]:
    """Returns surroundings in which a few tasks are live, held or in conflict."""
    some = st.frozensets(st.sampled_from(IDS), max_size=2)
    return st.builds(
        Surroundings, today=st.just(TODAY), now=st.just(NOW), live=some, held=some, conflicted=some
    )
