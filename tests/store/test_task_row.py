"""A row tells of a task what the whole task tells."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings

from gitticks.model.status import Awaiting, Requires, Status
from gitticks.model.task import Claim, Task, Usage
from gitticks.model.task_row import TaskRow
from gitticks.store.index import open_index
from gitticks.store.task_row import read_values
from tests.support import graphs
from tests.support.tasks import make_store, make_task

AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
ALIKE = (
    "id", "title", "status", "priority", "parent", "blocked_by", "awaiting", "defer_until", "born", "waits_since",
    "carrier", "is_open", "is_epic", "is_workable", "is_to_review", "is_begun", "is_merging", "is_cancelled",
)  # fmt: skip


def compare(row: TaskRow, task: Task) -> None:
    for name in ALIKE:
        assert getattr(row, name) == getattr(task, name), name
    assert (row.claim and (row.claim.runner, row.claim.expires, row.claim.is_by_hand)) == (
        task.claim and (task.claim.runner, task.claim.expires, task.claim.is_by_hand)
    )


@settings(max_examples=20)
@given(graphs.tasks())
def test_rules_ask_a_row_what_they_ask_a_task(tasks: list[Task]) -> None:
    with TemporaryDirectory() as folder, open_index(make_store(Path(folder, "r"), tasks).repository) as index:
        rows = {row.id: row for row in index.listed()}
        assert rows.keys() == {task.id for task in tasks}
        for task in tasks:
            compare(rows[task.id], task)


def test_details_are_what_pages_show_beside(tmp_path: Path) -> None:
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
        row, other = (index.find(one.id) for one in (task, plain))
        page, nothing = (index.details_of(one.id) for one in (task, plain))
    assert row is not None
    compare(row, task)
    assert page.labels == task.labels
    assert (page.agent, page.reviewer, page.requires, page.created_by) == (
        "codex", "Grace", "content", "Ada Lovelace",
    )  # fmt: skip
    assert (page.pr, page.iterations, page.cost, row.asked_at) == ("https://example.org/1", 3, 1.5, AT)
    assert other is not None
    assert (nothing.labels, other.claim, other.asked_at, other.closed) == ((), None, None, "")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("title", None),
        ("status", "asleep"),
        ("priority", "high"),
        ("is_open", None),
        ("blockers", 7),
        ("deferred", "x"),
        ("asked", "x"),
        ("claimed", "x"),
        ("json", "no json"),
        ("label_list", "none"),
        ("data", "text"),
    ],
)
def test_values_that_no_task_has_are_refused(name: str, value: object) -> None:
    with closing(sqlite3.connect(":memory:")) as connection, pytest.raises((TypeError, ValueError)):
        list(read_values(connection.execute(f"SELECT ? AS {name}", (value,))))
