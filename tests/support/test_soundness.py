"""The check after every test bites where git has something to say, and only there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.projects import make_project
from tests.support.repositories import clone, git, loose_file, make_repository
from tests.support.soundness import unsound_repositories


@pytest.mark.damages
def test_a_lost_object_is_reported_wherever_its_repository_lies(tmp_path: Path) -> None:
    project = make_project(tmp_path / "deep" / "project")
    bare = clone(project.path, tmp_path / "bare.git", "--bare")
    lost = git("rev-parse", "gitticks/state^{tree}", at=project.path)
    assert unsound_repositories(tmp_path) == {}
    loose_file(project.path / ".git", lost).unlink()
    assert unsound_repositories(bare) == {}
    (place, problems), *others = unsound_repositories(tmp_path).items()
    assert (place, others) == (str(project.path / ".git"), [])
    assert lost in problems


def test_others_are_not_asked(tmp_path: Path) -> None:
    path = make_repository(tmp_path / "another")
    loose_file(path / ".git", git("rev-parse", "HEAD", at=path)).unlink()
    os.mkfifo(path / ".git" / "packed-refs")
    assert unsound_repositories(tmp_path) == {}
