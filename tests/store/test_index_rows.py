"""Tasks as rows and back, every field of them."""

from __future__ import annotations

import gc
from dataclasses import fields, replace
from typing import get_type_hints

from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry
from gitticks.model.status import ActorKind
from gitticks.model.task import Task
from gitticks.store.index_rows import task_to_json, tasks_from_json, tasks_read_before
from gitticks.store.task_row import entries_from_json, entries_to_json
from tests.support import tasks_in_full
from tests.support.tasks_in_full import AT

FULL = replace(tasks_in_full.FULL, title='Ünï "quoted" \x1b \u2028')


def test_the_example_leaves_no_field_at_its_default() -> None:
    bare = Task(id=TaskId("x"), title="y")
    assert [
        field.name for field in fields(Task) if getattr(FULL, field.name) == getattr(bare, field.name)
    ] == []


def test_every_field_survives() -> None:
    (again,) = tasks_from_json([task_to_json(FULL)])
    assert again == FULL
    for name in get_type_hints(Task):
        assert type(getattr(again, name)) is type(getattr(FULL, name))


def test_nulls_and_defaults_are_written_out_as_they_are_printed() -> None:
    task = Task(id=TaskId("x"), title="y")
    text = task_to_json(task)
    assert text.startswith(
        '{"id": "x", "title": "y", "type": "task", "status": "pending", "priority": 2, "labels": [], '
    )
    assert text.endswith('"external_ref": null, "phase": "open"}')
    assert tasks_from_json([text]) == [task]


def test_what_could_steer_a_terminal_is_written_as_escapes() -> None:
    text = task_to_json(FULL)
    assert "\\u001b" in text
    assert "\\u2028" in text
    assert "Ünï" in text


def test_many_rows_are_read_at_once() -> None:
    gc.enable()  # an answer at once, in this process, leaves it off
    assert tasks_from_json([]) == []
    assert tasks_from_json([task_to_json(FULL)] * 2) == [FULL, FULL]
    assert gc.isenabled()


def test_entries_survive() -> None:
    entries = (
        Entry(AT, ActorKind.AGENT, "claude", "Which\none?"),
        Entry(AT, ActorKind.ENGINE, "gitticks", ""),
    )
    assert entries_from_json(entries_to_json(entries)) == entries


def test_rows_that_were_read_before_are_not_read_again() -> None:
    first, second = task_to_json(FULL), task_to_json(Task(TaskId("m3a9"), "Other"))
    [task] = tasks_read_before([first])
    again, other = tasks_read_before([first, second])
    assert again is task
    assert task == FULL
    assert other.title == "Other"
    assert tasks_read_before([second]) == [other]
