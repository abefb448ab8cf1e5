"""The rows of the index, where git's objects are odd, damaged or gone."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gitticks.document.merging.three_way import Version, marked
from gitticks.errors import GitticksError
from gitticks.git.objects import Objects, failures
from gitticks.git.repository import Repository, discover
from gitticks.model.ids import TaskId, task_folder, task_path
from gitticks.store import index_contents, layout
from gitticks.store.branch import Store
from gitticks.store.index import open_index
from gitticks.store.index_database import index_path
from gitticks.store.layout import history_path
from tests.store.indexes import fresh_rows, left_behind, rows
from tests.support.repositories import git, loose_file
from tests.support.tasks import ADA, make_store, make_task, put_tasks, write_files

K7F2 = TaskId("k7f2")
OTHERS = [TaskId("e111"), TaskId("m3a9")]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path / "r", [make_task(task_id) for task_id in (K7F2, *OTHERS)])


@pytest.fixture
def repository(store: Store) -> Repository:
    return store.repository


def damage(repository: Repository, name: str, how: str) -> str:
    """Spoils the loose object that a name stands for, and returns its id."""
    object_id = git("rev-parse", name, at=repository.common_dir)
    path = loose_file(repository.common_dir, object_id)
    content = bytearray(path.read_bytes())
    path.chmod(0o644)
    if how == "gone":
        path.unlink()
    else:
        content[len(content) // 2] ^= 0xFF
        path.write_bytes(bytes(content) if how == "flipped" else b"")
    return object_id


@pytest.mark.parametrize("how", ["gone", "flipped", "empty"])
@pytest.mark.parametrize("depth", [1, 2, 3], ids=["shard", "folder", "file"])
def test_a_damaged_object_hides_no_other_task(
    store: Store, repository: Repository, how: str, depth: int
) -> None:
    parts = task_path(K7F2).split("/")
    spoiled = "/".join(parts[: depth + 1])
    original = repository.common_dir.with_name("copy")
    subprocess.run(["cp", "-a", str(repository.common_dir), str(original)], check=True)
    object_id = damage(repository, f"{layout.STATE_BRANCH}:{spoiled}", how)
    index_path(repository).unlink(missing_ok=True)
    for _ in range(2):  # an index that lacks a task is never kept
        with open_index(discover(repository.common_dir.parent)) as index:
            assert list(index.titles()) == OTHERS
            (broken,) = index.broken()
            assert broken.path == spoiled
            assert object_id in broken.message
    subprocess.run(["cp", "-a", f"{original}/objects", str(repository.common_dir)], check=True)
    with open_index(repository) as index:
        assert sorted(index.titles()) == ["e111", "k7f2", "m3a9"]
        assert index.broken() == ()


@pytest.mark.parametrize("name", ["TASK.md", "history.jsonl"])
def test_a_file_that_is_too_large_is_a_broken_one(
    store: Store, repository: Repository, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(failures, "MOST_BYTES", 100_000)
    path = task_path(TaskId("m3a9"))
    large = path.replace("TASK.md", name)
    store.transact(lambda transaction: transaction.write(large, b"x" * 100_001), author=ADA)
    for _ in range(2):
        with open_index(repository) as index:
            assert [one.path for one in index.broken()] == [path]
            assert "is larger than" in index.broken()[0].message
            assert "k7f2" in {task.id for task in index.tasks()}
    assert index_path(repository).exists()


@pytest.mark.damages
def test_many_damaged_objects_are_one_error(
    store: Store, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    for task_id in (K7F2, *OTHERS):
        damage(repository, f"{layout.STATE_BRANCH}:{task_folder(task_id)}", "gone")
    index_path(repository).unlink(missing_ok=True)
    monkeypatch.setattr("gitticks.store.indexing._MOST_UNREADABLE", 2)
    with pytest.raises(GitticksError, match="is missing") as caught:
        open_index(discover(repository.common_dir.parent))
    assert caught.value.hint is not None


@pytest.mark.damages
def test_a_folder_that_is_gone_from_the_indexed_commit_means_a_fresh_build(
    store: Store, repository: Repository
) -> None:
    old = store.tip()
    with left_behind(repository):
        put_tasks(store, [make_task(K7F2, "Another title")])
    damage(repository, f"{old}:tasks/f2", "gone")
    with open_index(repository) as index:
        assert index.titles()[K7F2] == "Another title"
    assert rows(repository) == fresh_rows(repository)


def test_many_files_are_read_at_once(
    store: Store, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_tasks(store, [make_task(f"t{number:03}") for number in range(60)])
    git("gc", "--quiet", at=repository.common_dir)
    index_path(repository).unlink(missing_ok=True)
    alone: list[str] = []
    read_blob = Objects.read_blob

    def read_alone(objects: Objects, object_id: str) -> bytes:
        alone.append(object_id)
        return read_blob(objects, object_id)

    monkeypatch.setattr(Objects, "read_blob", read_alone)
    with open_index(repository) as index:
        assert len(list(index.titles())) == 63
    assert alone == [git("rev-parse", f"{layout.STATE_BRANCH}:config.yaml", at=repository.common_dir)]


@pytest.mark.parametrize("name", [b"\xff", b"a\xffb", "é".encode(), b"\\xff", b"a b\n"])
def test_a_name_that_no_task_bears_is_broken(store: Store, repository: Repository, name: bytes) -> None:
    blob = git("rev-parse", f"{layout.STATE_BRANCH}:{task_path(K7F2)}", at=repository.common_dir)
    for place in (b"tasks/" + name + b"/k7f2", b"tasks/f2/" + name):
        tip = store.tip()
        tree = _tree_with(repository, tip, place + b"/TASK.md", blob)
        commit = git("commit-tree", tree, "-p", tip, "-m", "hostile", at=repository.common_dir)
        git("update-ref", layout.STATE_REF, commit, at=repository.common_dir)
        with open_index(repository) as index:
            assert sorted(index.titles()) == ["e111", "k7f2", "m3a9"]
            assert all(broken.path.isprintable() or b"\n" in name for broken in index.broken())
    assert len(rows(repository)["broken"]) == 2
    assert rows(repository) == fresh_rows(repository)


def _tree_with(repository: Repository, commit: str, path: bytes, blob: str) -> str:
    """Returns the commit's tree with a file added under a path of any bytes."""
    environment = {"GIT_INDEX_FILE": str(repository.common_dir / "scratch-index")}
    git("read-tree", commit, at=repository.common_dir, environment=environment)
    entry = f"100644 {blob}\t{path.decode('utf-8', 'surrogateescape')}\0"
    git("update-index", "-z", "--index-info", at=repository.common_dir, input=entry, environment=environment)
    return git("write-tree", at=repository.common_dir, environment=environment)


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("k7", ["k7", "k7-9", "k7f2", "k7zz"]),
        ("k7f2", ["k7f2"]),
        ("k7-", ["k7-9"]),
        ("", ["k7", "k7-9", "k7f2", "k7zz", "k8"]),
        ("x", []),
        ("K7", []),
        ("k%", []),
    ],
)
def test_tasks_are_found_by_the_beginning_of_their_ids(tmp_path: Path, word: str, found: list[str]) -> None:
    store = make_store(tmp_path, [make_task(name) for name in ("k7", "k7-9", "k7f2", "k7zz", "k8")])
    assert sorted(task.id for task in open_index(store.repository).beginning(word)) == found


@pytest.mark.parametrize(
    "conflict",
    [
        marked([Version("1", "Mine."), Version("2", "Theirs.")]),
        "<<<<<<< ours\nMine.\n=======\nTheirs.\n>>>>>>> theirs\n",
    ],
)
def test_a_conflict_is_known_by_its_line_until_somebody_settles_it(
    store: Store, repository: Repository, conflict: str
) -> None:
    data = store.read(task_path(K7F2)) or b""
    with left_behind(repository):
        write_files(store, {task_path(K7F2): data + f"\n## Context\n\n{conflict}".encode()})
    with open_index(repository) as index:
        assert index.conflicts() == {K7F2: data.count(b"\n") + 4}
        assert [file.task_id for file in index.to_fix()] == [K7F2]
    assert rows(repository) == fresh_rows(repository)
    with left_behind(repository):
        write_files(store, {task_path(K7F2): data})
    with open_index(repository) as index:
        assert index.conflicts() == {}
    assert rows(repository) == fresh_rows(repository)


def test_a_history_that_alone_has_grown_is_brought_along(store: Store, repository: Repository) -> None:
    place = history_path(K7F2)
    grown = (store.read(place) or b"") + b'{"type": "later"}\n'
    with left_behind(repository):
        write_files(store, {place: grown})
    with open_index(repository) as index:
        assert index.history(K7F2) == grown
    assert rows(repository) == fresh_rows(repository)


def test_questions_are_found_under_their_name_in_any_case(store: Store, repository: Repository) -> None:
    data = store.read(task_path(K7F2)) or b""
    asked = b"\n## QUESTIONS\n\n### 2026-03-04T05:58:00Z \xc2\xb7 agent \xc2\xb7 claude\n\nWhich tone?\n"
    write_files(store, {task_path(K7F2): data + asked})
    with open_index(repository) as index:
        assert [question.text for question in index.open_questions(K7F2)] == ["Which tone?"]


def test_what_else_lies_in_a_tasks_folder_has_no_task_read_again(
    store: Store, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    with left_behind(repository):
        write_files(store, {f"{task_folder(K7F2)}/worklog.md": b"did it\n"})
    monkeypatch.setattr(index_contents, "read_for_index", lambda *_: pytest.fail("a task was read"))
    with open_index(repository) as index:
        assert index.commit == store.tip()


def test_a_foreign_commit_reads_as_much_of_many_tasks_as_of_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, read = Objects._content, list[str]()

    def reading(objects: Objects, object_id: str, kind: str) -> bytes:
        read.append(kind)
        return content(objects, object_id, kind)

    counts = []
    for number in (10, 200):
        made = make_store(tmp_path / str(number), [make_task(f"t{one:03}") for one in range(number)])
        with left_behind(made.repository):
            put_tasks(made, [make_task("t003", "Another title")])
        with monkeypatch.context() as patched:
            patched.setattr(Objects, "_content", reading)
            open_index(discover(made.repository.common_dir.parent)).close()
        counts.append({kind: read.count(kind) for kind in read})
        read.clear()
    assert counts[0] == counts[1]
    assert counts[0]["tree"] < 10


def test_a_change_that_cannot_be_read_is_not_left_out_of_the_file(
    store: Store, repository: Repository
) -> None:
    with left_behind(repository):
        put_tasks(store, [make_task(K7F2, "Changed"), make_task(OTHERS[0], "Changed too")])
    path = loose_file(
        repository.common_dir,
        git("rev-parse", f"{layout.STATE_BRANCH}:{task_path(K7F2)}", at=repository.common_dir),
    )
    aside = path.rename(path.with_suffix(".aside"))
    for _ in range(2):
        with open_index(discover(repository.common_dir.parent)) as index:  # which has not read it before
            assert [file.path for file in index.broken()] == [task_path(K7F2)]
            assert index.titles()[OTHERS[0]] == "Changed too"
    aside.rename(path)
    with open_index(repository) as index:
        assert index.titles()[K7F2] == "Changed"
        assert index.broken() == ()
