from __future__ import annotations

from pathlib import Path

from gitticks.actions.context import Context
from gitticks.actions.statistics.gathering import gather
from gitticks.model.ids import TaskId
from gitticks.model.status import TaskType
from gitticks.store.transaction import Transaction
from tests.support.stores import ADA, make_store, put_task

DEEP = 30


def _put_nested(transaction: Transaction) -> None:
    def put(task_id: str, parent: str | None = None, kind: TaskType = TaskType.TASK) -> None:
        put_task(transaction, id=task_id, parent=TaskId(parent) if parent else None, type=kind)

    put("outer", kind=TaskType.EPIC)
    put("inner", "outer", TaskType.EPIC)
    put("a1", "inner")
    put("a2", "a1")
    put("b1", "outer")
    put("c1", "c2")
    put("c2", "c1")
    put("d1", "gone")
    put("line0", "outer")
    for number in range(1, DEEP):
        put(f"line{number}", f"line{number - 1}")


def test_each_task_counts_for_the_nearest_epic_above_it_and_circles_for_none(tmp_path: Path) -> None:
    make_store(tmp_path).transact(_put_nested, author=ADA)
    found = gather(Context(directory=tmp_path))
    assert {one.id: one.figures.open for one in found.epics} == {"outer": 1 + DEEP, "inner": 2, None: 3}
    assert found.epics[-1].id is None
    assert [one.name for one in found.agents] == [""]
