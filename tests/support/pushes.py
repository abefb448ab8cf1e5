"""A checkout that pushes to a server of its own, with hooks of the person's."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gitticks.git.repository import Repository, discover
from tests.support.hooks import write_hook
from tests.support.projects import Project, make_project
from tests.support.repositories import git, make_repository, run_git_command

PUSHED = "own pre-push origin"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path / "project")
    bare = make_repository(tmp_path / "server.git", bare=True, commits=0)
    git("remote", "add", "origin", str(bare), at=project.path)
    return project


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def repository(project: Project) -> Repository:
    return discover(project.path)


def hooks_of(project: Project) -> Path:
    return project.path / ".git/hooks"


def push(project: Project, *words: str, at: Path | None = None) -> subprocess.CompletedProcess[str]:
    return run_git_command("push", "-q", "origin", *words, at=at or project.path)


def make_illegal(project: Project) -> str:
    """Commits a step that nobody may take, past every hook, and returns what is said of it."""
    task_id = project.create()
    file = project.board_file(task_id)
    file.write_text(file.read_text().replace("status: pending", "status: done"))
    git("-c", "core.hooksPath=/dev/null", "commit", "-qam", "trust me", at=project.board)
    return f"`{task_id}` went from pending to done, and no event says so"


def husky(project: Project, log: Path, *names: str) -> None:
    """Sets up what husky's own set-up does: a hooks path whose scripts call those beside it."""
    top = project.path / ".husky"
    for name in names:
        write_hook(top / "_", name, '. "$(dirname "$0")/h"', shebang="#!/usr/bin/env sh\n")
        (top / name).write_text(f'echo husky {name} >> "{log}"\n')
    (top / "_/h").write_text(
        'n=$(basename "$0")\ns=$(dirname "$(dirname "$0")")/$n\n[ ! -f "$s" ] || sh -e "$s" "$@"\n'
    )
    (top / "_/.gitignore").write_text("*\n")
    git("config", "core.hooksPath", ".husky/_", at=project.path)
