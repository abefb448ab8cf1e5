"""The index file, damaged in every place, and with many processes at it at once."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gitticks.git.locks import hold_lock
from gitticks.git.repository import Repository
from gitticks.model.ids import TaskId, task_path
from gitticks.model.notes import Entry, Section
from gitticks.model.status import ActorKind, Awaiting, Status
from gitticks.store import index_database, layout
from gitticks.store.branch import Store
from gitticks.store.index import Index, open_index
from gitticks.store.index_database import index_path
from tests.store.indexes import fresh_rows, rows
from tests.support.repositories import git
from tests.support.tasks import ADA, CREATED, make_store, make_task, put_tasks, write_files
from tests.support.waiting import LONGEST_SECONDS

IS_FULL = os.environ.get("GITTICKS_DOSE") == "full"
EPIC = TaskId("e111")
QUESTION = Entry(CREATED, ActorKind.AGENT, "claude", "Which colour?")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    made = make_store(tmp_path_factory.mktemp("indexing") / "r", [make_task(EPIC, "Epic")])
    put_tasks(
        made,
        [
            replace(
                make_task(f"t{number:03}", f"Task {number}"),
                parent=EPIC if number % 3 else None,
                awaiting=Awaiting.WORK if number % 5 == 0 else None,
                priority=number % 4,
                status=Status.DONE if number % 7 == 0 else Status.PENDING,
            )
            for number in range(60)
        ],
    )
    asked = made.task_file(EPIC).with_entry(Section.QUESTIONS, QUESTION)
    made.transact(lambda transaction: transaction.put_task(asked), author=ADA)
    write_files(made, {task_path(TaskId("bad1")): b"no task"})
    return made


@pytest.fixture
def repository(store: Store) -> Repository:
    return store.repository


def answers(index: Index) -> list[object]:
    """Returns what every question about the index is answered."""
    ids = index.find_ids("")
    return [
        index.tasks(),
        index.tasks(open_only=True),
        sorted(index.listed(with_json=True)),
        sorted(index.listed(open_only=True)),
        index.details(open_only=True),
        index.awaiting(),
        index.begun(),
        index.children(EPIC),
        list(index.workable(is_child=True)),
        list(index.workable(is_child=False)),
        ids,
        index.titles(),
        index.broken(),
        [(index.find(task_id, with_json=True), index.open_questions(task_id)) for task_id in ids],
        [(index.data(task_id), index.history(task_id)) for task_id in ids],
    ]


def all_answers(repository: Repository) -> list[object]:
    with open_index(repository) as opened:
        return answers(opened)


DAMAGES = ("garbage", "zeros", "noise", "cut before", "cut inside")


def pages(content: bytes, damage: str) -> range:
    """Returns the pages to damage: in the everyday dose every third, each kind of damage beginning at another."""
    step = 1 if IS_FULL else 3
    return range(DAMAGES.index(damage) % step, len(content) // page_size(content), step)


def page_size(content: bytes) -> int:
    return int.from_bytes(content[16:18], "big")


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_at_any_page_changes_no_answer(repository: Repository, damage: str) -> None:
    expected = all_answers(repository)
    path = index_path(repository)
    content, size = path.read_bytes(), page_size(path.read_bytes())
    for page in pages(content, damage):
        start = page * size
        middle = {
            "garbage": b"\xff" * size,
            "zeros": bytes(size),
            "noise": random.Random(page).randbytes(size),
        }
        cut = {"cut before": content[:start], "cut inside": content[: start + size // 2]}
        spoiled = cut.get(damage)
        if spoiled is None:
            spoiled = content[:start] + middle[damage] + content[start + size :]
        path.write_bytes(spoiled)
        assert all_answers(repository) == expected, page
        assert all_answers(repository) == expected, page


def test_a_flipped_bit_is_never_a_traceback(repository: Repository) -> None:
    expected = all_answers(repository)
    path = index_path(repository)
    content, draws = path.read_bytes(), random.Random(1)
    for _ in range(3000 if IS_FULL else 50):
        spoiled = bytearray(content)
        spoiled[draws.randrange(len(content))] ^= 1 << draws.randrange(8)
        path.write_bytes(bytes(spoiled))
        assert len(all_answers(repository)) == len(expected)
    path.unlink(missing_ok=True)
    assert all_answers(repository) == expected


def test_tables_of_another_shape_are_replaced(repository: Repository) -> None:
    index_path(repository).unlink(missing_ok=True)  # one that another test damaged may be no file to change
    expected = all_answers(repository)
    for statement in ("DROP TABLE task", "ALTER TABLE file RENAME TO other", "DROP TABLE state"):
        with sqlite3.connect(index_path(repository)) as connection:
            connection.execute(statement)
        connection.close()
        assert all_answers(repository) == expected
        assert all_answers(repository) == expected  # from a file again


def test_a_build_that_was_killed_leaves_nothing_in_the_way(repository: Repository) -> None:
    expected = fresh_rows(repository)
    path = index_path(repository)
    path.unlink()
    path.with_name("index.sqlite3.new").write_bytes(b"half of an index")
    path.with_name("index.sqlite3-journal").write_bytes(b"a journal of a file that is gone")
    assert rows(repository) == expected
    assert not path.with_name("index.sqlite3.new").exists()
    assert not path.with_name("index.sqlite3-journal").exists()


def test_while_another_builds_the_index_an_own_one_is_built_in_memory(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = all_answers(repository)
    index_path(repository).unlink()
    with monkeypatch.context() as patched, hold_lock(repository.own_dir / "index.lock"):
        patched.setattr(index_database, "BUSY_SECONDS", 0.05)
        assert all_answers(repository) == expected
        assert not index_path(repository).exists()
    assert all_answers(repository) == expected
    assert index_path(repository).exists()


def test_a_file_that_another_process_replaced_is_not_removed(repository: Repository) -> None:
    expected = all_answers(repository)
    path = index_path(repository)
    sound = path.read_bytes()
    with open_index(repository) as opened:
        opened._connection.close()
        opened._connection = sqlite3.connect(":memory:")  # as damaged as can be: it has no tables
        with hold_lock(repository.own_dir / "index.lock"):
            path.write_bytes(sound)
        assert answers(opened) == expected


@pytest.mark.parametrize("history", ["rewound", "rewritten", "unrelated", "emptied"])
def test_a_branch_moved_by_hand_is_followed(repository: Repository, tmp_path: Path, history: str) -> None:
    own = make_store(tmp_path / "r", [make_task("aaaa", "One"), make_task("bbbb", "Two")])
    old = own.tip()
    put_tasks(own, [make_task("aaaa", "Changed"), make_task("cccc", "Three")])
    open_index(own.repository).close()
    at = own.repository.common_dir
    git("update-ref", layout.STATE_REF, _moved(at, old, history, repository.common_dir), at=at)
    assert rows(own.repository) == fresh_rows(own.repository)
    put_tasks(own, [make_task("dddd", "Four")])
    assert rows(own.repository) == fresh_rows(own.repository)
    git("reflog", "expire", "--expire=now", "--all", at=at)
    git("gc", "--quiet", "--prune=now", at=at)
    put_tasks(own, [make_task("eeee", "Five")])
    assert rows(own.repository) == fresh_rows(own.repository)


def _moved(at: Path, old: str, history: str, other: Path) -> str:
    if history == "rewound":
        return old
    if history == "unrelated":
        git("fetch", "--quiet", str(other), layout.STATE_REF, at=at)
        return git("rev-parse", "FETCH_HEAD", at=at)
    tree = (
        git("hash-object", "-t", "tree", "-w", "--stdin", at=at, input="")
        if history == "emptied"
        else f"{old}^{{tree}}"
    )
    return git("commit-tree", tree, "-m", history, at=at)


WORKER = """\
import os, random, sys
from contextlib import suppress
from pathlib import Path
from gitticks.git.repository import discover
from gitticks.store.branch import Store
from gitticks.store.index import open_index
from gitticks.store.index_database import index_path
from tests.support.tasks import make_task, put_tasks

top, number, steps, actions = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4].split()
repository, draws = discover(top), random.Random(number)
path = index_path(repository)
for step in range(steps):
    action = draws.choice(actions)
    if action == "write":
        put_tasks(Store(repository), [make_task(f"w{number}x{step}", f"Step {step}")])
    elif action == "remove":
        path.unlink(missing_ok=True)
    elif action in ("spoil", "cut"):
        with suppress(FileNotFoundError), open(path, "r+b") as file:
            place = draws.randrange(file.seek(0, os.SEEK_END) + 1)
            if action == "cut":
                file.truncate(place)
            else:
                file.seek(place - place % 4096)
                file.write(bytes(4096))
    with open_index(repository) as index:
        tasks = {task.id: task.title for task in index.tasks()}
        if action == "write":
            assert tasks[f"w{number}x{step}"] == f"Step {step}"
        assert all(tasks[id] == title for id, title in index.titles().items())
        assert len(tasks) >= 3
"""


@pytest.mark.parametrize("actions", ["read read write remove", "read read write remove spoil cut"])
def test_processes_that_build_update_and_read_at_once_never_see_a_wrong_answer(
    tmp_path: Path, actions: str
) -> None:
    own = make_store(tmp_path / "r", [make_task(f"t{number:03}") for number in range(40)])
    count, steps = (8, 150) if IS_FULL else (4, 8)
    command = [sys.executable, "-c", WORKER, str(tmp_path / "r")]
    runs = [
        subprocess.Popen([*command, str(number), str(steps), actions], stderr=subprocess.PIPE, text=True)
        for number in range(count)
    ]
    failed = [
        errors for run in runs if (errors := run.communicate(timeout=LONGEST_SECONDS)[1]) or run.returncode
    ]
    assert failed == []
    expected = all_answers(own.repository)
    index_path(own.repository).unlink(missing_ok=True)
    assert all_answers(own.repository) == expected


def test_many_processes_that_find_no_index_leave_one(tmp_path: Path) -> None:
    own = make_store(tmp_path / "r", [make_task(f"t{number:03}") for number in range(200)])
    index_path(own.repository).unlink(missing_ok=True)
    read = (
        "import sys; from pathlib import Path; from gitticks.git.repository import discover; "
        "from gitticks.store.index import open_index; "
        "print(len(open_index(discover(Path(sys.argv[1]))).tasks()))"
    )
    command = [sys.executable, "-c", read, str(tmp_path / "r")]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(24 if IS_FULL else 6)]
    assert {run.communicate(timeout=LONGEST_SECONDS)[0] for run in runs} == {"200\n"}
    folder = index_path(own.repository).parent
    assert [path.name for path in folder.glob("index.sqlite3*")] == ["index.sqlite3"]
    assert rows(own.repository) == fresh_rows(own.repository)


def test_those_who_share_the_repository_may_write_to_the_index(repository: Repository) -> None:
    index_path(repository).unlink(missing_ok=True)
    before = os.umask(0o002)
    try:
        open_index(repository).close()
    finally:
        os.umask(before)
    assert index_path(repository).stat().st_mode & 0o777 == 0o664
    index_path(repository).unlink()
