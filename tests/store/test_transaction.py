"""What an operation sees of the branch while it changes it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitticks.errors import DocumentError, GitticksError, NotFoundError
from gitticks.git.objects import Objects, failures
from gitticks.git.repository import discover
from gitticks.model.event import ENGINE, Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.status import Status
from gitticks.store import layout
from gitticks.store.branch import Store
from gitticks.store.transaction import Transaction
from tests.support.repositories import git, loose_file
from tests.support.tasks import ADA, make_store, make_task, task_ids, write_files

K7F2 = TaskId("k7f2")
AT = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path / "r", [make_task("k7f2"), make_task("m3a9", "Other")])


def test_staged_writes_are_seen(store: Store) -> None:
    seen = store.snapshot()
    assert seen.list("tasks/f2/k7f2") == ("TASK.md",)
    seen.write("tasks/f2/k7f2/worklog.md", b"one")
    seen.write("tasks/f2/k7f2/rounds/01-handoff.md", b"done")
    assert seen.read("tasks/f2/k7f2/worklog.md") == b"one"
    assert seen.list("tasks/f2/k7f2") == ("TASK.md", "rounds", "worklog.md")
    assert seen.list("tasks/f2/k7f2/rounds") == ("01-handoff.md",)
    seen.remove("tasks/f2/k7f2/worklog.md")
    seen.remove("tasks/f2/k7f2/TASK.md")
    assert seen.read("tasks/f2/k7f2/TASK.md") is None
    assert seen.list("tasks/f2/k7f2") == ("rounds",)
    assert store.list("tasks/f2/k7f2") == ("TASK.md",)


def test_a_folder_is_gone_with_its_last_file(store: Store) -> None:
    seen = store.snapshot()
    seen.remove("tasks/f2/k7f2/TASK.md")
    assert seen.list("tasks") == ("a9",)
    assert seen.list("") == (".gitattributes", "config.yaml", "tasks")
    assert seen.task_ids() == {"m3a9"}
    seen.write("tasks/f2/k7f2/worklog.md", b"1")
    assert seen.task_ids() == {"k7f2", "m3a9"}


def test_writing_what_is_there_changes_nothing(store: Store) -> None:
    seen = store.snapshot()
    seen.write("config.yaml", b"version: 1\n")
    seen.put_task(seen.task_file(K7F2))
    seen.remove("none")
    assert seen.changes == {}


def test_a_changed_task_is_seen_at_once(store: Store) -> None:
    seen = store.snapshot()
    file = seen.task_file(K7F2)
    seen.put_task(file.with_task(replace(file.task, status=Status.WORKING)))
    assert seen.task_file(K7F2).task.status is Status.WORKING
    assert seen.all_tasks()[K7F2].status is Status.WORKING
    seen.write("tasks/f2/k7f2/TASK.md", b"broken")
    assert set(seen.all_tasks()) == {"m3a9"}
    assert seen.task_ids() == {"k7f2", "m3a9"}
    with pytest.raises(DocumentError, match=r"tasks/f2/k7f2/TASK\.md"):
        seen.task_file(K7F2)
    seen.remove("tasks/f2/k7f2/TASK.md")
    with pytest.raises(NotFoundError, match="there is no task `k7f2`"):
        seen.task_file(K7F2)
    assert set(seen.all_tasks()) == {"m3a9"}


def test_all_tasks_are_those_of_the_base(store: Store) -> None:
    old = store.tip()
    write_files(store, {"tasks/a9/m3a9/TASK.md": None})
    assert set(store.snapshot().all_tasks()) == {"k7f2"}
    assert set(store.snapshot(old).all_tasks()) == {"k7f2", "m3a9"}
    assert task_ids(store) == ("k7f2",)
    assert task_ids(store, old) == ("k7f2", "m3a9")


def test_a_file_that_is_too_large_to_read_is_reported_with_who_brought_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(store, {"large": b"x" * 2000})
    monkeypatch.setattr(failures, "MOST_BYTES", 1000)
    with pytest.raises(GitticksError, match=r"`\.gitticks/large`: the object .* is larger than") as told:
        store.read("large")
    assert "shows where it came from" in str(told.value.hint)


def test_a_file_in_too_many_folders_is_refused(store: Store) -> None:
    seen = store.snapshot()
    seen.write("tasks/f2/k7f2" + "/a" * 198, b"1")
    with pytest.raises(GitticksError, match="has a file below more than 200 folders") as told:
        seen.write("tasks/f2/k7f2" + "/a" * 199, b"1")
    assert told.value.hint == "`mv .gitticks/tasks/f2/k7f2/a .` moves it off the board"


def test_events_are_appended(store: Store) -> None:
    created = Event(EventType.CREATED, AT, ENGINE)
    noted = Event(EventType.NOTED, AT, ENGINE, data={"text": "hé"})

    def operation(transaction: Transaction) -> None:
        transaction.append_events(K7F2, [created])
        transaction.append_events(K7F2, [])
        transaction.append_events(K7F2, [noted])
        assert transaction.history(K7F2) == (created, noted)

    store.transact(operation, author=ADA)
    assert store.history(K7F2) == (created, noted)
    assert store.history(TaskId("none")) == ()


def test_a_torn_line_stays_and_the_next_starts_again(store: Store) -> None:
    write_files(store, {layout.history_path(K7F2): b'{"type":"task.cre'})
    event = Event(EventType.NOTED, AT, ENGINE)
    store.transact(lambda transaction: transaction.append_events(K7F2, [event]), author=ADA)
    content = store.read(layout.history_path(K7F2))
    assert content is not None
    assert content.startswith(b'{"type":"task.cre\n{"')
    assert store.history(K7F2) == (event,)


def test_what_stands_in_a_history_is_not_read_to_add_to_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = Event(EventType.NOTED, AT, ENGINE)
    store.transact(lambda transaction: transaction.append_events(K7F2, [event]), author=ADA)
    before = store.read(layout.history_path(K7F2)) or b""
    assert before
    with monkeypatch.context() as patched:
        patched.setattr("gitticks.document.history.read_history", lambda *_: pytest.fail("it was read"))
        store.transact(lambda transaction: transaction.append_events(K7F2, [event]), author=ADA)
    content = store.read(layout.history_path(K7F2)) or b""
    assert content.startswith(before)
    assert store.history(K7F2)[-1] == event


def test_a_change_reads_and_writes_as_much_among_many_tasks_as_among_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    content = Objects._content

    def reading(objects: Objects, object_id: str, kind: str) -> bytes:
        read.append(kind)
        return content(objects, object_id, kind)

    monkeypatch.setattr(Objects, "_content", reading)

    def change(transaction: Transaction) -> None:
        file = transaction.task_file(TaskId("t003"))
        transaction.put_task(file.with_section("Notes", "Seen."))
        transaction.append_events(TaskId("t003"), [Event(EventType.NOTED, AT, ENGINE)])

    counts = []
    for number in (10, 200):
        made = make_store(tmp_path / str(number), [make_task(f"t{one:03}") for one in range(number)])
        afresh = Store(discover(tmp_path / str(number)))
        read.clear()
        afresh.transact(change, author=ADA)
        listed = git("rev-list", "--objects", f"{made.tip()}~1..{made.tip()}", at=tmp_path / str(number))
        counts.append((Counter(read), len(listed.splitlines())))
    assert counts[0] == counts[1]
    assert counts[0][1] == 7  # two files, four folders and the commit


@pytest.mark.damages
def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    store = make_store(tmp_path / "r")
    write_files(store, {"notes/a.md": b"a\n", "notes/b.md": b"b\n"})
    name = git("rev-parse", "gitticks/state:notes/a.md", at=tmp_path / "r")
    loose_file(tmp_path / "r/.git", name).unlink()
    snapshot = store.snapshot()
    assert snapshot.read("notes/b.md") == b"b\n"
    with pytest.raises(GitticksError, match=r"`\.gitticks/notes/a\.md`: the object .* is missing"):
        snapshot.read("notes/a.md")


@pytest.mark.damages
def test_a_damaged_folder_hides_its_own_tasks_alone(store: Store, tmp_path: Path) -> None:
    name = git("rev-parse", "gitticks/state:tasks/f2", at=tmp_path / "r")
    loose_file(tmp_path / "r/.git", name).unlink()
    assert task_ids(Store(discover(tmp_path / "r"))) == ("m3a9",)
