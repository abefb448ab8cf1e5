"""Many processes that write at the same time: nothing is lost, nothing is there twice."""

from __future__ import annotations

import subprocess
from pathlib import Path

from gitticks.model.status import Awaiting, Status
from tests.cli.support import command, gt_process
from tests.support.projects import Project, make_project
from tests.support.repositories import fsck_problems
from tests.support.waiting import LONGEST_SECONDS

WRITERS = 6


def _start(project: Project, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(*arguments), cwd=project.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_tasks_created_at_once_all_come_to_be(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    started = [_start(project, "create", f"Task {number}") for number in range(WRITERS)]
    done = [process.communicate(timeout=LONGEST_SECONDS) for process in started]
    ids = [out.strip() for out, _ in done]
    assert [process.returncode for process in started] == [0] * WRITERS, done
    assert len(set(ids)) == WRITERS
    assert {project.task(task_id).title for task_id in ids} == {f"Task {number}" for number in range(WRITERS)}
    assert project.board_status() == ""
    assert fsck_problems(project.path) == ""


def test_notes_and_a_verdict_at_once(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.make("k7f2", status=Status.REVIEWING, awaiting=Awaiting.REVIEW)
    started = [_start(project, "note", "k7f2", f"note {number}") for number in range(WRITERS)]
    started += [_start(project, "approve", "k7f2") for _ in range(2)]
    for process in started:
        process.communicate(timeout=LONGEST_SECONDS)
    assert [process.returncode for process in started] == [0] * len(started)
    assert sorted(project.notes("k7f2")) == sorted(f"note {number}" for number in range(WRITERS))
    assert project.task("k7f2").status is Status.DONE
    assert fsck_problems(project.path) == ""


def test_the_real_command_from_board_workspace_and_subdirectory(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for place in (project.board, project.board / "tasks", tmp_path / "deep" / "er"):
        place.mkdir(exist_ok=True)
        ran = gt_process("create", f"From {place.name}", at=place)
        assert (ran.code, ran.err) == (0, "")
        assert project.task(ran.out.strip()).title == f"From {place.name}"
