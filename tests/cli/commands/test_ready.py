from __future__ import annotations

import json
from pathlib import Path

from tests.cli.support import gt
from tests.support.stores import NOW, make_queue, make_store


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
    make_store(tmp_path)
    assert gt("ready", at=tmp_path).seen == (
        "--- 0\nnothing is ready: `gt list` says what each task waits for\n"
    )
