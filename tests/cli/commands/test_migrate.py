from __future__ import annotations

import json
from pathlib import Path

from gitticks.model.ids import TaskId, task_path
from gitticks.model.status import Awaiting
from gitticks.store.transaction import Transaction
from tests.cli.support import gt
from tests.support.stores import ADA, make_store, make_task, write_task_file

OLD = b"---\nid: old\ntitle: Sign\nstatus: pending\nmanual: true  # as ever\n---\n\nText\n"


def test_the_old_word_becomes_the_new_one_in_one_commit(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, "A manual for the lamp", id="k7f2")

    def write(transaction: Transaction) -> None:
        transaction.write(task_path(TaskId("old")), OLD)
        transaction.write(task_path(TaskId("bad")), b"---\nmanual: [\n---\n")

    store.transact(write, author=ADA)
    ran = gt("migrate", "--manual-to-awaiting", at=tmp_path)
    assert (ran.code, ran.out) == (0, "old  awaits work\n1 task changed\n")
    assert "left alone" in ran.err
    file = store.task_file(TaskId("old"))
    assert (file.is_manual, file.task.awaiting, file.summary) == (False, Awaiting.WORK, "Text")
    tip = store.tip()
    assert gt("migrate", "--manual-to-awaiting", at=tmp_path).out == "0 tasks changed\n"
    assert store.tip() == tip
    assert gt("doctor", "--range", "gitticks/state", at=tmp_path).out.count("`old`") == 0


def test_nothing_asked_for_is_a_usage_error(tmp_path: Path) -> None:
    make_store(tmp_path)
    assert gt("migrate", at=tmp_path).code == 2


def test_what_holds_the_old_word_awaits_work_everywhere_and_any_write_brings_the_new_one(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)
    for task_id in ("k7f2", "m3xq"):
        write_task_file(
            store, task_id, f"---\nid: {task_id}\ntitle: Old\nstatus: pending\nmanual: true\n---\n"
        )
    assert gt("next", at=tmp_path).code == 1
    for view in ("list", "inbox", "next"):
        words = (view,) if view == "inbox" else (view, "--awaiting", "work")
        assert "k7f2" in gt(*words, at=tmp_path).out
    shown = json.loads(gt("show", "k7f2", "--json", at=tmp_path).out)["task"]
    assert (shown["awaiting"], shown["ready"]) == ("work", False)
    assert "manual" not in shown
    assert gt("update", "k7f2", "-p", "1", at=tmp_path).code == 0
    assert gt("approve", "m3xq", at=tmp_path).out.startswith("m3xq  done · ")
    for task_id, awaiting in (("k7f2", True), ("m3xq", False)):
        text = store.task_file(TaskId(task_id)).data.decode()
        assert "manual" not in text
        assert ("\nawaiting: work\n" in text) is awaiting
    ran = gt("update", "k7f2", "--awaiting=null", at=tmp_path)
    assert ran.out == "k7f2  pending, not waiting for anyone · Old\n"
    assert gt("next", at=tmp_path).out == "k7f2  Old\n"
