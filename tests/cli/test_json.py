from __future__ import annotations

import json
from dataclasses import fields, replace
from datetime import UTC, date, datetime

import pytest

from gitticks.actions.derived_state import Standing
from gitticks.cli.json import plain, print_object, print_task, task_object
from gitticks.document.history import render_event
from gitticks.model.event import ENGINE, Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.queries import Surroundings, TaskGraph
from gitticks.model.status import Awaiting, Status
from gitticks.model.task import Approval, Claim, Task

AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
TASK = Task(TaskId("k7f2"), "Login", created=AT)
DERIVED = {"phase", "ready", "blocked", "merging", "conflicted", "session_state", "path"}


def _standing(task: Task = TASK, *, blockers: tuple[TaskId, ...] = ()) -> Standing[Task]:
    blocked = replace(task, blocked_by=blockers)
    graph = TaskGraph.of([blocked, *(Task(blocker, "Blocker") for blocker in blockers)])
    return Standing(blocked, graph, Surroundings(AT.date(), AT), "/r")


def test_every_field_is_written_out_with_nulls_and_what_is_derived() -> None:
    found = task_object(_standing())
    assert found.keys() == {field.name for field in fields(Task)} | DERIVED
    assert found["parent"] is None
    assert found["labels"] == []
    assert found["created"] == "2026-03-04T05:06:07Z"
    assert found["usage"]["iterations"] == 0
    assert {name: found[name] for name in DERIVED} == {
        "phase": "open",
        "ready": True,
        "blocked": False,
        "merging": False,
        "conflicted": False,
        "session_state": "idle",
        "path": "/r/.gitticks/tasks/f2/k7f2/TASK.md",
    }


def test_values_are_those_of_the_frontmatter() -> None:
    task = replace(
        TASK,
        status=Status.REVIEWING,
        awaiting=Awaiting.REVIEW,
        defer_until=date(2026, 5, 1),
        approval=Approval("Ada", AT, "a" * 40),
        claim=Claim("r1", "host", AT, AT),
        agent_sessions={"claude": "s1"},
    )
    found = task_object(_standing(task, blockers=(TaskId("m3xq"),)))
    assert (found["status"], found["phase"], found["awaiting"]) == ("reviewing", "in_review", "review")
    assert found["defer_until"] == "2026-05-01"
    assert found["approval"] == {
        "by": "Ada",
        "at": "2026-03-04T05:06:07Z",
        "head": "a" * 40,
        "strength": "L0",
    }
    assert found["claim"]["expires"] == "2026-03-04T05:06:07Z"
    assert found["agent_sessions"] == {"claude": "s1"}
    assert (found["ready"], found["blocked"]) == (False, True)


def test_no_task_is_null(capsys: pytest.CaptureFixture[str]) -> None:
    print_task(None)
    assert capsys.readouterr().out == '{"schema": 1, "task": null}\n'


def test_harmful_characters_are_escapes_and_others_are_readable(capsys: pytest.CaptureFixture[str]) -> None:
    title = "\x1b[31m\x7f\x9b\u202e 日本 🎉 \ud800"
    print_object(title=title)
    out = capsys.readouterr().out
    assert out == ('{"schema": 1, "title": "\\u001b[31m\\u007f\\u009b\\u202e 日本 🎉 \\ud800"}\n')
    assert json.loads(out)["title"] == title


def test_an_event_has_the_keys_of_its_line_in_the_history() -> None:
    event = Event(EventType.MERGED, AT, ENGINE, Status.REVIEWING, Status.DONE, "because", {"sha": "a" * 40})
    found = plain(event)
    line = json.loads(render_event(event))
    assert {key: found[key] for key in line if key != "actor"} == {
        key: value for key, value in line.items() if key != "actor"
    }
    assert found["actor"] == {"kind": "engine", "name": "gitticks", "role": None}
