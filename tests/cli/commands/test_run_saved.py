"""A run that goes on takes up what people save on the board meanwhile, acts on it, and says what it cannot take."""

from __future__ import annotations

from pathlib import Path

from gitticks.model.status import Status
from tests.support.repositories import git
from tests.support.runs import NO_REVIEW, RunProject, project
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]


def save(file: Path, old: str, new: str) -> None:
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def test_what_is_saved_while_a_run_goes_on_is_taken_up_and_acted_on(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    with project.running("--auto", "--all") as process:
        task = project.create()
        file = project.board_file(task)
        until(lambda: file.exists() and "status: reviewing" in file.read_text(), "the hand-off")
        save(file, "status: reviewing", "status: cancelled")
        asked = ["log", "--format=%an", "-1", "--grep", "reviewing → cancelled", "gitticks/state"]
        until(lambda: git(*asked, at=project.path) == "Ada Lovelace", "what the saved status asks for")
        assert project.task(task).status is Status.CANCELLED
        assert project.task(task).closed is not None
        save(file, "status: cancelled", "priority: high\nstatus: cancelled")
        until(file.with_name("TASK.md.refused").exists, "the note beside what is refused")
        assert "priority: high" in file.read_text()
        assert process.poll() is None
        project.interrupt(process)
        out, _ = process.communicate(timeout=LONGEST_SECONDS)
    assert "TASK.md` is edited, refused: " in out
