from __future__ import annotations

import subprocess
from pathlib import Path

from benchmarks.branch import REF, history_file, task_file, write_branch
from benchmarks.dataset import records
from gitticks.document.history import read_history
from gitticks.model.ids import is_valid_id, task_path
from gitticks.store.layout import history_path


def test_the_same_seed_makes_the_same_tasks() -> None:
    assert list(records(50, seed=3)) == list(records(50, seed=3))
    assert list(records(50, seed=3)) != list(records(50, seed=4))


def test_tasks_are_as_varied_as_a_real_queue() -> None:
    tasks = list(records(1000))
    assert len({task.id for task in tasks}) == 1000
    assert all(is_valid_id(task.id) for task in tasks)
    assert {task.priority for task in tasks} == {0, 1, 2, 3, 4}
    for some in (
        [task for task in tasks if task.is_epic],
        [task for task in tasks if task.parent],
        [task for task in tasks if task.blocked_by],
        [task for task in tasks if task.closed],
    ):
        assert 20 < len(some) < 700
    sizes = [len(task_file(task)) for task in tasks]
    assert min(sizes) > 300
    assert max(sizes) < 5000


def test_histories_are_such_as_gitticks_writes() -> None:
    for task in records(100):
        history = read_history(history_file(task).encode())
        assert history.broken == ()
        assert history.torn == b""
        assert len(history.events) == (1 if task.closed is None else 9)


def test_nothing_names_a_task_that_is_not_there() -> None:
    seen: set[str] = set()
    for task in records(500):
        assert {*task.blocked_by, *filter(None, [task.parent])} <= seen
        seen.add(task.id)


def test_the_branch_holds_every_task_in_one_commit(tmp_path: Path) -> None:
    tasks = list(records(30))
    git = ["git", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "--quiet"], check=True)
    write_branch(tmp_path, tasks)
    listed = subprocess.run(
        [*git, "ls-tree", "-r", "--name-only", REF], capture_output=True, text=True, check=True
    )
    assert sorted(listed.stdout.split()) == sorted(
        [".gitattributes", "config.yaml", *(path(t.id) for t in tasks for path in (task_path, history_path))]
    )
    shown = subprocess.run(
        [*git, "show", f"{REF}:{task_path(tasks[0].id)}"], capture_output=True, text=True, check=True
    )
    assert shown.stdout == task_file(tasks[0])
    commits = subprocess.run([*git, "rev-list", "--count", REF], capture_output=True, text=True, check=True)
    assert commits.stdout.strip() == "1"
