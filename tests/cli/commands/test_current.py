from __future__ import annotations

import json
from pathlib import Path

from gitticks.model.status import Status
from gitticks.model.task import Claim
from gitticks.runner.records import Sessions
from tests.cli.support import gt
from tests.support.records import make_session
from tests.support.repositories import add_linked_worktree
from tests.support.stores import NOW, make_store, make_task


def test_sessions_and_work_by_hand(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    store = make_store(root)
    make_task(store, id="k7f2", status=Status.WORKING)
    claim = Claim("hand:Ada", "here", NOW, NOW)
    make_task(store, "By hand", id="m3xq", status=Status.WORKING, claim=claim)
    make_task(store, "Waits", id="w1ts")
    make_task(store, "Its agent was stopped", id="p4st", status=Status.WORKING)
    for task_id in ("m3xq", "w1ts", "p4st"):
        add_linked_worktree(root, root / ".gitticks-work" / task_id, f"gitticks/work/{task_id}")
    with Sessions(store.repository.own_dir).hold(make_session("k7f2")):
        assert (
            gt("current", at=root, now=NOW).seen
            == """\
id    who      as                   for  title                       workspace
k7f2  claude   worker, iteration 1  0 s  Login loses the return URL  /w/k7f2
m3xq  by hand                            By hand                     .gitticks-work/m3xq
--- 0
"""
        )
        narrow = gt("current", at=root, now=NOW, columns=40).out
        assert all(len(line) <= 40 for line in narrow.splitlines())
        assert "k7f2  claude  worker, iteration 1  0 s\n  /w/k7f2\n  Login loses the return URL\n" in narrow
        found = json.loads(gt("current", "--json", at=root, now=NOW).out)["tasks"]
    assert [(task["id"], task["session"] and task["session"]["agent"]) for task in found] == [
        ("k7f2", "claude"),
        ("m3xq", None),
    ]
    assert found[1]["workspace"] == str(root / ".gitticks-work/m3xq")


def test_nothing_is_in_work(tmp_path: Path) -> None:
    make_store(tmp_path)
    assert gt("current", at=tmp_path).seen == (
        "--- 0\nnothing is being worked on here: `gt run` starts agents, `gt start` starts a task by hand\n"
    )
