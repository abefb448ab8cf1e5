"""The file of the query index: believed only where it is whole, current and of this very version."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from gitticks.git.objects import Objects
from gitticks.git.repository import Repository
from gitticks.store import index_database, indexing
from gitticks.store.branch import Store
from gitticks.store.index import open_index
from gitticks.store.index_database import connect_if_current, index_path
from tests.store.indexes import K7F2, fresh_rows, repository, rows, store
from tests.support.tasks import make_task, put_tasks, task_ids

__all__ = ["repository", "store"]


@pytest.mark.parametrize("constant", ["SCHEMA_VERSION", "PARSER_VERSION"])
def test_another_version_is_not_believed(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, constant: str
) -> None:
    before = rows(repository)
    with sqlite3.connect(index_path(repository)) as connection:
        connection.execute("UPDATE task SET title = 'stale'")
    connection.close()
    monkeypatch.setattr(index_database, constant, 99)
    with open_index(repository) as index:
        assert index.titles()[K7F2] == "Login loses the return URL"
    monkeypatch.undo()
    assert rows(repository) == before


def test_an_index_of_an_earlier_boot_is_not_believed(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_index(repository).close()
    monkeypatch.setattr(index_database, "boot_id", lambda: "another boot")
    with sqlite3.connect(index_path(repository)) as connection:
        connection.execute("DELETE FROM task")
    connection.close()
    with open_index(repository) as index:
        assert len(index.tasks()) == 4


@pytest.mark.parametrize("damage", ["missing", "empty", "garbage", "truncated", "holes", "directory"])
def test_a_damaged_file_is_replaced(store: Store, repository: Repository, damage: str) -> None:
    expected = rows(repository)
    path = index_path(repository)
    content = path.read_bytes()
    path.unlink()
    if damage == "directory":
        path.mkdir()
    elif damage != "missing":
        kept = {"empty": b"", "garbage": b"x" * 8192, "truncated": content[: len(content) // 2]}
        path.write_bytes(kept.get(damage, content[:4096] + b"\xff" * (len(content) - 4096)))
    assert rows(repository) == expected
    current = connect_if_current(repository, store.tip())
    assert (current is None) == (damage == "directory")  # nobody reads everything again at each look
    if current is not None:
        current.close()
    put_tasks(store, [make_task("new1")])
    with open_index(repository) as index:
        assert len(index.tasks()) == 5
    if damage != "directory":
        assert rows(repository) == fresh_rows(repository)


def test_a_read_only_folder_is_no_hindrance(store: Store, repository: Repository) -> None:
    open_index(repository).close()
    path = index_path(repository)
    blocked = path.with_name("index.sqlite3-journal")
    blocked.mkdir()  # no transaction can begin: as in a folder without the right to write, which root would have
    put_tasks(store, [make_task("new1")])
    with open_index(repository) as index:
        assert "new1" in index.titles()
        assert index.commit == store.tip()
    blocked.rmdir()
    assert rows(repository) == fresh_rows(repository)


def test_a_reader_that_stays_keeps_its_file_and_delays_one_write_for_a_moment(
    store: Store, repository: Repository
) -> None:
    open_index(repository).close()
    files = [index_path(repository).stat().st_ino]
    with open_index(repository) as staying:  # as a list in a pager
        before = staying.titles()
        for number in (1, 2):
            put_tasks(store, [make_task(f"new{number}")])
            files.append(index_path(repository).stat().st_ino)
            current = connect_if_current(repository, store.tip())
            assert current is not None  # the commit brought it forward
            current.close()
        assert staying.titles() == before
    assert files[0] != files[1] == files[2]
    assert rows(repository) == fresh_rows(repository)


def test_a_writer_waits_for_readers_but_a_moment(
    store: Store, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_index(repository).close()
    waits: list[float | None] = []

    def connecting(path: Path, wait_seconds: float | None = None) -> sqlite3.Connection:
        waits.append(wait_seconds)
        return index_database.connect(path, wait_seconds)

    monkeypatch.setattr(indexing, "connect", connecting)
    put_tasks(store, [make_task("new1")])
    assert waits
    assert all(seconds is not None and seconds < index_database.BUSY_SECONDS / 10 for seconds in waits)


def test_a_writer_makes_no_index_that_nobody_has_asked_for(store: Store, repository: Repository) -> None:
    index_path(repository).unlink(missing_ok=True)
    put_tasks(store, [make_task("new1")])
    assert not index_path(repository).exists()


def test_whom_the_mask_lets_write_may_write_the_index(repository: Repository) -> None:
    index_path(repository).unlink(missing_ok=True)
    os.umask(0o002)  # taken back by the seal of every test
    open_index(repository).close()
    assert index_path(repository).stat().st_mode & 0o777 == 0o664


def test_a_file_with_damaged_rows_is_removed(repository: Repository) -> None:
    open_index(repository).close()
    with closing(sqlite3.connect(index_path(repository), isolation_level=None)) as connection:
        connection.execute("UPDATE fields SET json = '['")
    with open_index(repository) as index:
        assert len(index.tasks()) == 4
    assert not index_path(repository).exists()


def test_a_file_that_another_process_puts_in_its_place_stays(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_index(repository).close()
    path, lock = index_path(repository), indexing._index_lock

    @contextmanager
    def waited_for(*arguments: Any) -> Iterator[None]:
        with lock(*arguments):
            shutil.copy(path, f"{path}.sound")
            Path(f"{path}.sound").replace(path)
            yield

    with open_index(repository) as index:
        index._connection.close()
        index._connection = sqlite3.connect(":memory:")  # as damaged as can be: it has no tables
        monkeypatch.setattr(indexing, "_index_lock", waited_for)
        assert len(index.tasks()) == 4
    assert path.exists()


def test_an_index_that_another_process_moves_on_is_not_believed(
    store: Store, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_index(repository).close()
    before, replace_file = store.tip(), indexing._replace_file
    index_path(repository).unlink()

    def moved_on(path: Path, objects: Objects, commit: str) -> None:
        replace_file(path, objects, commit)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("UPDATE state SET commit_id = ?", ("1" * 40,))
            connection.execute("DELETE FROM task")

    monkeypatch.setattr(indexing, "_replace_file", moved_on)
    with open_index(repository) as index:
        assert index.commit == before
        assert len(index.listed()) == 4


@pytest.mark.parametrize("name", ["index.sqlite3", "index.sqlite3-journal"])
def test_a_pipe_in_its_place_keeps_nobody_waiting(store: Store, name: str) -> None:
    open_index(store.repository).close()
    put_tasks(store, [make_task("q8xy")])
    place = index_path(store.repository).with_name(name)
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    with open_index(store.repository) as index:
        assert [task.id for task in index.tasks()] == sorted(task_ids(store))


def test_the_journal_of_an_earlier_file_is_not_played_back_into_the_new_one(
    store: Store, repository: Repository
) -> None:
    open_index(repository).close()
    path = index_path(repository)
    journal = path.with_name(f"{path.name}-journal")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE task SET title = 'of a writer that is killed'")
        left = journal.read_bytes()
    put_tasks(store, [make_task(f"t{number:03}") for number in range(60)])
    path.unlink()
    journal.write_bytes(left)
    found = rows(repository)
    current = connect_if_current(repository, store.tip())
    assert current is not None
    current.close()
    assert len(found["task"]) == 64
    assert found == fresh_rows(repository)


def test_a_build_that_fails_leaves_nothing(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    build, path = indexing._build, index_path(repository)

    def failing(connection: sqlite3.Connection, *arguments: Any) -> None:
        monkeypatch.setattr(indexing, "_build", build)
        build(connection, *arguments)
        raise sqlite3.OperationalError("database or disk is full")

    path.unlink(missing_ok=True)
    monkeypatch.setattr(indexing, "_build", failing)
    with open_index(repository) as index:
        assert len(index.tasks()) == 4
    assert list(path.parent.glob(f"{path.name}*")) == []
