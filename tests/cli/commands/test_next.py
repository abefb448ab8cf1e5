from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitticks.model.ids import TaskId
from gitticks.model.status import Status, TaskType
from gitticks.runner.liveness import Holds
from tests.cli.support import gt
from tests.support.stores import NOW, make_queue, make_store, make_task


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "c0de  Delete an account\n"),
        (["e0pc"], "c0de  Delete an account\n"),
        (["e0"], "c0de  Delete an account\n"),
        (["--epic"], "c0de  Delete an account\n"),
        (["--epic", "e0pc"], "c0de  Delete an account\n"),
        (["--standalone"], "k7f2  Login loses the return URL\n"),
        (["--standalone", "--epic"], "c0de  Delete an account\n"),
        (["--awaiting"], "r3vw  Faster start\n"),
        (["--awaiting", "input"], "m3xq  Rename the error page\n"),
        (["--awaiting", "input,review"], "r3vw  Faster start\n"),
        (["--awaiting", "--reviewer", "Grace"], "m3xq  Rename the error page\n"),
        (["--reviewer", "grace"], "m3xq  Rename the error page\n"),
    ],
)
def test_the_task_that_comes_next(tmp_path: Path, options: list[str], said: str) -> None:
    make_queue(tmp_path)
    assert gt("next", *options, at=tmp_path, now=NOW).seen == f"{said}--- 0\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--orphan"], "nothing is ready: `gt list` shows what each task waits for\n"),
        (["--reviewer", "Alan"], "nothing is waiting for a person: `gt status` shows what is running\n"),
        (["--awaiting", "work"], "nothing is waiting for a person: `gt status` shows what is running\n"),
        (["e0pc", "--awaiting"], "nothing is waiting for a person: `gt status` shows what is running\n"),
    ],
)
def test_nothing_is_an_exit_code_and_an_empty_stdout(tmp_path: Path, options: list[str], said: str) -> None:
    make_queue(tmp_path)
    assert gt("next", *options, at=tmp_path, now=NOW).seen == f"--- 1\n{said}"


def test_nothing_is_null_in_json(tmp_path: Path) -> None:
    make_store(tmp_path)
    assert gt("next", "--json", at=tmp_path).seen == '{"schema": 1, "task": null}\n--- 1\n'


def test_json_is_one_task(tmp_path: Path) -> None:
    make_queue(tmp_path)
    found = json.loads(gt("next", "--json", at=tmp_path, now=NOW).out)
    assert (found["schema"], found["task"]["id"], found["task"]["ready"]) == (1, "c0de", True)


def test_orphans_are_open_tasks_of_closed_epics(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, "Over", id="e0pc", type=TaskType.EPIC, status=Status.DONE)
    make_task(store, "Left", id="c0de", parent=TaskId("e0pc"))
    assert gt("next", "--orphan", at=tmp_path).out == "c0de  Left\n"
    assert gt("next", "--standalone", at=tmp_path).out == ""


def test_held_tasks_are_passed_over(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, id="k7f2")
    Holds(store.repository.own_dir).hold(TaskId("k7f2"))
    assert gt("next", at=tmp_path).code == 1


def test_the_longest_asked_comes_first_within_a_priority(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    for minute, name in ((30, "later"), (10, "early"), (20, "middle")):
        make_task(
            store,
            name,
            id=name[:4],
            awaiting="input",
            status="clarification",
            asked_at=NOW.replace(minute=minute),
        )
    assert gt("next", "--awaiting", at=tmp_path).out == "earl  early\n"


def test_an_unknown_epic(tmp_path: Path) -> None:
    make_queue(tmp_path)
    assert (
        gt("next", "e0pd", at=tmp_path).seen
        == """\
--- 1
error: there is no task `e0pd`

hint: did you mean `e0pc` (Accounts)?
"""
    )
