"""A person who edits on the board and commits with plain git."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.projects import Project, make_project
from tests.support.repositories import git, run_git_command


@dataclass(frozen=True, slots=True)
class Hand:
    """A person who edits on the board and commits with plain git."""

    project: Project

    def edit(self, old: str, new: str, task_id: str = "k7f2") -> None:
        """Replaces a text in a task's file on the board."""
        file = self.project.board_file(task_id)
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new, 1))

    def commit(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Commits everything that was edited."""
        return run_git_command("commit", "-qam", "by hand", *options, at=self.project.board)

    def refused(self, *options: str) -> str:
        """Commits, which must fail and move nothing; returns what was said."""
        tip = self.project.tip()
        done = self.commit(*options)
        assert done.returncode != 0
        assert self.project.tip() == tip
        return done.stderr


@pytest.fixture
def hand(tmp_path: Path) -> Hand:
    project = make_project(tmp_path)
    project.make("k7f2", body="Text.\n\n## Context\n\nold\n\n## Notes\n")
    return Hand(project)


def commits_of(hand: Hand, count: int) -> list[str]:
    return git("log", f"-{count}", "--format=%an: %s", "gitticks/state", at=hand.project.path).splitlines()
