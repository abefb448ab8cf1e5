from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Isolation, Status, TaskType
from gitticks.model.task import ENGINE_FIELDS, HUMAN_FIELDS, Approval, Task, Usage

AT = datetime(2026, 3, 4, tzinfo=UTC)
APPROVAL = Approval("Ada", AT, "b" * 40)
GITTICKS_FIELDS = {
    "id",
    "status",
    "asked_at",
    "responded_at",
    "created",
    "created_by",
    "updated",
    "closed",
    "closed_reason",
    "external_ref",
}
"""What the specification gives to gitticks, beside people's and the engine's."""

USAGES = st.builds(
    Usage,
    st.integers(0, 1000),
    st.integers(0, 10**9),
    st.integers(0, 10**9),
    st.floats(0, 1000),
    st.floats(0, 10**6),
)


def make(**given: Any) -> Task:
    return Task(TaskId("k7f2"), "Login", **given)


@pytest.mark.parametrize(
    ("given", "isolation"),
    [
        ({}, Isolation.EPIC),
        ({"isolation": Isolation.NONE}, Isolation.NONE),
        ({"branch": "gitticks/work/k7f2"}, Isolation.TASK),
        ({"branch": "gitticks/work/k7f2", "isolation": Isolation.NONE}, Isolation.TASK),
        ({"branch": "gitticks/work/k7f2", "type": TaskType.EPIC}, Isolation.EPIC),
        ({"branch": "gitticks/work/h8d4", "isolation": Isolation.TASK}, Isolation.EPIC),
        ({"branch": "mine", "start_sha": "a" * 40}, Isolation.EPIC),
        ({"start_sha": "a" * 40}, Isolation.NONE),
        ({"start_sha": "a" * 40, "isolation": Isolation.TASK}, Isolation.TASK),
    ],
)
def test_work_stays_isolated_as_it_was_begun(given: dict[str, Any], isolation: Isolation) -> None:
    assert make(**given).isolation_in(Isolation.EPIC) is isolation


def test_what_is_not_said_is_the_default() -> None:
    task = make()
    assert (task.type, task.status, task.priority, task.labels) == (TaskType.TASK, Status.PENDING, 2, ())
    unset = {field.name for field in fields(Task) if getattr(task, field.name) is None}
    assert {"awaiting", "requires", "asked", "approval", "claim", "parent", "defer_until"} <= unset


def test_a_task_is_a_value() -> None:
    with pytest.raises(FrozenInstanceError):
        make().title = "Other"  # type: ignore[misc]


def test_every_field_is_written_by_somebody_and_by_one_alone() -> None:
    names = {field.name for field in fields(Task)}
    assert names == HUMAN_FIELDS | ENGINE_FIELDS | GITTICKS_FIELDS
    assert len(names) == len(HUMAN_FIELDS) + len(ENGINE_FIELDS) + len(GITTICKS_FIELDS)


@pytest.mark.parametrize("status", list(Status))
def test_a_task_is_open_until_it_is_closed(status: Status) -> None:
    assert make(status=status).is_open is (status not in (Status.DONE, Status.CANCELLED))


@pytest.mark.parametrize(
    ("given", "is_merging"),
    [
        ({"status": Status.REVIEWING, "approval": APPROVAL}, True),
        ({"status": Status.REVIEWING, "approval": APPROVAL, "awaiting": Awaiting.REVIEW}, False),
        ({"status": Status.REVIEWING}, False),
        ({"status": Status.WORKING, "approval": APPROVAL}, False),
        ({"status": Status.DONE, "approval": APPROVAL}, False),
    ],
)
def test_merging_is_approved_work_whose_merge_is_pending(given: dict[str, Any], is_merging: bool) -> None:
    assert make(**given).is_merging is is_merging


@pytest.mark.parametrize(
    ("start", "end", "has_code"),
    [(None, None, False), ("a", None, False), ("a", "a", False), ("a", "b", True), (None, "b", True)],
)
def test_there_is_code_where_the_head_is_another_than_the_start(
    start: str | None, end: str | None, has_code: bool
) -> None:
    assert make(start_sha=start, end_sha=end).has_code is has_code


def test_the_file_is_named_as_a_person_types_it() -> None:
    assert make().file == ".gitticks/tasks/f2/k7f2/TASK.md"


def test_an_epic_holds_others() -> None:
    assert make(type=TaskType.EPIC).is_epic
    assert not make().is_epic


@given(USAGES, USAGES)
def test_usage_adds_up_in_any_order(one: Usage, other: Usage) -> None:
    both = one.plus(other)
    assert both == other.plus(one)
    assert both.iterations == one.iterations + other.iterations
    assert both.tokens_in == one.tokens_in + other.tokens_in
    assert both.tokens_out == one.tokens_out + other.tokens_out
    assert both.cost == pytest.approx(one.cost + other.cost, abs=1e-6)
    assert both.seconds == pytest.approx(one.seconds + other.seconds, abs=1e-3)


def test_costs_that_add_up_stay_readable() -> None:
    assert Usage(cost=0.1).plus(Usage(cost=0.2)).cost == 0.3
