"""What becomes of the tasks that one commit on the board edits."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

from gitticks.actions import hook_followup
from gitticks.actions.context import Context
from gitticks.errors import MachineError
from tests.support.projects import make_project
from tests.support.repositories import git


def test_where_one_edit_cannot_be_recorded_the_others_of_the_commit_are_followed_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(tmp_path / "project")
    first, second = sorted((project.create("One"), project.create("Two")), key=lambda one: one[-2:])
    file, other = project.board_file(first), project.board_file(second)
    file.write_text(file.read_text() + "\n## Handoff\n\nBy hand.\n")
    other.write_text(other.read_text().replace("status: pending", "status: done"))
    git("-c", "core.hooksPath=/dev/null", "commit", "--quiet", "-am", "both", at=project.board)

    def fail(*_: object) -> NoReturn:
        raise MachineError("no space left")

    monkeypatch.setattr(hook_followup, "record_plain_edit", fail)
    context = Context(directory=project.board)

    assert [one.after.id for one in hook_followup.follow_commit(context)] == [second]
    assert context.warnings == [f"`{first}`: the history does not name who edited it: no space left"]
