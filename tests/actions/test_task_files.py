"""A task that is only saved on the board: a change takes it up, and whatever else names it says how."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects import SESSION, Project, make_project

PLAN = "---\nid: {0}\ntitle: Plan {0}\nstatus: pending\n{1}---\nThe text.\n"
NOT_YET = "error: `plan1` is only saved on the board, in `.gitticks/tasks/n1/plan1/TASK.md`\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path)
    project.make("k7f2")
    return project


def _save(project: Project, task_id: str = "plan1", fields: str = "") -> Path:
    file = project.board_file(task_id)
    file.parent.mkdir(parents=True)
    file.write_text(PLAN.format(task_id, fields))
    return file


@pytest.mark.parametrize(
    "command",
    [
        ("note", "plan1", "hello"),
        ("update", "plan1", "-p", "0"),
        ("start", "plan1"),
        ("defer", "plan1", "2099-01-01"),
        ("cancel", "plan1"),
        ("block", "plan1", "k7f2"),
    ],
)
def test_a_command_that_changes_it_takes_it_up_first(project: Project, command: tuple[str, ...]) -> None:
    _save(project)
    project.ok(*command)
    assert project.task("plan1").created_by == "Ada Lovelace"
    assert project.events("plan1")[0].type.value == "task.created"
    assert project.board_status() == ""


def test_others_that_it_names_are_taken_up_with_it(project: Project) -> None:
    _save(project, fields="blocked_by: [other]\n")
    _save(project, "other")
    project.ok("note", "plan1", "hello")
    assert project.task("plan1").blocked_by == ("other",)


@pytest.mark.parametrize(
    "command",
    [
        ("show", "plan1"),
        ("log", "plan1"),
        ("list", "--parent", "plan1"),
        ("next", "plan1"),
        ("create", "More", "--blocked-by", "plan1"),
        ("block", "k7f2", "plan1"),
    ],
)
def test_whatever_else_names_it_says_how_it_is_taken_up(project: Project, command: tuple[str, ...]) -> None:
    _save(project)
    ran = project.gt(*command)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(NOT_YET)
    assert ran.err.endswith("hint: `gt status` commits it, or says why not\n")
    project.ok("status")
    assert project.gt(*command).code == 0


def test_its_path_is_printed(project: Project) -> None:
    file = _save(project)
    assert project.ok("path", "plan1") == f"{file}\n"


def test_one_that_cannot_be_taken_up_is_refused_with_the_reason(project: Project) -> None:
    file = _save(project, fields="priority: high\n")
    before = file.read_text()
    ran = project.gt("note", "plan1", "hello")
    assert ran.code == 1
    assert ran.err.startswith(
        "error: `.gitticks/tasks/n1/plan1/TASK.md` is edited, refused: line 5: "
        "`priority` is not a number from 0 to 4: 'high'\n"
    )
    assert file.read_text() == before
    file.write_text(before.replace("high", "1"))
    project.ok("note", "plan1", "hello")
    assert (project.task("plan1").priority, project.notes("plan1")) == (1, ["hello"])


def test_an_agents_session_takes_up_none(project: Project) -> None:
    _save(project)
    tip = project.tip()
    ran = project.gt("note", "plan1", "hello", environment=SESSION)
    assert (ran.code, project.tip()) == (1, tip)
    assert "is edited, not committed" in ran.err


def test_what_several_begin_with_and_what_lies_wrong_is_not_meant(project: Project) -> None:
    _save(project)
    _save(project, "plan2")
    for name in ("tasks/zz/plan3", "tasks/n4/plan4"):
        (project.board / name).mkdir(parents=True)
    (project.board / "tasks/zz/plan3/TASK.md").write_text(PLAN.format("plan3", ""))
    (project.board / "tasks/n4/plan4/TASK.md").symlink_to("/etc/hostname")
    for named in ("plan", "plan3", "../plan1", "*"):
        assert "there is no task" in project.gt("show", named).err
    assert project.gt("note", "plan4", "x").code == 1
