"""Every finding of the doctor in a real repository, and that its mend, where it is a command, takes it away."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Status
from gitticks.model.task import Approval
from gitticks.processes import own_identity
from gitticks.runner.records import Sessions
from gitticks.store.board import create_board
from gitticks.store.branch import Store
from gitticks.store.index import index_path
from tests.cli.commands.test_status import make_session
from tests.cli.support import Ran, command, gt
from tests.support.projects import Project, make_project, make_reviewing, make_working
from tests.support.repositories import (
    add_linked_worktree,
    clone,
    commit_file,
    git,
    make_repository,
)
from tests.support.stores import ADA, CREATED, make_queue, make_store, write_task_file

_COMMAND = re.compile(r"`([^`]+)`")


@pytest.fixture(autouse=True)
def _our_gt_on_path(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts a `gt` of ours first on PATH, so that mends can be typed."""
    folder = tmp_path_factory.mktemp("bin")
    start = " ".join(f"'{word}'" for word in command())
    make_program(folder, f'#!/bin/sh\n# gitticks\nexec {start} "$@"\n')
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def make_program(folder: Path, text: str) -> None:
    (folder / "gt").write_text(text)
    (folder / "gt").chmod(0o755)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Returns a repository as `gt init` leaves it."""
    return make_project(tmp_path / "project")


def findings(ran: Ran) -> dict[str, str]:
    return {found["what"]: found["severity"] for found in json.loads(ran.out)["findings"]}


def found_in(place: Path, *options: str) -> dict[str, str]:
    return findings(gt("doctor", "--json", *options, at=place))


def mends(place: Path) -> list[str]:
    """Returns the first command of each finding's mend."""
    told = [found["mend"] for found in json.loads(gt("doctor", "--json", at=place).out)["findings"]]
    return [match[1] for words in told if words and (match := _COMMAND.search(words))]


def type_mends(place: Path) -> None:
    """Types the first command of each finding's mend, as a person does who pastes it."""
    for typed in mends(place):
        done = subprocess.run(
            ["sh", "-ec", typed], cwd=place, check=False, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, f"{typed}\n{done.stdout}{done.stderr}"


def make_old(file: Path) -> None:
    past = time.time() - 3600
    os.utime(file, (past, past))


def test_all_is_well(project: Project) -> None:
    project.create()
    assert project.gt("doctor").seen == "all is well\n--- 0\n"


def test_what_was_looked_at_is_told(project: Project) -> None:
    out = project.ok("doctor", "-v")
    assert out.startswith("machine     ok  git, the shell's `gt`, ")
    assert [line.split()[:2] for line in out.splitlines()[:11]] == [
        [topic, "ok"]
        for topic in (
            "machine", "repository", "locks", "settings", "board", "index", "files", "tasks", "history",
            "workspaces", "sessions",
        )
    ]  # fmt: skip
    assert out.endswith("\n\nall is well\n")


def test_the_board_is_made_again(project: Project) -> None:
    shutil.rmtree(project.board)
    git("worktree", "prune", at=project.path)
    assert (
        project.gt("doctor").seen
        == """\
board
  error    there is no board at .gitticks/
           `gt doctor --fix`

1 error; `gt doctor --fix` mends 1 of them
--- 1
"""
    )
    assert project.gt("doctor", "--fix").seen == "mended: make or mend the board\nall is well\n--- 0\n"
    assert (project.board / "config.yaml").is_file()


def test_the_board_is_brought_in_step(project: Project) -> None:
    task_id = project.create()
    boardless = Store.open(project.store.repository)
    write_task_file(boardless, task_id, project.file(task_id).data.decode().replace("Login", "Another"))
    assert found_in(project.path) == {"the board is behind the state branch": "warning"}
    type_mends(project.path)
    assert found_in(project.path) == {}
    assert "title: Another" in project.board_file(task_id).read_text()


def test_another_branch_in_the_board(project: Project) -> None:
    git("switch", "--quiet", "--create", "mine", at=project.board)
    ran = project.gt("doctor", "--json")
    assert findings(ran) == {"something else than the state branch is checked out in .gitticks/": "error"}
    assert ran.code == 1
    type_mends(project.path)
    assert found_in(project.path) == {}


def test_a_damaged_index_is_built_again(project: Project) -> None:
    project.ok("list")
    index_path(project.store.repository).write_bytes(b"x" * 5000)
    assert found_in(project.path) == {"the index is damaged: file is not a database": "error"}
    index_path(project.store.repository).write_bytes(b"x" * 5000)
    assert project.gt("doctor", "--fix").seen == "mended: build the index again\nall is well\n--- 0\n"


def test_an_index_with_another_value_is_found_by_reading_all(project: Project) -> None:
    task_id = project.create("A title that nobody gave another bit")
    project.ok("list")
    path = index_path(project.store.repository)
    path.write_bytes(path.read_bytes().replace(b"nobody gave", b"nobody gawe"))
    assert "gawe" in project.ok("list")
    assert found_in(project.path) == {}
    what = f"the index tells of `{task_id}` what the state branch does not say"
    assert found_in(project.path, "--full") == {what: "error"}
    assert (
        project.gt("doctor", "--full", "--fix").seen == "mended: build the index again\nall is well\n--- 0\n"
    )
    assert "gave" in project.ok("list")


def test_an_index_of_another_version_is_only_noted(project: Project) -> None:
    import sqlite3

    project.ok("list")
    with sqlite3.connect(index_path(project.store.repository)) as connection:
        connection.execute("UPDATE state SET made_by = 'an older one'")
    connection.close()
    ran = project.gt("doctor", "--json")
    what = "the index is of another version, or from before this machine was started"
    assert findings(ran) == {what: "note"}
    assert ran.code == 0
    assert found_in(project.path) == {}  # looking at the tasks has built it


def test_an_index_that_cannot_be_written(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.ok("list")
    path = index_path(project.store.repository)
    monkeypatch.setattr(os, "access", lambda file, mode: Path(file) != path or mode != os.W_OK)
    assert found_in(project.path) == {
        f"the index `{path}` cannot be written, so every command is slower": "warning"
    }


def test_tasks_that_cannot_go_on(project: Project) -> None:
    project.make("aaaa", blocked_by=(TaskId("bbbb"), TaskId("zzzz")))
    project.make("bbbb", blocked_by=(TaskId("aaaa"), TaskId("cccc")), parent=TaskId("yyyy"))
    project.make("cccc", status=Status.CANCELLED)
    project.make("dddd", status=Status.STUCK)
    assert found_in(project.path) == {
        "tasks wait for one another in a circle: aaaa → bbbb → aaaa": "error",
        "`dddd` is in stuck but awaits nobody": "error",
        "`aaaa` is blocked by `zzzz`, which does not exist": "warning",
        "`bbbb` is blocked by `cccc`, which was cancelled": "warning",
        "the parent of `bbbb`, `yyyy`, does not exist": "warning",
    }
    type_mends(project.path)
    assert found_in(project.path) == {}


def test_parents_in_a_circle(project: Project) -> None:
    project.make("aaaa", parent=TaskId("bbbb"))
    project.make("bbbb", parent=TaskId("aaaa"))
    assert found_in(project.path) == {"tasks wait for one another in a circle: aaaa → bbbb → aaaa": "error"}
    type_mends(project.path)
    assert found_in(project.path) == {}


def test_states_that_cannot_be(project: Project) -> None:
    approval = Approval(ADA.name, CREATED, None)
    project.make("aaaa", status=Status.DONE, awaiting=Awaiting.REVIEW)
    project.make("bbbb", status=Status.WORKING, awaiting=Awaiting.REVIEW, approval=approval)
    project.ok("config", "review", "none")
    told = found_in(project.path)
    assert (
        told.pop(
            "in "
            + git("log", "-2", "--format=%H", "gitticks/state", at=project.path).split()[1][:10]
            + " `bbbb` has an approval by Ada Lovelace, and no event says so"
        )
        == "error"
    )
    assert told == {
        "`aaaa` is done but awaits review": "error",
        "`bbbb` has an approval, though it is working and awaits review": "error",
    }
    project.ok("reopen", "aaaa")
    project.ok("update", "bbbb", "--awaiting", "approval")
    assert found_in(project.path) == {}


def test_broken_files(project: Project) -> None:
    write_task_file(project.store, "m3xq", "---\nid: m3xq\ntitle: x\nstatus: pending\npriority: high\n---\n")
    project.make("aaaa", blocked_by=(TaskId("m3xq"),), parent=TaskId("m3xq"))
    what = ".gitticks/tasks/xq/m3xq/TASK.md:5:11: `priority` is not a number from 0 to 4: 'high'"
    assert found_in(project.path) == {what: "error"}
    assert mends(project.path) == ["gt edit m3xq"]


def test_a_task_that_is_there_twice(project: Project) -> None:
    task_id = project.create()
    home = project.board_file(task_id).parent
    double = project.board / "tasks" / "zz" / task_id
    shutil.copytree(home, double)
    git("add", ".", at=project.board)
    git("commit", "--quiet", "--no-verify", "-m", "copied", at=project.board)
    what = (
        f".gitticks/tasks/zz/{task_id}/TASK.md: the task belongs in `tasks/{home.parent.name}/{task_id}`, "
        "where another one has that id"
    )
    assert found_in(project.path) == {what: "error"}
    told = json.loads(project.gt("doctor", "--json").out)["findings"][0]["mend"]
    look, drop = _COMMAND.findall(told)
    for typed in (look, drop):
        subprocess.run(["sh", "-ec", typed], cwd=project.path, check=True, capture_output=True)
    assert found_in(project.path) == {}


def test_lines_of_a_history_that_say_nothing(project: Project) -> None:
    from gitticks.store.layout import history_path

    task_id = TaskId(project.create())

    def add(transaction: object) -> None:
        from gitticks.store.transaction import Transaction

        assert isinstance(transaction, Transaction)
        transaction.append(history_path(task_id), b'{"type":"from.tomorrow","actor":{}}\nhalf a li')
        transaction.describe("x", [("Actor", "engine gitticks")])

    project.store.transact(add, author=ADA)
    (what,) = found_in(project.path)
    assert what.startswith(
        f".gitticks/{history_path(task_id)}: `type` is unknown: 'from.tomorrow' (line 2), "
    )
    assert what.endswith("and 1 more")


def test_foreign_files_are_only_noted(project: Project) -> None:
    task_id = project.create()
    commit_file(project.board, "README.md", "hello\n")
    commit_file(project.board, f"tasks/{task_id[-2:]}/{task_id}/sketch.svg", "<svg/>\n")
    commit_file(project.board, "tasks/zz/notes.txt", "x\n")
    ran = project.gt("doctor")
    assert ran.seen == (
        "files\n"
        f"  note     gitticks has no use for `README.md`, `tasks/{task_id[-2:]}/{task_id}/sketch.svg`, "
        "`tasks/zz/notes.txt` on the state branch\n\n"
        "all is well, 1 note\n--- 0\n"
    )


def test_dead_sessions(project: Project) -> None:
    task_id = project.create()
    held = Sessions(project.store.repository.own_dir).hold(make_session(task_id))
    with pytest.raises(KeyboardInterrupt), held:
        raise KeyboardInterrupt
    assert found_in(project.path) == {
        f"the session of claude on `{task_id}` is dead and was not finished": "warning"
    }
    type_mends(project.path)
    assert found_in(project.path) == {}


def test_wrong_settings(project: Project) -> None:
    (project.board / "config.yaml").write_text("version: 1\nparalel: 3\n")
    git("commit", "--quiet", "--no-verify", "-am", "x", at=project.board)
    told = found_in(project.path)
    assert any(what.startswith("config.yaml:2:1: ") for what in told)
    assert set(told.values()) == {"error"}


def test_nobody_to_commit_as(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gitconfig").write_text("")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    assert found_in(project.path) == {"git does not know your name": "error"}


def test_another_gt_on_path(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_program(tmp_path, "#!/bin/sh\nexec graphite\n")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    ran = project.gt("doctor")
    assert ran.out == (
        "machine\n"
        f"  warning  another tool's `gt` comes first on PATH: {tmp_path}/gt\n"
        "           `gitticks` is the same command as `gt`\n\n"
        "1 warning\n"
    )
    assert ran.code == 0


def test_before_anything_was_begun(tmp_path: Path) -> None:
    make_repository(tmp_path)
    assert (
        gt("doctor", at=tmp_path).seen
        == """\
repository
  warning  this repository has no tasks yet
           `gt init` begins them

1 warning
--- 0
"""
    )


def test_outside_of_a_repository(tmp_path: Path) -> None:
    assert (
        gt("doctor", at=tmp_path).seen
        == f"""\
repository
  error    `{tmp_path}` is not in a git repository
           `git init` makes one here

1 error
--- 1
"""
    )


def test_hooks_that_are_missing_or_broken_are_installed(tmp_path: Path) -> None:
    repository = make_store(tmp_path).repository
    create_board(repository)
    lack = "the board has no hooks, so a commit there is not checked and a verdict in it does nothing"
    assert found_in(tmp_path) == {lack: "error"}
    fixed = "mended: install the board's hooks\nall is well\n--- 0\n"
    assert gt("doctor", "--fix", at=tmp_path).seen == fixed
    (repository.own_dir / "hooks" / "pre-commit").unlink()
    damage = "the board's hooks are incomplete, of another version, or their Python is gone"
    assert found_in(tmp_path) == {damage: "error"}
    assert gt("doctor", "--fix", at=tmp_path).seen == fixed


class TestKinds:
    """What is special about a repository is noted, and hinders nothing."""

    def test_bare(self, tmp_path: Path) -> None:
        store = make_queue(tmp_path / "full")
        bare = make_repository(tmp_path / "bare", bare=True, commits=0)
        git("push", "--quiet", str(bare), "gitticks/state:gitticks/state", at=store.repository.common_dir)
        ran = gt("doctor", "--json", at=bare)
        assert findings(ran) == {
            "the repository is bare: tasks can be read and changed, but there is no board": "note"
        }
        assert ran.code == 0

    def test_linked(self, project: Project, tmp_path: Path) -> None:
        linked = add_linked_worktree(project.path, tmp_path / "linked", "side")
        assert found_in(linked) == {f"this is a linked worktree of `{project.path}`": "note"}

    def test_submodule(self, tmp_path: Path) -> None:
        inner, outer = make_repository(tmp_path / "inner"), make_repository(tmp_path / "outer")
        git("submodule", "--quiet", "add", str(inner), "sub", at=outer)
        Project(outer / "sub").ok("init")
        (what,) = found_in(outer / "sub")
        assert what.startswith(f"this is a submodule of `{outer}`: ")

    def test_shallow(self, tmp_path: Path) -> None:
        source = make_repository(tmp_path / "source", commits=3)
        shallow = Project(clone(source, tmp_path / "shallow", "--depth=1"))
        shallow.ok("init")
        (what,) = found_in(shallow.path)
        assert what.startswith("the clone is shallow: ")
        type_mends(shallow.path)
        assert found_in(shallow.path) == {}

    def test_partial(self, tmp_path: Path) -> None:
        source = make_repository(tmp_path / "source")
        git("config", "uploadpack.allowFilter", "true", at=source)
        partial = Project(clone(source, tmp_path / "partial", "--filter=blob:none"))
        partial.ok("init")
        (what,) = found_in(partial.path)
        assert what.startswith("the clone is partial: ")
        assert "`origin`" in what

    def test_borrowed_objects(self, tmp_path: Path) -> None:
        source = make_repository(tmp_path / "source")
        git("clone", "--quiet", "--shared", str(source), str(tmp_path / "shared"), at=tmp_path)
        shared = Project(tmp_path / "shared")
        shared.ok("init")
        objects = source / ".git" / "objects"
        assert found_in(shared.path) == {
            f"objects are borrowed from `{objects}`: they are gone when that is": "note"
        }
        objects.rename(tmp_path / "elsewhere")
        told = found_in(shared.path)
        assert told[f"objects are borrowed from `{objects}`, which is not there"] == "error"


class TestLocks:
    """Locks that keep others waiting are named with their age and taker."""

    @pytest.fixture
    def held_lock(self, project: Project) -> Iterator[Path]:
        """Holds the lock of the state branch, as a writer that hangs."""
        import fcntl

        lock = project.store.repository.own_dir / "lock"
        with lock.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(f"{own_identity().to_json()}\n")
            file.flush()
            make_old(lock)
            yield lock

    def test_ours_that_is_held(self, project: Project, held_lock: Path) -> None:
        assert held_lock.exists()
        assert found_in(project.path) == {
            f"process {os.getpid()} has held the lock of the state branch for 60 min": "warning"
        }
        assert mends(project.path) == [f"ps -fp {os.getpid()}"]

    def test_of_a_ref(self, project: Project) -> None:
        lock = project.path / ".git/refs/heads/gitticks/state.lock"
        lock.touch()
        assert found_in(project.path) == {}  # somebody may be at work
        make_old(lock)
        assert found_in(project.path) == {
            "`refs/heads/gitticks/state` has been locked for 60 min, and git does not say by whom": "warning"
        }
        type_mends(project.path)
        assert found_in(project.path) == {}
        assert not lock.exists()

    def test_of_the_boards_index_by_us(self, project: Project) -> None:
        git_dir = Path(git("rev-parse", "--absolute-git-dir", at=project.board))
        (git_dir / "index.lock").write_text("gitticks 4242\n")
        make_old(git_dir / "index.lock")
        assert found_in(project.path) == {
            "the index of the board has been locked for 60 min by gitticks, process 4242, which was killed": "warning"
        }
        type_mends(project.path)
        assert found_in(project.path) == {}

    def test_of_an_index_by_git(self, project: Project) -> None:
        workspace = make_working(project)
        for place, name in ((project.board, "the board"), (workspace, f"`{workspace}`")):
            lock = Path(git("rev-parse", "--absolute-git-dir", at=place)) / "index.lock"
            lock.touch()
            make_old(lock)
            assert found_in(project.path) == {
                f"the index of {name} has been locked for 60 min, and git does not say by whom": "warning"
            }
            type_mends(project.path)
            assert not lock.exists()
        assert found_in(project.path) == {}


def forget_copies(project: Project, task_id: str) -> None:
    """Takes away what the board and the index could bring a task's file back from."""
    (project.path / ".git/gitticks/index.sqlite3").unlink(missing_ok=True)
    with project.board_file(task_id).open("a", encoding="utf-8") as file:
        file.write("\nAnd more.\n")


class TestDamage:
    """A state branch that is damaged or was moved back is told with the way to bring it back."""

    def test_a_missing_object_comes_back_from_a_clone(self, project: Project, tmp_path: Path) -> None:
        task_id = project.create()
        bare = make_repository(tmp_path / "bare", bare=True, commits=0)
        git("remote", "add", "origin", str(bare), at=project.path)
        git("push", "--quiet", "origin", "gitticks/state", at=project.path)
        blob = git("rev-parse", f"gitticks/state:tasks/{task_id[-2:]}/{task_id}/TASK.md", at=project.path)
        (project.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
        forget_copies(project, task_id)
        (what,) = found_in(project.path)
        assert what.startswith(f".gitticks/tasks/{task_id[-2:]}/{task_id}/TASK.md is damaged")
        assert blob in what
        (typed,) = mends(project.path)
        subprocess.run(
            ["sh", "-ec", typed.replace("<remote>", "origin")],
            cwd=project.path,
            check=True,
            capture_output=True,
        )
        assert found_in(project.path) == {}

    def test_a_damaged_object_is_found_by_reading_it_whole(self, project: Project, tmp_path: Path) -> None:
        task_id = project.create()
        bare = make_repository(tmp_path / "bare", bare=True, commits=0)
        git("push", "--quiet", str(bare), "gitticks/state", at=project.path)
        path = f"tasks/{task_id[-2:]}/{task_id}/TASK.md"
        blob = git("rev-parse", f"gitticks/state:{path}", at=project.path)
        other = git("rev-parse", "gitticks/state:config.yaml", at=project.path)
        file = project.path / ".git/objects" / blob[:2] / blob[2:]
        file.unlink()
        shutil.copy(project.path / ".git/objects" / other[:2] / other[2:], file)
        forget_copies(project, task_id)
        ran = project.gt("doctor", "--full", "--json")
        (finding,) = json.loads(ran.out)["findings"]
        assert finding["what"].startswith(f".gitticks/{path} is damaged on the state branch: ")
        assert ran.code == 1
        for typed in _COMMAND.findall(finding["mend"]):
            shell = typed.replace("<remote>", str(bare))
            subprocess.run(["sh", "-ec", shell], cwd=project.path, check=True, capture_output=True)
        assert found_in(project.path, "--full") == {}

    @pytest.mark.parametrize("from_what", ["board", "index"])
    def test_a_copy_brings_a_damaged_object_back(self, project: Project, from_what: str) -> None:
        task_id = project.create()
        project.ok("list")
        blob = git("rev-parse", f"gitticks/state:tasks/{task_id[-2:]}/{task_id}/TASK.md", at=project.path)
        file = project.path / ".git/objects" / blob[:2] / blob[2:]
        file.chmod(0o644)
        file.write_bytes(file.read_bytes()[:20])
        if from_what == "board":
            (project.path / ".git/gitticks/index.sqlite3").unlink()
        else:
            project.board_file(task_id).write_text("something else\n")
        ran = project.gt("doctor", "--full", "--fix")
        assert "mended: store again what the board or the index still has" in ran.out
        assert git("cat-file", "-t", blob, at=project.path) == "blob"
        assert len([*(project.path / ".git/gitticks/rescue").iterdir()]) == 1

    def test_a_folder_comes_back_from_the_board(self, project: Project) -> None:
        task_id = project.create()
        tree = git("rev-parse", f"gitticks/state:tasks/{task_id[-2:]}", at=project.path)
        (project.path / ".git/objects" / tree[:2] / tree[2:]).unlink()
        assert found_in(project.path) != {}
        type_mends(project.path)
        assert found_in(project.path) == {}
        assert project.task(task_id).id == task_id

    def test_a_branch_at_no_commit_goes_back_to_one_that_is_whole(self, project: Project) -> None:
        project.create()
        before = project.tip()
        project.create("Another")
        tip = project.tip()
        (project.path / ".git/objects" / tip[:2] / tip[2:]).unlink()
        (what,) = found_in(project.path)
        assert what.startswith("`refs/heads/gitticks/state` stands at no commit that can be read")
        type_mends(project.path)
        assert project.tip() == before

    def test_a_branch_that_was_moved_back(self, project: Project) -> None:
        before = project.tip()
        project.create()
        tip = project.tip()
        assert found_in(project.path) == {}
        git("update-ref", "refs/heads/gitticks/state", before, at=project.path)
        project.ok("status")  # forgets what the index and the board knew
        what = f"the state branch was rewound: 1 commit up to {tip[:10]} are not on it"
        assert found_in(project.path) == {what: "warning"}
        assert found_in(project.path) == {what: "warning"}  # until somebody says which is right
        type_mends(project.path)
        assert project.tip() == tip
        project.ok("status")
        assert found_in(project.path) == {}

    def test_a_branch_that_was_moved_back_on_purpose(self, project: Project) -> None:
        before = project.tip()
        project.create()
        project.ok("doctor")
        git("update-ref", "refs/heads/gitticks/state", before, at=project.path)
        project.ok("status")
        (finding,) = json.loads(project.gt("doctor", "--json").out)["findings"]
        forget = _COMMAND.findall(finding["mend"])[-1]
        subprocess.run(["sh", "-ec", forget], cwd=project.path, check=True)
        assert found_in(project.path) == {}

    def test_loose_objects_are_packed(self, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        from gitticks.actions.doctor import repository

        monkeypatch.setattr(repository, "_MANY_LOOSE_OBJECTS", 3)
        (what,) = found_in(project.path)
        assert re.fullmatch(r"\d+ objects lie about singly, \d+ MB: git gets slower by them", what)
        type_mends(project.path)
        assert found_in(project.path) == {}


class TestMachine:
    """What is around the repository."""

    def test_a_full_disk(self, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        from collections import namedtuple

        usage = namedtuple("usage", "total used free")  # noqa: PYI024 - as shutil's own
        for free, severity in ((50, "warning"), (3, "error")):
            monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: usage(1, 1, free * 1024 * 1024))
            what = f"the disk of `{project.path}/.git` is nearly full: {free} MB are left"
            assert found_in(project.path) == {what: severity}

    def test_a_file_system_without_locks(self, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        import errno

        from gitticks import flocks

        def refuse(path: Path) -> bool:
            raise OSError(errno.ENOLCK, "No locks available", str(path))

        monkeypatch.setattr(flocks, "is_lock_held", refuse)
        (what, severity) = next(iter(found_in(project.path).items()))
        assert what == f"the file system of `{project.path}/.git` has no locks: No locks available"
        assert severity == "error"

    def test_a_clock_that_is_ahead(self, project: Project) -> None:
        author = {"GIT_AUTHOR_DATE": "2099-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2099-01-01T00:00:00Z"}
        (project.board / "README.md").write_text("x")
        git("add", ".", at=project.board)
        git("commit", "--quiet", "-m", "from tomorrow", at=project.board, environment=author)
        told = found_in(project.path)
        (what,) = (one for one in told if one.startswith("the newest commit, "))
        assert re.search(r" by Ada Lovelace, is from \d+ hours in the future$", what)
        assert told[what] == "warning"


class TestWorkspaces:
    """What is left of work that nobody does any more."""

    def test_a_folder_that_is_gone(self, project: Project) -> None:
        workspace = make_working(project)
        shutil.rmtree(workspace)
        assert found_in(project.path) == {
            f"the folder of the workspace `k7f2` is gone: `{workspace}`": "warning"
        }
        assert project.gt("doctor", "--fix").code == 0
        assert found_in(project.path) == {}

    def test_a_workspace_and_a_branch_without_a_task(self, project: Project) -> None:
        workspace = project.path / ".gitticks-work" / "zzzz"
        git("worktree", "add", "-q", "-b", "gitticks/work/zzzz", str(workspace), "main", at=project.path)
        assert found_in(project.path) == {
            f"the workspace `zzzz` belongs to no task: `{workspace}`": "warning"
        }
        type_mends(project.path)
        assert found_in(project.path) == {
            "the branch `gitticks/work/zzzz` belongs to no task, and is merged": "warning"
        }
        type_mends(project.path)
        assert found_in(project.path) == {}

    def test_commits_of_a_closed_task(self, project: Project) -> None:
        make_reviewing(project)
        project.ok("cancel", "k7f2")
        assert found_in(project.path) == {
            "the workspace of `k7f2` is left over: the task is cancelled": "note"
        }
        type_mends(project.path)
        assert found_in(project.path) == {
            "`k7f2` is cancelled, but its branch has 1 commit that `main` lacks": "note"
        }
        told = json.loads(project.gt("doctor", "--json").out)["findings"][0]["mend"]
        look, drop = _COMMAND.findall(told)
        for typed in (look, drop):
            subprocess.run(["sh", "-ec", typed], cwd=project.path, check=True, capture_output=True)
        assert found_in(project.path) == {}

    def test_a_merged_branch_that_is_left(self, project: Project) -> None:
        git("branch", "gitticks/work/k7f2", "main", at=project.path)
        project.make("k7f2", status=Status.DONE)
        assert found_in(project.path) == {"the branch of `k7f2` is left over: the task is done": "note"}
        type_mends(project.path)
        assert found_in(project.path) == {}


def test_one_check_that_fails_keeps_no_other_from_being_made(project: Project) -> None:
    (project.board / "config.yaml").write_text("version: 1\nparalel: 3\n")
    git("commit", "--quiet", "--no-verify", "-am", "x", at=project.board)
    project.make("dddd", status=Status.STUCK)
    assert "`dddd` is in stuck but awaits nobody" in found_in(project.path)


def test_json_has_what_a_finding_is_about(project: Project) -> None:
    project.make("dddd", status=Status.STUCK)
    body = json.loads(project.gt("doctor", "--json").out)
    assert body["schema"] == 1
    assert body["findings"] == [
        {
            "severity": "error",
            "what": "`dddd` is in stuck but awaits nobody",
            "mend": "`gt update dddd --awaiting escalation` makes it a person's turn, and clears the rest",
            "repair": None,
            "topic": "tasks",
            "task": "dddd",
            "commit": None,
        }
    ]
    assert body["mended"] == []
    assert body["looked_at"][0] == "machine"


def test_a_range_is_looked_at_alone(project: Project) -> None:
    assert project.gt("doctor", "--range", "gitticks/state", "--fix").code == 2
    assert project.gt("doctor", "--range", "nowhere").code == 1
