from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.errors import GitticksError, NotFoundError, RefusedError
from gitticks.model.graph import find_cycles
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.status import Status, TaskType
from gitticks.model.task import Task
from gitticks.store.links import check_links


def _task(name: str, *blocked_by: str, parent: str | None = None, **more: object) -> Task:
    blockers = tuple(TaskId(one) for one in blocked_by)
    return Task(TaskId(name), name, blocked_by=blockers, parent=TaskId(parent) if parent else None, **more)  # type: ignore[arg-type]


def _tasks(*tasks: Task) -> dict[TaskId, Task]:
    return {task.id: task for task in tasks}


EPIC = _task("epic", type=TaskType.EPIC)


@pytest.mark.parametrize(
    ("others", "before", "after"),
    [
        ([_task("a")], _task("b"), _task("b", "a")),
        ([_task("a", "b", status=Status.DONE)], _task("b"), _task("b", "a")),
        ([EPIC], None, _task("b", parent="epic")),
        ([], _task("b", "gone", parent="gone"), _task("b", "gone", parent="gone", priority=0)),
        ([EPIC], EPIC, _task("epic")),
    ],
)
def test_links_that_are_well(others: list[Task], before: Task | None, after: Task) -> None:
    check_links(_tasks(*others, *([before] if before else [])), before, after)


@pytest.mark.parametrize(
    ("others", "before", "after", "kind", "message"),
    [
        ([], None, _task("b", "a"), NotFoundError, "there is no task `a` to wait for"),
        ([], None, _task("b", parent="a"), NotFoundError, "there is no task `a` to be the parent"),
        ([_task("a")], None, _task("b", parent="a"), RefusedError, "only epics have children"),
        ([], None, _task("b", parent="b"), RefusedError, "cannot be its own parent"),
        ([], None, _task("b", "b"), RefusedError, "would wait for itself: b → b"),
        ([_task("a", "b")], _task("b"), _task("b", "a"), RefusedError, "b → a → b"),
        (
            [EPIC, _task("c", parent="epic")],
            EPIC,
            _task("epic", "c", type=TaskType.EPIC),
            RefusedError,
            "wait for itself",
        ),
        (
            [EPIC, _task("c", parent="epic")],
            EPIC,
            _task("epic"),
            RefusedError,
            "has children, so it stays an epic",
        ),
        (
            [_task("top", parent="epic", type=TaskType.EPIC)],
            EPIC,
            _task("epic", parent="top", type=TaskType.EPIC),
            RefusedError,
            "would be its own ancestor",
        ),
    ],
)
def test_links_that_make_no_sense(
    others: list[Task], before: Task | None, after: Task, kind: type[GitticksError], message: str
) -> None:
    with pytest.raises(kind, match=message):
        check_links(_tasks(*others, *([before] if before else [])), before, after)


@pytest.mark.parametrize("blocker", ["b", "a"])
def test_a_closed_task_may_be_reopened_so_it_enters_no_cycle_either(blocker: str) -> None:
    before = _task("b", status=Status.CANCELLED)
    with pytest.raises(RefusedError, match="`b` would wait for itself"):
        check_links(_tasks(_task("a", "b"), before), before, _task("b", blocker, status=Status.CANCELLED))


def test_a_cycle_below_the_changed_task_is_found_though_it_does_not_lead_back() -> None:
    tasks = _tasks(EPIC, _task("child", parent="epic"), _task("other", "child"))
    with pytest.raises(RefusedError, match="would wait for itself"):
        check_links(tasks, EPIC, _task("epic", "other", type=TaskType.EPIC))


_NAMES = ("a", "b", "c", "d")


@given(st.lists(st.tuples(st.sampled_from(_NAMES), st.sampled_from(_NAMES)), max_size=12))
def test_whatever_is_let_in_no_cycle_comes_to_be(pairs: list[tuple[str, str]]) -> None:
    tasks = _tasks(*(_task(name) for name in _NAMES))
    for name, blocker in pairs:
        before = tasks[TaskId(name)]
        after = _task(name, *dict.fromkeys([*before.blocked_by, blocker]))
        try:
            check_links(tasks, before, after)
        except RefusedError:
            continue
        tasks[after.id] = after
        graph = TaskGraph.of(tasks.values())
        assert find_cycles(graph) == ()
