"""Clones of one bare repository whose tasks are shared as with git alone: by pull and push on the board."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from gitticks.model.ids import TaskId, task_path
from gitticks.store.layout import STATE_BRANCH
from tests.support import prepared
from tests.support.projects import Project, make_project
from tests.support.repositories import git, run_git_command


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Puts a `gt` on PATH, as an installation does, and returns it; git calls it for our merge driver."""
    program = tmp_path / "bin" / "gt"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gitticks "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return program


@dataclass(frozen=True, slots=True)
class Clone(Project):
    """A clone with a board of its own."""

    def pull(self) -> subprocess.CompletedProcess[str]:
        """Merges what the others pushed into the board, as a person does."""
        return run_git_command("pull", "--no-rebase", "--no-edit", "origin", STATE_BRANCH, at=self.board)

    def push(self) -> subprocess.CompletedProcess[str]:
        """Pushes the state branch, never by force."""
        return run_git_command("push", "--quiet", "origin", STATE_BRANCH, at=self.board)

    @property
    def is_merging(self) -> bool:
        """True while a merge is begun on the board and not concluded."""
        return (self.path / ".git/worktrees/-gitticks/MERGE_HEAD").exists()


def make_clones(folder: Path, first: Project, count: int) -> list[Clone]:
    """Returns `first` and further clones, `count` in all, of a bare repository that is made of it in `folder`."""
    remote = folder / "remote.git"
    git("clone", "--quiet", "--bare", str(first.path), str(remote), at=first.path)
    git("remote", "add", "origin", str(remote), at=first.path)
    git("fetch", "--quiet", "origin", at=first.path)
    clones = [Clone(first.path)]
    for number in range(2, count + 1):
        path = folder / f"clone{number}"
        git("clone", "--quiet", str(remote), str(path), at=folder)
        clones.append(Clone(path))
        clones[-1].ok("init")
    return clones


def make_first_clone(folder: Path) -> Project:
    """Makes the project that the others are cloned from, so that a test can fill it before."""
    return make_project(folder / "clone1")


def make_two_clones(folder: Path) -> list[Clone]:
    """Makes two clones without a task."""
    if prepared.copied(prepared.CLONES, folder):
        return [Clone(folder / "clone1"), Clone(folder / "clone2")]
    return make_clones(folder, make_first_clone(folder), 2)


def make_conflicting_clone(folder: Path) -> Clone:
    """Makes a clone whose next `git pull --rebase` ends in a conflict: both sides changed the title of `k7f2`."""
    if prepared.copied(prepared.CONFLICT, folder):
        return Clone(folder / "clone1")
    task_id = TaskId("k7f2")
    first = make_first_clone(folder)
    first.make(task_id)
    ours, theirs = make_clones(folder, first, 2)
    git("config", "merge.gitticks.driver", "false", at=ours.path)
    for one, title in ((theirs, "Theirs"), (ours, "Ours")):
        file = one.board / task_path(task_id)
        file.write_text(file.read_text().replace("title: ", f"title: {title} "))
        git("commit", "--quiet", "-am", title, at=one.board)
    theirs.push()
    return ours
