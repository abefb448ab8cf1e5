"""A row tells of a task what the whole task tells."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings

from gitticks.model.status import Awaiting, Requires, Status
from gitticks.model.task import Claim, Task, Usage
from gitticks.store.index import open_index
from gitticks.store.indexed_task import TRAITS, IndexedPage, IndexedTask
from tests.support import graphs
from tests.support.tasks import make_store, make_task

AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
ALIKE = (
    "id", "title", "status", "priority", "parent", "blocked_by", "awaiting", "defer_until", "born", "waits_since",
)  # fmt: skip


def compare(row: IndexedTask, task: Task) -> None:
    for name in (*ALIKE, *TRAITS):
        assert getattr(row, name) == getattr(task, name), name
    assert (row.claim and (row.claim.runner, row.claim.expires)) == (
        task.claim and (task.claim.runner, task.claim.expires)
    )


@settings(max_examples=20)
@given(graphs.tasks())
def test_rules_ask_a_row_what_they_ask_a_task(tasks: list[Task]) -> None:
    with TemporaryDirectory() as folder, open_index(make_store(Path(folder, "r"), tasks).repository) as index:
        rows = {row.id: row for row in index.listed()}
        assert rows.keys() == {task.id for task in tasks}
        for task in tasks:
            compare(rows[task.id], task)


def test_a_page_has_what_is_shown_beside(tmp_path: Path) -> None:
    task = replace(
        make_task("k7f2", "All of it"),
        labels=("auth", 'quo"ted', "with, comma"),
        agent="codex",
        reviewer="Grace",
        requires=Requires.CONTENT,
        pr="https://example.org/1",
        usage=Usage(3, cost=1.5),
        status=Status.REVIEWING,
        awaiting=Awaiting.CONTENT,
        asked_at=AT,
        claim=Claim("hand:ada lovelace", "host", AT, AT),
    )
    plain = make_task("m3xq")
    with open_index(make_store(tmp_path / "r", [task, plain]).repository) as index:
        page, other = (index.find_page(one.id) for one in (task, plain))
    assert isinstance(page, IndexedPage)
    compare(page, task)
    assert page.labels == task.labels
    assert (page.agent, page.reviewer, page.requires, page.created_by) == (
        "codex", "Grace", "content", "Ada Lovelace",
    )  # fmt: skip
    assert (page.pr, page.iterations, page.cost, page.asked_at) == ("https://example.org/1", 3, 1.5, AT)
    assert other is not None
    assert (other.labels, other.claim, other.asked_at, other.closed) == ((), None, None, "")


def test_rows_of_the_same_traits_share_their_class(tmp_path: Path) -> None:
    tasks = [
        make_task("k7f2"),
        make_task("m3xq"),
        replace(make_task("d0ne"), status=Status.DONE, closed=AT),
    ]
    with open_index(make_store(tmp_path / "r", tasks).repository) as index:
        done, first, second = sorted(index.listed(), key=lambda row: row.id)
    assert type(first) is type(second)
    assert type(first) is not type(done)
    assert (first.is_open, done.is_open, done.closed) == (True, False, AT.isoformat())


@pytest.mark.parametrize(
    ("place", "value", "error"),
    [
        (1, None, TypeError),
        (2, "asleep", ValueError),
        (3, "high", TypeError),
        (7, None, TypeError),
        (9, "x", ValueError),
    ],
)
def test_values_that_no_task_has_are_refused(place: int, value: object, error: type[Exception]) -> None:
    row: list[object] = ["k7f2", "Title", "pending", 2, None, None, "", 0, None, None]
    assert len(IndexedTask.from_rows([tuple(row)])) == 1
    row[place] = value
    with pytest.raises(error):
        IndexedTask.from_rows([tuple(row)])
    with pytest.raises(ValueError, match="JSON"):
        IndexedTask.from_rows_with_json([(*row, "no json")])


COLLECTED_AT_EACH_LINE = """\
import gc, sys
def at_each_line(frame, event, arg):
    gc.collect()
    return at_each_line
sys.settrace(lambda frame, *_: at_each_line if frame.f_code.co_filename.endswith("/indexed_task.py") else None)
import gitticks.store.indexed_task
"""


def test_the_module_is_loaded_whenever_the_cyclic_collector_comes() -> None:
    done = subprocess.run(
        [sys.executable, "-c", COLLECTED_AT_EACH_LINE], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
