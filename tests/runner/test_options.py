"""Which tasks a run takes, and which first."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from gitticks.model.ids import TaskId
from gitticks.model.queries import Surroundings, TaskGraph
from gitticks.model.status import Awaiting, Status, TaskType
from gitticks.model.task import Task
from gitticks.runner.options import RunOptions, in_scope, left_out, next_tasks
from tests.support.tasks import CREATED, make_task

AROUND = Surroundings(today=date(2026, 3, 4), now=CREATED)


def task(name: str, parent: str | None = None, **fields: object) -> Task:
    made = replace(make_task(name), parent=TaskId(parent) if parent else None)
    return replace(made, **fields)  # type: ignore[arg-type]


EPIC = task("epic", type=TaskType.EPIC)
INNER = task("inner", "epic", type=TaskType.EPIC)
CLOSED = task("closed", type=TaskType.EPIC, status=Status.DONE)
TASKS = (
    EPIC,
    INNER,
    CLOSED,
    task("deep", "inner"),
    task("child", "epic"),
    task("alone"),
    task("orphan", "closed"),
)
GRAPH = TaskGraph.of(TASKS)


def options(**fields: object) -> RunOptions:
    return RunOptions()._replace(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        (options(), {"epic", "inner", "closed", "deep", "child", "alone", "orphan"}),
        (options(ids=(TaskId("epic"),)), {"epic", "inner", "deep", "child"}),
        (options(ids=(TaskId("inner"), TaskId("alone"))), {"inner", "deep", "alone"}),
        (
            options(include_standalone=False, include_orphans=False),
            {"epic", "inner", "closed", "deep", "child"},
        ),
        (options(include_standalone=False), {"epic", "inner", "closed", "deep", "child", "orphan"}),
        (options(include_orphans=False), {"epic", "inner", "closed", "deep", "child", "alone"}),
    ],
)
def test_the_scope(asked: RunOptions, names: set[str]) -> None:
    assert set(in_scope(GRAPH, asked)) == names


def test_what_the_flags_leave_out_is_named() -> None:
    asked = options(include_standalone=False, include_orphans=False)
    assert left_out(GRAPH, asked, AROUND) == {
        "--include-standalone": [TaskId("alone")],
        "--include-orphans": [TaskId("orphan")],
    }
    assert left_out(GRAPH, options(), AROUND) == {}


def picked(
    *tasks: Task,
    asked: RunOptions | None = None,
    around: Surroundings = AROUND,
    epic: str | None = None,
    limit: int = 10,
) -> list[str]:
    graph = TaskGraph.of(tasks)
    found = next_tasks(
        graph,
        in_scope(graph, asked or options()).values(),
        around,
        current_epic=TaskId(epic) if epic else None,
        in_review_limit=limit,
    )
    return [str(one.id) for one in found]


def test_reviews_come_first_then_the_current_epic_then_the_rest() -> None:
    tasks = (
        *TASKS,
        task("other", type=TaskType.EPIC),
        task("theirs", "other"),
        task("review", status=Status.AGENT_REVIEW, priority=4),
    )
    assert picked(*tasks, epic="other") == ["review", "theirs", "child", "deep", "alone", "orphan"]


def test_an_epic_in_progress_comes_before_a_new_one_and_priority_within() -> None:
    tasks = (
        task("old", type=TaskType.EPIC),
        task("new", type=TaskType.EPIC),
        task("aaaa", "new", priority=0),
        task("begun", "old", status=Status.WORKING, awaiting=Awaiting.CHECKPOINT),
        task("late", "old", priority=3),
        task("soon", "old", priority=1),
    )
    assert picked(*tasks) == ["soon", "late", "aaaa"]


def test_what_is_live_or_held_is_not_taken() -> None:
    around = AROUND._replace(live={TaskId("alone")}, held={TaskId("child")})
    assert set(picked(*TASKS, around=around)) == {"deep", "orphan"}


def test_above_the_limit_only_returned_work_is_taken() -> None:
    tasks = (
        task("aaaa"),
        task("back", status=Status.WORKING),
        task("seen", status=Status.REVIEWING, awaiting=Awaiting.REVIEW),
        task("check", status=Status.AGENT_REVIEW),
    )
    assert picked(*tasks, limit=3) == ["check", "aaaa", "back"]
    assert picked(*tasks, limit=2) == ["check", "back"]
