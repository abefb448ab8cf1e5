from __future__ import annotations

import json
from typing import Any

import pytest

from gitticks.importing.beads import read_lines, task_of
from gitticks.model.status import Awaiting, Status


def issue(**fields: Any) -> Any:
    return task_of({"id": "a-1", "title": "A", **fields})


BLOCKED = [{"issue_id": "a-1", "depends_on_id": "a-2", "type": "blocks"}]


@pytest.mark.parametrize(
    ("fields", "status", "awaiting"),
    [
        ({}, Status.PENDING, None),
        ({"status": "open"}, Status.PENDING, None),
        ({"status": "in_progress"}, Status.WORKING, None),
        ({"status": "hooked"}, Status.WORKING, None),
        ({"status": "closed"}, Status.DONE, None),
        ({"status": "closed", "close_reason": "obsolete since May"}, Status.CANCELLED, None),
        ({"status": "blocked"}, Status.PENDING, Awaiting.INPUT),
        ({"status": "blocked", "dependencies": BLOCKED}, Status.PENDING, Awaiting.INPUT),
        ({"status": "deferred"}, Status.PENDING, Awaiting.INPUT),
        ({"status": "deferred", "defer_until": "2026-12-01T00:00:00Z"}, Status.PENDING, None),
        ({"status": "deferred", "defer_until": "0001-01-01T00:00:00Z"}, Status.PENDING, Awaiting.INPUT),
        ({"status": "pinned"}, Status.PENDING, Awaiting.WORK),
        ({"status": "of its own"}, Status.PENDING, Awaiting.INPUT),
        ({"status": 7}, Status.PENDING, Awaiting.INPUT),
        ({"issue_type": "gate"}, Status.PENDING, Awaiting.WORK),
        ({"issue_type": "message", "status": "closed"}, Status.DONE, None),
    ],
)
def test_each_status_has_its_place(fields: dict[str, Any], status: Status, awaiting: Awaiting | None) -> None:
    found = issue(**fields)
    assert (found.task.status, found.task.awaiting) == (status, awaiting)


def test_links_of_every_kind() -> None:
    kinds = ("blocks", "conditional-blocks", "waits-for", "parent-child", "related", "discovered-from")
    found = issue(
        dependencies=[
            *({"issue_id": "a-1", "depends_on_id": f"to-{kind}", "type": kind} for kind in kinds),
            {"issue_id": "other", "depends_on_id": "a-9", "type": "blocks"},
        ]
    )
    assert found.task.blocked_by == ("to-blocks", "to-conditional-blocks", "to-waits-for")
    assert found.task.parent == "to-parent-child"
    assert found.links == {"related": ("to-related",), "discovered-from": ("to-discovered-from",)}
    assert found.extra["dependencies"] == [{"issue_id": "other", "depends_on_id": "a-9", "type": "blocks"}]


def test_fields_without_a_place_are_kept_and_counts_are_not() -> None:
    found = issue(estimated_minutes=30, metadata={"a": [1]}, comment_count=3, assignee="otto", priority=0)
    assert found.extra == {"estimated_minutes": 30, "metadata": {"a": [1]}}
    assert found.task.assignee == "otto"
    assert found.task.priority == 0
    assert json.loads(found.record)["comment_count"] == 3


def test_order_of_keys_is_no_change() -> None:
    one, other = task_of({"id": "a", "title": "b", "x": 1}), task_of({"x": 1, "title": "b", "id": "a"})
    assert one.digest == other.digest
    assert one.digest != task_of({"id": "a", "title": "b", "x": 2}).digest


def test_lines_too_long_and_blank_ones() -> None:
    reading = read_lines([b"\r\n", None, b'{"id":"a","title":"b"}'], "x.jsonl")
    assert list(reading.tasks) == ["a"]
    assert [(one.line, one.message) for one in reading.problems] == [
        (2, "the line is longer than 900,000 bytes")
    ]
