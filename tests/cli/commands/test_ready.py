from __future__ import annotations

import json
from pathlib import Path

from gitticks.model.ids import TaskId
from tests.cli.support import gt
from tests.support.stores import NOW, make_queue, make_store, make_task, write_task_file


def test_what_can_be_begun_in_picking_order(tmp_path: Path) -> None:
    make_queue(tmp_path)
    assert (
        gt("ready", at=tmp_path, now=NOW).seen
        == """\
  id    pri  status   title
○ c0de  2    pending  Delete an account
○ k7f2  1    pending  Login loses the return URL
--- 0
"""
    )


def test_json(tmp_path: Path) -> None:
    make_queue(tmp_path)
    found = json.loads(gt("ready", "--json", at=tmp_path, now=NOW).out)
    assert [task["id"] for task in found["tasks"]] == ["c0de", "k7f2"]


def test_nothing_is_ready(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    none_yet = '--- 0\nno tasks yet: `gt create "…"` creates the first\n'
    assert gt("ready", at=tmp_path).seen == none_yet
    make_task(store, id="aaaa", awaiting="work")
    assert gt("ready", at=tmp_path).seen == (
        "--- 0\nnothing is ready: `gt list` shows what each task waits for\n"
    )


def test_a_blocker_that_cannot_be_read_keeps_its_task_from_being_begun(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, id="aaaa", blocked_by=(TaskId("m3xq"),))
    write_task_file(store, "m3xq", "---\nid: m3xq\ntitle: x\nstatus: odd\n---\n")
    assert gt("next", at=tmp_path).code == 1
    assert gt("ready", at=tmp_path).out == ""
    assert json.loads(gt("show", "aaaa", "--json", at=tmp_path).out)["task"]["blocked"]
    assert json.loads(gt("list", "--json", at=tmp_path).out)["tasks"][0]["blocked"]
    ran = gt("start", "aaaa", at=tmp_path)
    assert ran.seen == "--- 3\nerror: `aaaa` waits for `m3xq`\n\nhint: `gt show m3xq`\n"
    assert "m3xq/TASK.md:4:9: " in gt("show", "m3xq", at=tmp_path).err
