from __future__ import annotations

import csv
import io
import json
import os
import pty
import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gitticks.model.ids import TaskId
from gitticks.model.status import Status
from tests.cli.support import command, drain, gt
from tests.support.stores import make_store, make_task
from tests.support.tasks import CREATED, task_ids

FOREIGN = Path(__file__).parents[2] / "data" / "foreign"
SAMPLES = os.environ.get("GITTICKS_SAMPLES")
REAL = [Path(SAMPLES or "") / "beads" / name for name in ("issues.jsonl", "beads.jsonl")] if SAMPLES else []


def issues_of(text: str) -> dict[str, Any]:
    return {one["id"]: one for one in map(json.loads, text.splitlines())}


def exported(root: Path) -> dict[str, Any]:
    ran = gt("export", "--format", "beads", at=root)
    assert ran.code == 0, ran.seen
    return issues_of(ran.out)


@pytest.mark.parametrize("source", [FOREIGN / "issues.jsonl", *REAL], ids=lambda path: path.name)
def test_beads_come_back_field_by_field_as_they_were(tmp_path: Path, source: Path) -> None:
    make_store(tmp_path)
    assert gt("import", "beads", str(source), at=tmp_path).code == 0
    lines = [line for line in source.read_text().splitlines() if '"_type":"memory"' not in line]
    wanted = issues_of("\n".join(lines))
    wanted = {name: one for name, one in wanted.items() if one["status"] != "tombstone"}
    assert exported(tmp_path) == wanted


def test_what_was_changed_here_and_nothing_else_differs(tmp_path: Path) -> None:
    make_store(tmp_path)
    gt("import", "beads", str(FOREIGN / "issues.jsonl"), at=tmp_path)
    before = exported(tmp_path)
    now = datetime(2026, 11, 22, 10, 0, 0, tzinfo=UTC)
    gt("update", "lamp-b2", "-p", "0", "-l", "+wet", at=tmp_path, now=now)
    gt("note", "lamp-b2", "mind the gap", at=tmp_path, now=now)
    gt("unblock", "lamp-b2", "lamp-a1-1", at=tmp_path, now=now)
    gt("block", "lamp-b2", "lamp-e5", at=tmp_path, now=now)
    after = exported(tmp_path)
    assert {name for name in after if after[name] != before[name]} == {"lamp-b2"}
    old, new = before["lamp-b2"], after["lamp-b2"]
    assert {key for key in new if new[key] != old.get(key)} == {
        "priority", "labels", "comments", "dependencies", "updated_at",
    }  # fmt: skip
    assert [one["depends_on_id"] for one in new["dependencies"]] == ["lamp-zz", "lamp-c3", "lamp-e5"]
    assert [(one["author"], one["text"]) for one in new["comments"]] == [("Ada Lovelace", "mind the gap")]
    assert (new["priority"], new["labels"], new["updated_at"]) == (0, ["wet"], "2026-11-22T10:00:00Z")


def test_a_task_born_here_is_an_issue_that_can_come_back(tmp_path: Path) -> None:
    store = make_store(tmp_path / "one")
    make_task(
        store,
        "Fix",
        id="k7f2",
        body="Why\n\n## Acceptance Criteria\n\nIt holds\n\n## Handoff\n\nDONE: all\n",
    )
    make_task(store, "Paint", id="m3xq", blocked_by=("k7f2",))
    found = exported(tmp_path / "one")
    assert (found["k7f2"]["description"], found["k7f2"]["acceptance_criteria"]) == ("Why", "It holds")
    assert found["k7f2"]["notes"] == "## Handoff\n\nDONE: all"
    assert found["m3xq"]["dependencies"][0]["depends_on_id"] == "k7f2"
    other = make_store(tmp_path / "two")
    ran = gt("export", "--format", "beads", "-o", str(tmp_path / "out.jsonl"), at=tmp_path / "one")
    assert (ran.code, ran.out) == (0, "")
    assert gt("import", str(tmp_path / "out.jsonl"), at=tmp_path / "two").code == 0
    assert [other.task_file(one).task.blocked_by for one in task_ids(other)] == [(), ("k7f2",)]


@pytest.mark.parametrize(
    ("reason", "said"),
    [("too late", "cancelled: too late"), (None, "cancelled"), ("obsolete", "obsolete")],
)
def test_a_cancelled_task_is_cancelled_where_it_comes_to(
    tmp_path: Path, reason: str | None, said: str
) -> None:
    store = make_store(tmp_path / "one")
    make_task(store, "Fix", id="k7f2", status=Status.CANCELLED, closed=CREATED, closed_reason=reason)
    assert exported(tmp_path / "one")["k7f2"]["close_reason"] == said
    gt("export", "--format", "beads", "-o", str(tmp_path / "out.jsonl"), at=tmp_path / "one")
    other = make_store(tmp_path / "two")
    assert gt("import", str(tmp_path / "out.jsonl"), at=tmp_path / "two").code == 0
    assert [other.task_file(one).task.status for one in task_ids(other)] == [Status.CANCELLED]


def test_what_comes_back_to_where_it_was_born_is_not_imported_as_a_second_task(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, "Fix", id="k7f2")
    make_task(store, "Paint", id="m3xq", blocked_by=("k7f2",))
    issues = exported(tmp_path)
    gt("update", "k7f2", "--title", "Mend", at=tmp_path)
    issues["m3xq"]["created_at"] = "2001-02-03T04:05:06Z"  # another tracker's, by chance under the same id
    (tmp_path / "out.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in issues.values()))
    ran = gt("import", "out.jsonl", at=tmp_path)
    assert ran.out.splitlines()[1:] == ["1 task imported: 1 pending", "1 here already"]
    (new,) = set(task_ids(store)) - {"k7f2", "m3xq"}
    assert store.task_file(new).task.blocked_by == ("k7f2",)
    assert store.task_file(TaskId("k7f2")).task.title == "Mend"


def test_json_and_csv_hold_every_task(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, 'Say "hi", twice', id="k7f2", labels=("a", "b"), body="One\n\n## Context\n\nTwo\n")
    found = json.loads(gt("export", at=tmp_path).out)
    assert found["schema"] == 1
    (task,) = found["tasks"]
    assert (task["title"], task["summary"], task["sections"]) == (
        'Say "hi", twice',
        "One",
        {"Context": "Two"},
    )
    names, row = csv.reader(gt("export", "--format", "csv", at=tmp_path).out.splitlines())
    read = dict(zip(names, row, strict=True))
    assert (read["title"], read["labels"], read["summary"]) == ('Say "hi", twice', "a b", "One")


def test_a_summary_of_several_lines_is_one_value_of_the_table(tmp_path: Path) -> None:
    make_task(make_store(tmp_path), id="k7f2", body="- one\n- two\n\n\tthree\n")
    read = list(csv.DictReader(io.StringIO(gt("export", "--format", "csv", at=tmp_path).out)))
    assert [one["summary"] for one in read] == ["'- one\n- two\n\n\tthree"]


def test_a_table_is_safe_in_a_spreadsheet_and_on_a_terminal(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, "=HYPERLINK(A1)", id="k7f2", body="One\x1b]0;owned\x07\n\n\ttwo\u202e\n")
    ran = gt("export", "--format", "csv", at=tmp_path)
    (row,) = csv.DictReader(io.StringIO(ran.out, newline=""))
    assert (row["title"], row["summary"]) == (
        "'=HYPERLINK(A1)",
        "One\\x1b]0;owned\\x07\n\n\ttwo\\u202e",
    )


@pytest.mark.parametrize("place", ["/", ".", "..", ""])
def test_a_folder_is_no_file(tmp_path: Path, place: str) -> None:
    make_store(tmp_path)
    for words in (("export", "-o", place), ("stats", "--html", place)):
        ran = gt(*words, at=tmp_path)
        assert (ran.code, ran.out) == (1, "")
        assert "cannot be written: it is a folder" in ran.err


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    make_store(tmp_path)
    ran = gt("export", "-o", "no/such/folder", at=tmp_path)
    assert ran.code == 1
    assert ran.err == (
        f"error: `{tmp_path}/no/such/folder` cannot be written: no such file or directory\n\n"
        f"hint: `mkdir -p {tmp_path}/no/such` creates the folder\n"
    )


WRITERS = [("export", "-o"), ("stats", "--html")]


@pytest.mark.parametrize("words", WRITERS)
def test_a_pipe_gets_it_as_a_stream_and_stays_one(tmp_path: Path, words: tuple[str, ...]) -> None:
    make_store(tmp_path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_text)
        ran = gt(*words, "pipe", at=tmp_path)
        assert (ran.code, ran.err) == (0, "")
        assert stat.S_ISFIFO(pipe.stat().st_mode)
        assert read.result(60)


@pytest.mark.parametrize("words", WRITERS)
def test_a_device_gets_it_as_a_stream_and_stays_one(tmp_path: Path, words: tuple[str, ...]) -> None:
    make_store(tmp_path)
    ours, theirs = pty.openpty()
    device = Path(os.ttyname(theirs))
    link = tmp_path / "link"
    link.symlink_to(device)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(drain, ours)
        ran = gt(*words, "link", at=tmp_path)
        assert (ran.code, ran.err) == (0, "")
        assert stat.S_ISCHR(device.stat().st_mode)
        assert link.is_symlink()
        os.close(theirs)
        assert read.result(60)
    os.close(ours)


@pytest.mark.parametrize("words", WRITERS)
def test_a_link_stays_and_what_it_leads_to_keeps_its_rights(tmp_path: Path, words: tuple[str, ...]) -> None:
    make_store(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    target = tmp_path / "elsewhere" / "target"
    target.write_text("old")
    target.chmod(0o600)
    for name, place in (("link", "elsewhere/target"), ("dangling", "elsewhere/new")):
        (tmp_path / name).symlink_to(place)
        assert gt(*words, name, at=tmp_path).code == 0
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / place).read_text() not in ("", "old")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert sorted(one.name for one in target.parent.iterdir()) == ["new", "target"]


def test_a_link_in_the_place_of_a_draft_is_not_written_through(tmp_path: Path) -> None:
    make_store(tmp_path)
    mine = tmp_path / "mine"
    mine.write_text("mine")
    (tmp_path / ".out.json.gitticks-tmp").symlink_to(mine)
    assert gt("export", "-o", "out.json", at=tmp_path).code == 0
    assert mine.read_text() == "mine"


def test_what_the_file_behind_stdout_holds_stays(tmp_path: Path) -> None:
    make_store(tmp_path)
    log = tmp_path / "log"
    log.write_text("before\n")
    with log.open("ab") as stdout:
        subprocess.run(command("export", "-o", "/dev/fd/1"), cwd=tmp_path, stdout=stdout, check=True)
    assert log.read_text().startswith('before\n{"schema": 1')


def test_json_has_a_line_for_each_task(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    assert gt("export", at=tmp_path).out == '{"schema": 1, "tasks": [\n]}\n'
    make_task(store, "One", id="k7f2")
    make_task(store, "Two\u2028", id="m3xq")
    first, *lines, last = gt("export", at=tmp_path).out.split("\n")[:-1]
    assert (first, last) == ('{"schema": 1, "tasks": [', "]}")
    assert [json.loads(line.removesuffix(","))["id"] for line in lines] == ["k7f2", "m3xq"]
