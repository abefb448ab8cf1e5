"""Commits past every hook, and asks the doctor what it thinks of the history."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gitticks.model.ids import TaskId, task_folder
from tests.support.projects import Project, make_project
from tests.support.repositories import git

UNHOOKED = ("-c", "core.hooksPath=/dev/null")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")


def problems(project: Project, words: str | None = None) -> list[str]:
    """Returns the history's findings, without the commits that they begin with."""
    options = [] if words is None else ["--range", words]
    found = json.loads(project.gt("doctor", "--json", *options).out)["findings"]
    return [re.sub(r"^in [0-9a-f]{10} ", "", one["what"]) for one in found if one["topic"] == "history"]


def fix_of(project: Project) -> str:
    found = json.loads(project.gt("doctor", "--json").out)["findings"]
    told: str = next(one["fix"] for one in found if one["topic"] == "history")
    return told


def commit_by_hand(project: Project, task_id: str, old: str, new: str, *, name: str = "TASK.md") -> str:
    """Commits an edit past every hook, as a tool does that knows none, and returns the commit."""
    file = project.board / task_folder(TaskId(task_id)) / name
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    git(*UNHOOKED, "commit", "--quiet", "-am", f"{task_id} by hand", at=project.board)
    project.ok("status")
    return git("rev-parse", "HEAD", at=project.board)
