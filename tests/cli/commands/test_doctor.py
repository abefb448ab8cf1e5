from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitticks.git.repository import Repository
from gitticks.model.ids import TaskId
from gitticks.model.status import Status
from gitticks.runner.records import Sessions
from gitticks.store.board import create_board
from gitticks.store.hooks import install_board_hooks
from tests.cli.commands.test_status import make_session
from tests.cli.support import Ran, gt
from tests.support.repositories import git, make_repository
from tests.support.stores import change_task, make_queue, make_store, make_task, write_task_file


@pytest.fixture(autouse=True)
def _our_gt_on_path(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts a `gt` of ours first on PATH, wherever the tests run."""
    folder = tmp_path_factory.mktemp("bin")
    make_program(folder, "#!/bin/sh\n# gitticks\n")
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def make_program(folder: Path, text: str) -> None:
    (folder / "gt").write_text(text)
    (folder / "gt").chmod(0o755)


def make_board(repository: Repository) -> Path:
    """Makes a board with its hooks, as `gt init` does."""
    board = create_board(repository)
    install_board_hooks(repository)
    return board


def findings(ran: Ran) -> dict[str, str]:
    return {found["what"]: found["severity"] for found in json.loads(ran.out)["findings"]}


def test_all_is_well(tmp_path: Path) -> None:
    make_board(make_queue(tmp_path).repository)
    assert gt("doctor", at=tmp_path).seen == "all is well\n--- 0\n"


def test_the_board_is_made_again(tmp_path: Path) -> None:
    make_queue(tmp_path)
    assert (
        gt("doctor", at=tmp_path).seen
        == """\
error    there is no board at .gitticks/
         `gt doctor --fix`
--- 1
1 finding can be mended by `gt doctor --fix`
"""
    )
    assert gt("doctor", "--fix", at=tmp_path).seen == "mended: make or mend the board\nall is well\n--- 0\n"
    assert (tmp_path / ".gitticks/tasks/f2/k7f2/TASK.md").is_file()


def test_the_board_is_brought_in_step(tmp_path: Path) -> None:
    store = make_queue(tmp_path)
    board = make_board(store.repository)
    change_task(store, "k7f2", title="Another")
    assert findings(gt("doctor", "--json", at=tmp_path)) == {
        "the board is behind the state branch": "warning"
    }
    assert gt("doctor", "--fix", at=tmp_path).code == 0
    assert "title: Another" in (board / "tasks/f2/k7f2/TASK.md").read_text()


def test_another_branch_in_the_board(tmp_path: Path) -> None:
    board = make_board(make_queue(tmp_path).repository)
    git("switch", "--quiet", "--create", "mine", at=board)
    ran = gt("doctor", "--json", at=tmp_path)
    assert findings(ran) == {"something else than the state branch is checked out in .gitticks/": "error"}
    assert ran.code == 1


def test_a_damaged_index_is_built_again(tmp_path: Path) -> None:
    store = make_queue(tmp_path)
    make_board(store.repository)
    gt("list", at=tmp_path)
    (store.repository.own_dir / "index.sqlite3").write_bytes(b"x" * 5000)
    assert findings(gt("doctor", "--json", at=tmp_path)) == {
        "the index is damaged: file is not a database": "error"
    }
    (store.repository.own_dir / "index.sqlite3").write_bytes(b"x" * 5000)
    assert gt("doctor", "--fix", at=tmp_path).seen == "mended: build the index again\nall is well\n--- 0\n"


def test_tasks_that_cannot_go_on(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_board(store.repository)
    make_task(store, id="aaaa", blocked_by=(TaskId("bbbb"), TaskId("zzzz")))
    make_task(store, id="bbbb", blocked_by=(TaskId("aaaa"), TaskId("cccc")), parent=TaskId("yyyy"))
    make_task(store, id="cccc", status=Status.CANCELLED)
    make_task(store, id="dddd", status=Status.STUCK)
    write_task_file(store, "m3xq", "---\nid: m3xq\ntitle: x\nstatus: pending\npriority: high\n---\n")
    gt("doctor", "--fix", at=tmp_path)
    assert findings(gt("doctor", "--json", at=tmp_path)) == {
        ".gitticks/tasks/xq/m3xq/TASK.md:5:11: `priority` is not a number from 0 to 4: 'high'": "error",
        "tasks wait for one another in a circle: aaaa → bbbb → aaaa": "error",
        "`dddd` is in stuck but awaits nobody": "error",
        "`aaaa` is blocked by `zzzz`, which does not exist": "warning",
        "`bbbb` is blocked by `cccc`, which was cancelled": "warning",
        "the parent of `bbbb`, `yyyy`, does not exist": "warning",
    }


def test_a_broken_blocker_is_not_called_missing(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_board(store.repository)
    make_task(store, id="aaaa", blocked_by=(TaskId("m3xq"),), parent=TaskId("m3xq"))
    write_task_file(store, "m3xq", "no frontmatter\n")
    gt("doctor", "--fix", at=tmp_path)
    assert len(findings(gt("doctor", "--json", at=tmp_path))) == 1


def test_dead_sessions(tmp_path: Path) -> None:
    store = make_queue(tmp_path)
    make_board(store.repository)
    held = Sessions(store.repository.own_dir).hold(make_session("k7f2"))
    with pytest.raises(KeyboardInterrupt), held:
        raise KeyboardInterrupt
    assert findings(gt("doctor", "--json", at=tmp_path)) == {
        "the session of claude on `k7f2` is dead and was not finished": "warning"
    }


def test_wrong_settings(tmp_path: Path) -> None:
    make_board(make_store(tmp_path, config="version: 1\nparalel: 3\n").repository)
    (what,) = findings(gt("doctor", "--json", at=tmp_path))
    assert what.startswith("config.yaml:2:1: ")


def test_nobody_to_commit_as(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_board(make_store(tmp_path).repository)
    (tmp_path / "gitconfig").write_text("")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    assert findings(gt("doctor", "--json", at=tmp_path)) == {"git does not know your name": "error"}


def test_another_gt_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_board(make_store(tmp_path / "repository").repository)
    make_program(tmp_path, "#!/bin/sh\nexec graphite\n")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    ran = gt("doctor", at=tmp_path / "repository")
    assert ran.out == (
        f"warning  another tool's `gt` comes first on PATH: {tmp_path}/gt\n"
        "         `gitticks` is the same command as `gt`\n"
    )
    assert ran.code == 0


def test_before_anything_was_begun(tmp_path: Path) -> None:
    make_repository(tmp_path)
    assert (
        gt("doctor", at=tmp_path).seen
        == """\
warning  this repository has no tasks yet
         `gt init` begins them
--- 0
"""
    )


def test_outside_of_a_repository(tmp_path: Path) -> None:
    assert (
        gt("doctor", at=tmp_path).seen
        == f"""\
error    `{tmp_path}` is not in a git repository
         `git init` makes one here
--- 1
"""
    )


def test_a_bare_repository_is_only_noted(tmp_path: Path) -> None:
    store = make_queue(tmp_path / "full")
    bare = make_repository(tmp_path / "bare", bare=True, commits=0)
    git("push", "--quiet", str(bare), "gitticks/state:gitticks/state", at=store.repository.common_dir)
    ran = gt("doctor", "--json", at=bare)
    assert findings(ran) == {
        "the repository is bare: tasks can be read and changed, but there is no board": "note"
    }
    assert ran.code == 0


def test_hooks_that_are_missing_or_broken_are_installed(tmp_path: Path) -> None:
    repository = make_queue(tmp_path).repository
    create_board(repository)
    lack = "the board has no hooks, so a commit there is not checked and a verdict in it does nothing"
    assert findings(gt("doctor", "--json", at=tmp_path)) == {lack: "error"}
    fixed = "mended: install the board's hooks\nall is well\n--- 0\n"
    assert gt("doctor", "--fix", at=tmp_path).seen == fixed
    (repository.own_dir / "hooks" / "pre-commit").unlink()
    damage = "the board's hooks are incomplete, of another version, or their Python is gone"
    assert findings(gt("doctor", "--json", at=tmp_path)) == {damage: "error"}
    assert gt("doctor", "--fix", at=tmp_path).seen == fixed
