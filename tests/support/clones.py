"""Clones of one bare repository whose tasks are shared as with git alone: by pull and push on the board."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from gitticks.store.layout import STATE_BRANCH
from tests.support.projects import Project, make_project
from tests.support.repositories import git, run_git_command


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
