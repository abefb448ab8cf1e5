"""The schema: each key read as its type, wrong values named exactly, defaults never written."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import date

import pytest

from gitticks.document.fields import FIELDS, misnamed_keys, written
from gitticks.document.frontmatter import Frontmatter, split
from gitticks.document.taskfile import TaskFile, new_task_file, read_task
from gitticks.document.yaml_scalars import Plain
from gitticks.errors import DocumentError
from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Status
from gitticks.model.task import ENGINE_FIELDS, HUMAN_FIELDS, Approval, Task, Usage
from tests.support.tasks_in_full import AT, FULL, HEAD


def read(lines: str) -> Task:
    return read_task(f"---\nid: k7f2\ntitle: T\n{lines}\n---\n".encode(), "TASK.md")


def test_the_table_holds_every_attribute_of_a_task() -> None:
    keys = {field.key for field in FIELDS}
    assert keys == {item.name for item in fields(Task)}
    assert keys >= HUMAN_FIELDS | ENGINE_FIELDS


def test_every_field_comes_back_as_it_was() -> None:
    assert all(getattr(FULL, item.name) != getattr(Task(TaskId("z"), ""), item.name) for item in fields(Task))
    file = new_task_file(FULL)
    assert file.task == FULL
    assert read_task(file.data, "f") == FULL


def test_nothing_but_id_title_and_status_is_written_of_a_new_task() -> None:
    assert new_task_file(Task(TaskId("k7f2"), "T")).data == b"---\nid: k7f2\ntitle: T\nstatus: pending\n---\n"


def test_nested_values_are_flow_mappings_with_plain_times() -> None:
    text = new_task_file(FULL).data.decode()
    assert f"approval: {{by: Ada, at: 2026-11-22T10:02:03Z, head: {HEAD}, strength: L2}}\n" in text
    assert "usage: {iterations: 1, tokens_in: 2, tokens_out: 3, cost: 0.000001, seconds: 5.5}\n" in text
    assert 'agent_sessions: {claude: abc-1, "x: y": "0"}\n' in text
    assert "created: 2026-11-22T10:02:03Z\n" in text
    assert "defer_until: 2026-12-01\n" in text


def test_each_field_is_written_and_cleared_alone() -> None:
    bare = new_task_file(Task(FULL.id, FULL.title))
    for item in fields(Task):
        change = {item.name: getattr(FULL, item.name)}
        changed = bare.with_task(replace(bare.task, **change))
        assert changed.task == replace(bare.task, **change), item.name
        back = changed.with_task(bare.task)
        assert back.data == bare.data, item.name


@pytest.mark.parametrize(
    ("lines", "attribute", "value"),
    [
        ("status: agent-review", "status", Status.AGENT_REVIEW),
        ("status: 'done'", "status", Status.DONE),
        ("priority: 4", "priority", 4),
        ("priority:", "priority", 2),
        ("priority: ~", "priority", 2),
        ("labels: [a, 012, no, null]", "labels", ("a", "012", "no", "null")),
        ("labels:\n- x # c\n- 'y z'", "labels", ("x", "y z")),
        ("labels: null", "labels", ()),
        ("blocked_by: [012]", "blocked_by", ("012",)),
        ("parent: 1e3", "parent", "1e3"),
        ("awaiting: null", "awaiting", None),
        ("reviewer: no", "reviewer", "no"),
        ("model: 4.10", "model", "4.10"),
        ("closed_reason: |\n  two\n  lines", "closed_reason", "two\nlines"),
        ("defer_until: 2026-11-22", "defer_until", date(2026, 11, 22)),
        ("defer_until: 2026-11-22T23:30:00-02:00", "defer_until", date(2026, 11, 23)),
        ("created: 2026-11-22 12:02:03 +02:00", "created", AT),
        ('created: "2026-11-22T10:02:03Z"', "created", AT),
        ("usage: {cost: 1, iterations: 2}", "usage", Usage(iterations=2, cost=1.0)),
        ("usage:\n  seconds: 1.5\n  other: x", "usage", Usage(seconds=1.5)),
        ("approval: {by: Ada, at: 2026-11-22T10:02:03Z}", "approval", Approval("Ada", AT, None)),
        ("agent_sessions: {a: 1}", "agent_sessions", {"a": "1"}),
        ("manual: true", "awaiting", Awaiting.WORK),
        ("manual: false", "awaiting", None),
        ("manual:", "awaiting", None),
        ("manual: true\nawaiting: input", "awaiting", Awaiting.INPUT),
        ("unknown: [1, {x: y}]", "title", "T"),
    ],
)
def test_values_are_read_as_their_type(lines: str, attribute: str, value: object) -> None:
    assert getattr(read(lines), attribute) == value


@pytest.mark.parametrize(
    ("written_id", "title"), [("012", "012"), ("null", "null"), ("1e3", "~"), ("0x1f", "no")]
)
def test_ids_and_titles_are_the_text_that_stands_there(written_id: str, title: str) -> None:
    task = read_task(f"---\nid: {written_id}\ntitle: {title}\n---\n".encode(), "f")
    assert (task.id, task.title) == (written_id, title)


@pytest.mark.parametrize(
    ("lines", "message", "hint"),
    [
        ("priority: high", "4:11: `priority` is not a number from 0 to 4: 'high'", "write `priority: 2`"),
        ("priority: 5", "4:11: `priority` is not a number from 0 to 4: '5'", "write `priority: 4`"),
        ('priority: "1"', "4:11: `priority` is not a number from 0 to 4: '1'", "write `priority: 1`"),
        ("priority: " + "9" * 5000, "4:11: `priority` is not a number", "write `priority: 2`"),
        ("\tfoo: 1", "4:1: found character", "write spaces instead of the tab"),
        (
            "status: workin",
            "4:9: `status` is not one of pending, clarification, working",
            "did you mean `working`?",
        ),
        (
            "verdict: yes",
            "4:10: `verdict` is not one of approved, rejected: 'yes'",
            "write one of approved, rejected",
        ),
        ("type: bug", "4:7: `type` is not one of task, epic: 'bug'", "write one of task, epic"),
        ("status: [done]", "4:9: `status` is not text: a list", "write `status: …` on one line"),
        ("labels: a", "4:9: `labels` is not a list: 'a'", "write `labels: [one, two]`"),
        ("labels: ['']", "4:10: `labels` holds an empty label", "delete it"),
        ("blocked_by: [a, ../b]", "4:17: `blocked_by` is not a task id: '../b'", "ids are lower-case"),
        ("parent: K7F2", "4:9: `parent` is not a task id: 'K7F2'", "ids are lower-case"),
        ("defer_until: soon", "4:14: `defer_until` is not a date: 'soon'", "write it as 2026-11-22"),
        ("created: 2026-13-01", "4:10: `created` is not a time: '2026-13-01'", "2026-11-22T10:02:03Z"),
        ("end_sha: --output=x", "4:10: `end_sha` is not a commit: '--output=x'", "commit"),
        (
            "model: --yolo",
            "4:8: `model` cannot be passed to an agent's program: '--yolo'",
            "does not begin with `-`",
        ),
        ('model: "-m"', "4:8: `model` cannot be passed", "no control characters"),
        ('model: "a\\tb"', "4:8: `model` cannot be passed", "no control characters"),
        ("model: |\n  a\n  b", "4:8: `model` cannot be passed", "no control characters"),
        ("branch: -x", "4:9: `branch` is not a branch name: '-x'", "git branch --list"),
        ("branch: a..b", "4:9: `branch` is not a branch name", "git branch --list"),
        ("usage: 3", "4:8: `usage` is not a mapping: '3'", "write `usage: {key: value}`"),
        ("usage: {cost: -1}", "4:15: `usage.cost` is not a number from 0 up: '-1'", "write `usage.cost: 0`"),
        (
            "usage: {cost: .inf}",
            "4:15: `usage.cost` is not a number from 0 up: '.inf'",
            "write `usage.cost: 0`",
        ),
        (
            "usage:\n  cost: 1\n  iterations: x",
            "6:15: `usage.iterations` is not a whole number",
            "usage.iterations",
        ),
        ("approval: {by: Ada}", "4:11: `approval` lacks `at`", "delete `approval`"),
        ("claim: {runner: a, host: b, since: 2026-11-22}", "4:8: `claim` lacks `expires`", "delete `claim`"),
        ("manual: perhaps", "4:9: `manual` is not true or false: 'perhaps'", "write `manual: true`"),
        ("reviewer: {a: b}", "4:11: `reviewer` is not text: a mapping", "on one line"),
        ('verdict: "a\\x07b"', "4:10: `verdict` is not one of approved, rejected: 'a\\x07b'", "write one of"),
    ],
)
def test_wrong_values_are_named_exactly(lines: str, message: str, hint: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read(lines)
    assert str(caught.value).startswith(f"TASK.md:{message}")
    assert caught.value.hint is not None
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("---\ntitle: T\n---\n", "f:2:1: `id` is missing"),
        ("---\nid: a\n---\n", "f:2:1: `title` is missing"),
        ("---\nid:\ntitle: T\n---\n", "f:2:4: `id` is empty"),
        ("---\nid: a\ntitle: '  '\n---\n", "f:3:8: `title` is empty"),
        ("---\nid: a/b\ntitle: T\n---\n", "f:2:5: `id` is not a task id: 'a/b'"),
    ],
)
def test_id_and_title_must_be_there(text: str, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_task(text.encode(), "f")
    assert str(caught.value) == message


def test_the_short_form_of_a_task() -> None:
    assert written(Task(TaskId("a"), "T", labels=("x",), created=AT)) == {
        "id": "a",
        "title": "T",
        "status": "pending",
        "labels": ["x"],
        "created": Plain("2026-11-22T10:02:03Z"),
    }


def test_parts_of_a_nested_value_are_changed_alone() -> None:
    text = "---\nid: a\ntitle: T\nstatus: pending\nusage:\n  iterations: 1  # mine\n  cost: 0.5\n  other: x\n---\n"
    file = TaskFile.parse(text.encode(), "f")
    changed = file.with_task(replace(file.task, usage=Usage(iterations=2, seconds=3.0)))
    assert changed.data.decode() == text.replace("iterations: 1", "iterations: 2").replace(
        "  cost: 0.5\n", ""
    ).replace("  other: x\n", "  other: x\n  seconds: 3.0\n")


def test_a_status_that_was_left_out_is_written_with_the_first_change() -> None:
    file = TaskFile.parse(b"---\nid: a\ntitle: T\n---\n", "f")
    assert file.with_task(file.task) is file
    changed = file.with_task(replace(file.task, priority=1))
    assert changed.data == b"---\nid: a\ntitle: T\nstatus: pending\npriority: 1\n---\n"


def test_the_old_manual_goes_when_awaiting_changes() -> None:
    file = TaskFile.parse(b"---\nid: a\ntitle: T\nstatus: pending\nmanual: true  # old\n---\n", "f")
    assert file.is_manual
    assert file.with_task(file.task) is file
    other = file.with_task(replace(file.task, priority=1))
    assert other.data == b"---\nid: a\ntitle: T\nstatus: pending\npriority: 1\nawaiting: work\n---\n"
    asked = TaskFile.parse(
        b"---\nid: a\ntitle: T\nstatus: pending\nmanual: true\nawaiting: input\n---\n", "f"
    )
    renamed = asked.with_task(replace(asked.task, title="U"))
    assert renamed.data == b"---\nid: a\ntitle: U\nstatus: pending\nawaiting: input\n---\n"
    null = TaskFile.parse(
        b"---\nid: a\ntitle: T\nstatus: pending\nawaiting: null # whose turn\nmanual: true\n---\n", "f"
    )
    assert b"awaiting: work # whose turn\n" in null.with_task(replace(null.task, priority=1)).data
    cleared = file.with_task(replace(file.task, awaiting=None))
    assert cleared.data == b"---\nid: a\ntitle: T\nstatus: pending\n---\n"
    assert file.without_manual().data == b"---\nid: a\ntitle: T\nstatus: pending\nawaiting: work\n---\n"
    assert cleared.without_manual() is cleared


def _file(lines: str) -> Frontmatter:
    return split(f"---\nid: k7f2\n{lines}---\nText.\n".encode(), "TASK.md")


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("priorty", "priority"),
        ("label", "labels"),
        ("blocked-by", "blocked_by"),
        ("deferred_until", "defer_until"),
        ("statsu", "status"),
        ("Title", "title"),
    ],
)
def test_a_key_that_is_nearly_a_field_is_reported_with_its_line(key: str, meant: str) -> None:
    assert misnamed_keys(_file("title: A\n"), _file(f"title: A\n{key}: x\n")) == (
        f"TASK.md:4: `{key}` is not a field and is ignored: did you mean `{meant}`?",
    )
    assert misnamed_keys(_file(f"{key}: x\n"), _file(f"{key}: y\n")) == ()
    assert len(misnamed_keys(None, _file(f"{key}: y\n"))) == 1


@pytest.mark.parametrize(
    "key", [*sorted(HUMAN_FIELDS), "status", "manual", "base", "pr", "due", "sprint", "estimate", "team", "Ü"]
)
def test_fields_and_keys_of_ones_own_are_none(key: str) -> None:
    assert misnamed_keys(None, _file(f"{key}: x\n")) == ()
