"""All tasks at a commit that no index tells of: as a fresh build would give them, whatever the commit did."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gitticks.model.ids import TaskId, task_path
from gitticks.store.branch import Store, tasks_after
from gitticks.store.index import open_index
from tests.support.tasks import make_store, make_task, put_tasks, write_files

IDS = ("k7f2", "m3a9", "e111", "b1kd")
PLACES = [task_path(TaskId(name)) for name in IDS]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path / "r", [make_task(name) for name in IDS])


def test_what_a_commit_changed_removed_and_broke_is_seen(store: Store) -> None:
    before = store.tip()
    changed = replace(make_task("k7f2"), title="Another title")
    put_tasks(store, [changed, make_task("new1")])
    write_files(store, {PLACES[1]: None, PLACES[2]: b"no task", PLACES[3]: store.read(PLACES[0])})
    found = tasks_after(store.repository, before, store.tip())
    assert sorted(found) == ["k7f2", "new1"]
    assert found[TaskId("k7f2")] == changed
    with open_index(store.repository) as index:
        assert {task.id: task for task in index.tasks()} == found
    assert sorted(tasks_after(store.repository, store.tip(), before)) == sorted(IDS)
