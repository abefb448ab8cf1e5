"""What the doctor finds in tasks, their files and the settings, each with a fix that takes it away."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Status
from gitticks.model.task import Approval
from gitticks.runner.records import Sessions
from tests.support.doctor import (
    COMMAND,
    findings,
    fixes,
    found_in,
    our_gt_on_path,
    project,
    type_fixes,
)
from tests.support.projects import Project
from tests.support.records import make_session
from tests.support.repositories import (
    commit_file,
    git,
)
from tests.support.stores import ADA, CREATED, write_task_file

__all__ = ["our_gt_on_path", "project"]


def test_tasks_that_cannot_go_on(project: Project) -> None:
    project.make("aaaa", blocked_by=(TaskId("bbbb"), TaskId("zzzz")))
    project.make("bbbb", blocked_by=(TaskId("aaaa"), TaskId("cccc")), parent=TaskId("yyyy"))
    project.make("cccc", status=Status.CANCELLED)
    project.make("dddd", status=Status.STUCK)
    assert found_in(project.path) == {
        "tasks wait for one another in a cycle: aaaa → bbbb → aaaa": "error",
        "`dddd` is in stuck but is not waiting for anyone": "error",
        "`aaaa` is blocked by `zzzz`, which does not exist": "warning",
        "`bbbb` is blocked by `cccc`, which was cancelled": "warning",
        "the parent of `bbbb`, `yyyy`, does not exist": "warning",
    }
    type_fixes(project.path)
    assert found_in(project.path) == {}


def test_parents_in_a_cycle(project: Project) -> None:
    project.make("aaaa", parent=TaskId("bbbb"))
    project.make("bbbb", parent=TaskId("aaaa"))
    assert found_in(project.path) == {"tasks wait for one another in a cycle: aaaa → bbbb → aaaa": "error"}
    type_fixes(project.path)
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
    assert fixes(project.path) == ["gt edit m3xq"]


def test_a_task_in_a_folder_of_another_name_belongs_where_its_id_says(project: Project) -> None:
    home = project.board_file(project.make("k7f2")).parent
    (project.board / "tasks" / "zz").mkdir()
    home.rename(project.board / "tasks" / "zz" / "login")
    git("add", ".", at=project.board)
    git("commit", "--quiet", "--no-verify", "-m", "renamed", at=project.board)
    assert found_in(project.path) == {
        ".gitticks/tasks/zz/login/TASK.md: the task belongs in `tasks/f2/k7f2`": "error"
    }
    (typed,) = COMMAND.findall(json.loads(project.gt("doctor", "--json").out)["findings"][0]["fix"])
    subprocess.run(["sh", "-ec", typed], cwd=project.path, check=True, capture_output=True)
    assert found_in(project.path) == {}


def test_a_task_that_is_there_twice(project: Project) -> None:
    task_id = project.make("k7f2")
    home = project.board_file(task_id).parent
    double = project.board / "tasks" / "z z" / task_id
    shutil.copytree(home, double)
    git("add", ".", at=project.board)
    git("commit", "--quiet", "--no-verify", "-m", "copied", at=project.board)
    what = (
        f".gitticks/tasks/z z/{task_id}/TASK.md: the task belongs in `tasks/{home.parent.name}/{task_id}`, "
        "where another one has that id"
    )
    assert found_in(project.path) == {what: "error"}
    told = json.loads(project.gt("doctor", "--json").out)["findings"][0]["fix"]
    look, drop = COMMAND.findall(told)
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
    ((what, severity),) = found_in(project.path).items()
    assert severity == "warning"
    assert what.startswith(
        f".gitticks/{history_path(task_id)}: `type` is unknown: 'from.tomorrow' (line 2), "
    )
    assert what.endswith("and 1 more")


def test_foreign_files_are_no_problem(project: Project) -> None:
    task_id = project.create()
    commit_file(project.board, "README.md", "hello\n")
    commit_file(project.board, f"tasks/{task_id[-2:]}/{task_id}/sketch.svg", "<svg/>\n")
    commit_file(project.board, "tasks/zz/notes.txt", "x\n")
    assert project.gt("doctor").seen == "no problems found\n--- 0\n"


def test_dead_sessions(project: Project) -> None:
    task_id = project.create()
    held = Sessions(project.store.repository.own_dir).hold(make_session(task_id))
    with pytest.raises(KeyboardInterrupt), held:
        raise KeyboardInterrupt
    assert found_in(project.path) == {
        f"the session of claude on `{task_id}` is dead and was not processed": "warning"
    }
    type_fixes(project.path)
    assert found_in(project.path) == {}


def test_wrong_settings(project: Project) -> None:
    (project.board / "config.yaml").write_text("version: 1\nparalel: 3\n")
    git("commit", "--quiet", "--no-verify", "-am", "x", at=project.board)
    told = found_in(project.path)
    assert any(what.startswith("config.yaml:2:1: ") for what in told)
    assert set(told.values()) == {"error"}


def test_settings_of_a_newer_format_only_warn(project: Project) -> None:
    (project.board / "config.yaml").write_text("version: 2\nnovelty: 1\n")
    git("commit", "--quiet", "--no-verify", "-am", "x", at=project.board)
    ran = project.gt("doctor", "--json")
    told = findings(ran)
    assert "the tasks are kept in format 2, which is newer than this gitticks: they are read-only" in told
    assert any("`novelty`" in what for what in told)
    assert set(told.values()) == {"warning"}
    assert ran.code == 0


def test_a_broken_template(project: Project) -> None:
    for name in ("prompts/worker.md", "prompts/parts/task.md"):
        file = project.board / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("Do {{ it\n" if name == "prompts/worker.md" else "Do it.\n")
    git("add", ".", at=project.board)
    git("commit", "--quiet", "--no-verify", "-m", "x", at=project.board)
    found = found_in(project.path)
    (broken,) = (what for what, severity in found.items() if severity == "error")
    assert broken.startswith("the prompt template `worker.md:1` is broken")
    assert set(found) == {broken}


def test_a_template_that_nobody_trusts_is_read_and_not_filled(project: Project) -> None:
    file = project.board / "prompts/worker.md"
    file.parent.mkdir()
    file.write_text("Do {{ it }}.\n")
    git("add", ".", at=project.board)
    git("commit", "--quiet", "-m", "x", at=project.board)
    assert found_in(project.path) == {
        "the prompt template `worker.md:1` is broken: 'it' is undefined": "error",
    }
    (project.path / ".git/gitticks/trust").unlink()
    assert found_in(project.path) == {}
