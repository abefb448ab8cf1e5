"""The index's tasks, read one by one, answer as all of them together."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings

from gitticks.model.queries import Surroundings, TaskGraph, first_ready
from gitticks.model.task import Task
from gitticks.store import index as module
from gitticks.store.index import open_index
from gitticks.store.indexed_graph import IndexedTasks, candidates_in, graph_over
from tests.support import graphs
from tests.support.tasks import make_store, make_task


@settings(max_examples=25)
@given(graphs.tasks(), graphs.surroundings())
def test_the_index_picks_what_the_graph_of_all_tasks_picks(tasks: list[Task], around: Surroundings) -> None:
    whole = TaskGraph.of(tasks)
    with TemporaryDirectory() as folder:
        store = make_store(Path(folder, "r"), tasks)
        with open_index(store.repository) as index:
            graph = graph_over(index)
            found = first_ready(graph, candidates_in(index), around)
            expected = next(iter(whole.ready(around)), None)
            assert (found and found.id) == (expected and expected.id)
            for task in tasks:
                row = graph.tasks[task.id]
                assert graph.group(row) == whole.group(task)
                assert graph.open_blockers(row) == whole.open_blockers(task)


def test_the_mapping_is_that_of_all_tasks(tmp_path: Path) -> None:
    tasks = [make_task("k7f2"), make_task("m3a9")]
    with open_index(make_store(tmp_path / "r", tasks).repository) as index:
        assert [(task_id, row.title) for task_id, row in IndexedTasks(index).items()] == [
            (task.id, task.title) for task in tasks
        ]
        assert len(IndexedTasks(index)) == 2
        assert "zzzz" not in IndexedTasks(index)


def test_candidates_are_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ROWS_AT_ONCE", 4)
    tasks = [make_task(f"k{number}aa") for number in range(2, 8)]
    with open_index(make_store(tmp_path / "r", tasks).repository) as index:
        assert [row.id for row in index.workable(is_child=False)] == [task.id for task in tasks]
        assert list(index.workable(is_child=True)) == []
