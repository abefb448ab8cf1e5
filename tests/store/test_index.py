"""The query index: always what a fresh build gives, whatever happened to its file."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitticks.document.taskfile import ReadFile
from gitticks.errors import NotFoundError
from gitticks.git.repository import Repository, discover
from gitticks.model.ids import TaskId, task_path
from gitticks.model.notes import Entry, Section
from gitticks.model.queries import Surroundings, TaskGraph, first_ready
from gitticks.model.status import ActorKind, Status
from gitticks.model.task import Task
from gitticks.store import index as module
from gitticks.store import index_contents, indexing, layout
from gitticks.store.branch import Store
from gitticks.store.index import BrokenFile, Index, IndexedTasks, candidates_in, graph_over, open_index
from gitticks.store.index_database import index_path
from tests.store.indexes import K7F2, TASKS, fresh_rows, left_behind, repository, rows, store
from tests.support import graphs
from tests.support.repositories import git, make_repository
from tests.support.tasks import ADA, CREATED, make_store, make_task, put_tasks, write_files

__all__ = ["repository", "store"]


def test_it_answers_what_commands_print(repository: Repository, store: Store) -> None:
    with open_index(repository) as index:
        assert index.commit == store.tip()
        assert index.tasks() == sorted(TASKS, key=lambda task: task.id)
        assert [task.id for task in index.tasks(open_only=True)] == ["e111", "k7f2", "k7zz"]
        assert index.task(K7F2) == TASKS[0]
        assert [task.id for task in index.awaiting()] == ["k7f2"]
        assert [task.id for task in index.children(TaskId("e111"))] == ["k7zz"]
        assert index.find_ids("k7") == ["k7f2", "k7zz"]
        assert index.find_ids("") == ["e111", "k7f2", "k7zz", "m3a9"]
        assert index.find_ids("%") == []
        assert index.titles()[K7F2] == "Login loses the return URL"
        assert index.data(K7F2) == store.read(task_path(K7F2))
        assert index.data(TaskId("none")) is None
        assert [page.id for page in index.needing_people()] == ["k7f2"]
        assert index.closed_children() == {None: 1}
        assert [task_id for task_id, _, _ in index.texts(open_only=False)] == ["e111", "k7f2", "k7zz", "m3a9"]
        assert [task_id for task_id, _, _ in index.texts(open_only=True)] == ["e111", "k7f2", "k7zz"]
        assert index.broken() == ()
        with pytest.raises(NotFoundError, match="there is no task `none`"):
            index.task(TaskId("none"))


def test_open_questions_are_kept(store: Store, repository: Repository) -> None:
    question = Entry(CREATED, ActorKind.AGENT, "claude", "Which colour?")
    answer = Entry(CREATED + timedelta(hours=1), ActorKind.HUMAN, "Ada", "Red.")
    asked = store.task_file(K7F2).with_entry(Section.QUESTIONS, question)
    store.transact(lambda transaction: transaction.put_task(asked), author=ADA)
    with open_index(repository) as index:
        assert index.open_questions(K7F2) == (question,)
        assert index.open_questions(TaskId("m3a9")) == ()
        assert index.questions_of_all() == {K7F2: (question,)}
    answered = asked.with_entry(Section.QUESTIONS, answer)
    store.transact(lambda transaction: transaction.put_task(answered), author=ADA)
    with open_index(repository) as index:
        assert index.open_questions(K7F2) == ()


def test_a_warm_index_is_opened_as_it_is(
    store: Store, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_index(repository).close()
    monkeypatch.setattr(indexing, "refreshed", lambda *_: pytest.fail("the index was not warm"))
    put_tasks(store, [make_task("new1")])
    with open_index(repository) as index:
        assert "new1" in index.titles()


def test_a_foreign_commit_reads_only_what_changed(
    store: Store, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    with left_behind(repository):
        put_tasks(store, [make_task("new1")])
        write_files(store, {task_path(TaskId("m3a9")): None})
    read: list[str] = []
    genuine = index_contents.read_for_index

    def recording(data: bytes, path: str) -> tuple[ReadFile, tuple[Entry, ...]]:
        read.append(path)
        return genuine(data, path)

    monkeypatch.setattr(index_contents, "read_for_index", recording)
    with open_index(repository) as index:
        assert index.find_ids("") == ["e111", "k7f2", "k7zz", "new1"]
    assert read == [task_path(TaskId("new1"))]
    assert rows(repository) == fresh_rows(repository)


def test_a_rewound_branch_is_followed(store: Store, repository: Repository) -> None:
    old = store.tip()
    put_tasks(store, [make_task("new1")])
    open_index(repository).close()
    git("update-ref", layout.STATE_REF, old, at=repository.common_dir)
    with open_index(repository) as index:
        assert "new1" not in index.titles()
    assert rows(repository) == fresh_rows(repository)


def test_a_commit_that_is_gone_means_a_fresh_build(store: Store, repository: Repository) -> None:
    open_index(repository).close()
    with sqlite3.connect(index_path(repository)) as connection:
        connection.execute("UPDATE state SET commit_id = ?", ("1" * 40,))
        connection.execute("INSERT INTO broken VALUES ('ghost', NULL, 'ghost')")
    connection.close()
    with open_index(repository) as index:
        assert index.broken() == ()
        assert index.commit == store.tip()


@pytest.mark.parametrize(
    ("path", "content", "words"),
    [
        ("tasks/f2/k7f2/TASK.md", b"---\nid: k7f2\n---\n", "tasks/f2/k7f2/TASK.md"),
        (
            "tasks/f2/k7f2/TASK.md",
            b"---\nid: other\ntitle: t\nstatus: pending\n---\n",
            "the folder's name says `k7f2`",
        ),
        (
            "tasks/aa/k7f2/TASK.md",
            b"---\nid: k7f2\ntitle: t\nstatus: pending\n---\n",
            "the task is in the wrong folder: `gt doctor` says where it belongs",
        ),
        ("tasks/aa/K 7/TASK.md", b"---\nid: k7f2\ntitle: t\nstatus: pending\n---\n", "not a task id"),
    ],
)
def test_a_broken_file_is_named_and_stops_nobody(
    store: Store, repository: Repository, path: str, content: bytes, words: str
) -> None:
    write_files(store, {path: content})
    with open_index(repository) as index:
        (broken,) = index.broken()
        assert isinstance(broken, BrokenFile)
        assert broken.path == path
        assert broken.message.startswith(path)
        assert words in broken.message
        assert "e111" in index.titles()
        if path == task_path(K7F2):
            assert index.find_ids("k7f2") == ["k7f2"]
            assert index.data(K7F2) == content
            with pytest.raises(NotFoundError, match=path) as caught:
                index.task(K7F2)
            assert caught.value.hint == "fix the file: `gt edit k7f2`"
    write_files(store, {path: None})
    with open_index(repository) as index:
        assert index.broken() == ()
    assert rows(repository) == fresh_rows(repository)


def test_a_symbolic_link_is_no_task(store: Store, repository: Repository) -> None:
    target = git("hash-object", "-w", "--stdin", at=repository.common_dir, input="/etc/passwd")
    environment = {"GIT_INDEX_FILE": str(repository.common_dir / "scratch-index")}
    git("read-tree", layout.STATE_BRANCH, at=repository.common_dir, environment=environment)
    entry = f"120000,{target},tasks/a9/m3a9/TASK.md"
    git("update-index", "--add", "--cacheinfo", entry, at=repository.common_dir, environment=environment)
    tree = git("write-tree", at=repository.common_dir, environment=environment)
    commit = git("commit-tree", tree, "-p", store.tip(), "-m", "hostile", at=repository.common_dir)
    git("update-ref", layout.STATE_REF, commit, at=repository.common_dir)
    with open_index(repository) as index:
        (broken,) = index.broken()
        assert "is not a regular file" in broken.message
        assert index.data(TaskId("m3a9")) is None


def test_without_a_state_branch_there_is_a_hint(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="has no tasks yet"):
        open_index(discover(make_repository(tmp_path / "r")))


ids = st.sampled_from(["aaaa", "bbbb", "ccaa", "d"])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), ids, st.sampled_from(list(Status))),
        st.tuples(st.just("break"), ids, st.none()),
        st.tuples(st.just("remove"), ids, st.none()),
        st.tuples(st.just("misplace"), ids, st.none()),
        st.tuples(st.just("look"), ids, st.none()),
        st.tuples(st.just("forget"), ids, st.none()),
    ),
    max_size=8,
)


@settings(max_examples=15 if os.environ.get("GITTICKS_DOSE") != "full" else 500)
@given(script=steps)
def test_after_any_operations_it_is_what_a_fresh_build_gives(
    script: list[tuple[str, str, Status | None]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    store = make_store(tmp_path_factory.mktemp("random"), [])
    for action, task_id, status in script:
        path = task_path(TaskId(task_id))
        if action == "put":
            put_tasks(store, [replace(make_task(task_id), status=status or Status.PENDING)])
        elif action == "look":
            open_index(store.repository).close()
        elif action == "forget":
            index_path(store.repository).unlink(missing_ok=True)
        else:
            place = path.replace("tasks/", "tasks/x") if action == "misplace" else path
            write_files(store, {place: None if action == "remove" else b"not a task"})
    assert rows(store.repository) == fresh_rows(store.repository)


READ_WARM = """\
import sys
from pathlib import Path
from gitticks.git.repository import discover
from gitticks.model.ids import TaskId
from gitticks.store.index import open_index
from gitticks.store.task_ids import resolve_id
with open_index(discover(Path(sys.argv[1]))) as index:
    index.tasks(), index.broken(), index.titles(), index.task(resolve_id(index, "k7f"))
    index.open_questions(TaskId("k7f2")), index.data(TaskId("k7f2"))
print(" ".join(sorted(name.partition(".")[0] for name in sys.modules)))
"""


def test_warm_reading_loads_nothing_slow(repository: Repository) -> None:
    open_index(repository).close()
    assert repository.main_worktree is not None
    run = subprocess.run(
        [sys.executable, "-c", READ_WARM, str(repository.main_worktree)],
        capture_output=True,
        text=True,
        check=True,
    )
    slow = {
        "pygit2",
        "ruamel",
        "markdown_it",
        "rich",
        "subprocess",
        "click",
        "jinja2",
        "difflib",
        "importlib_metadata",
    }
    assert slow & set(run.stdout.split()) == set()


def answers(index: Index, task_id: TaskId) -> tuple[object, ...]:
    return (
        index.tasks(),
        sorted(index.listed(with_json=True)),
        index.titles(),
        index.data(task_id),
        index.history(task_id),
        index.histories(),
    )


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE fields SET json = '[]'",
        "UPDATE fields SET json = x'ff00fe'",
        "UPDATE task SET title = x'ff', questions = '{'",
        "UPDATE task SET priority = 'high'",
        "UPDATE task SET is_begun = NULL",
        "UPDATE task SET claimed = 'too little'",
        "UPDATE task SET deferred = '2026-99-99'",
        "UPDATE file SET data = 'text', history = 5",
        "UPDATE state SET commit_id = x'00ff'",
        "UPDATE state SET commit_id = 'main'",
        "INSERT INTO broken VALUES (x'ff', 'NO ID', x'ff')",
    ],
)
def test_rows_of_another_kind_are_not_believed(store: Store, damage: str) -> None:
    put_tasks(store, [make_task("q8xy")])
    with open_index(store.repository) as index:
        before = answers(index, TaskId("q8xy"))
    with closing(sqlite3.connect(index_path(store.repository), isolation_level=None)) as connection:
        connection.execute(damage)
    with open_index(store.repository) as index:
        assert index.broken() == ()
        assert index.open_questions(TaskId("q8xy")) == ()
        assert answers(index, TaskId("q8xy")) == before


@settings(max_examples=25)
@given(graphs.tasks(), graphs.surroundings())
def test_the_index_picks_what_the_graph_of_all_tasks_picks(tasks: list[Task], around: Surroundings) -> None:
    whole = TaskGraph.of(tasks)
    with TemporaryDirectory() as folder:
        store = make_store(Path(folder, "r"), tasks)
        with open_index(store.repository) as index:
            graph = graph_over(index)
            found = first_ready(graph, candidates_in(index), around)
            expected = next(iter(whole.ready(around)), None)
            assert (found and found.id) == (expected and expected.id)
            for task in tasks:
                row = graph.tasks[task.id]
                assert graph.group(row) == whole.group(task)
                assert graph.open_blockers(row) == whole.open_blockers(task)


def test_the_mapping_is_that_of_all_tasks(tmp_path: Path) -> None:
    tasks = [make_task("k7f2"), make_task("m3a9")]
    with open_index(make_store(tmp_path / "r", tasks).repository) as index:
        assert [(task_id, row.title) for task_id, row in IndexedTasks(index).items()] == [
            (task.id, task.title) for task in tasks
        ]
        assert len(IndexedTasks(index)) == 2
        assert "zzzz" not in IndexedTasks(index)


def test_candidates_are_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ROWS_AT_ONCE", 4)
    tasks = [make_task(f"k{number}aa") for number in range(2, 8)]
    with open_index(make_store(tmp_path / "r", tasks).repository) as index:
        assert [row.id for row in index.workable(is_child=False)] == [task.id for task in tasks]
        assert list(index.workable(is_child=True)) == []


def test_what_is_below_is_one_question_however_deep_and_wide(tmp_path: Path) -> None:
    parents = {"e2": "e1", "e3": "e2", "a1": "e3", "a2": "e3", "e1": "e3", "b1": "e9"}
    tasks = [replace(make_task(one), parent=TaskId(parent)) for one, parent in parents.items()]
    with open_index(make_store(tmp_path / "r", tasks).repository) as index:
        asked: list[str] = []
        index._connection.set_trace_callback(asked.append)
        assert set(index.below([TaskId("e1"), TaskId("e2")])) == {"e1", "e2", "e3", "a1", "a2"}
        assert len(asked) == 1
        assert set(index.below([TaskId("b1"), TaskId("e9")])) == {"b1"}
