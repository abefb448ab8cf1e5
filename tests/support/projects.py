"""A repository as `gt init` leaves it, with the questions that tests of writing commands ask of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitticks.board.step import WORKTREE_BOARD
from gitticks.document.taskfile import TaskFile
from gitticks.model.event import Event
from gitticks.model.ids import TaskId, task_path
from gitticks.model.notes import Section
from gitticks.model.status import Awaiting, Status
from gitticks.model.task import Task
from gitticks.store.branch import Store
from tests.cli.support import Ran, gt
from tests.support import prepared
from tests.support.repositories import commit_file, git, make_repository
from tests.support.stores import change_task, discover_for_much, make_task

SESSION = {"GITTICKS_AGENT": "1", "GITTICKS_ROLE": "worker"}
"""The environment of an agent's session that has no mailbox."""


@dataclass(frozen=True, slots=True)
class Project:
    """A checkout with a state branch and a board."""

    path: Path

    @property
    def store(self) -> Store:
        """Returns a store that follows the board."""
        return Store(discover_for_much(self.path), WORKTREE_BOARD)

    def gt(self, *arguments: str, **more: Any) -> Ran:
        """Runs a command at the top of the checkout."""
        return gt(*arguments, **{"at": self.path, **more})

    def ok(self, *arguments: str, **more: Any) -> str:
        """Runs a command that must succeed, and returns what it printed."""
        ran = self.gt(*arguments, **more)
        assert ran.code == 0, ran.seen
        return ran.out

    def create(self, title: str = "Login loses the return URL", *options: str, **more: Any) -> str:
        """Creates a task by command and returns its id."""
        return self.ok("create", title, *options, **more).strip()

    def make(self, task_id: str = "k7f2", **fields: Any) -> str:
        """Makes a task by the store's own door and returns its id."""
        make_task(self.store, id=task_id, **fields)
        return task_id

    def change(self, task_id: str, **fields: Any) -> None:
        """Sets fields of a task, whatever they are."""
        change_task(self.store, task_id, **fields)

    def task(self, task_id: str) -> Task:
        """Returns a task as the branch has it."""
        return self.file(task_id).task

    def file(self, task_id: str) -> TaskFile:
        """Returns a task's file as the branch has it."""
        return self.store.task_file(TaskId(task_id))

    def board_file(self, task_id: str) -> Path:
        """Returns where a task's file lies on the board."""
        return self.board / task_path(TaskId(task_id))

    def save(self, task_id: str, old: str, new: str) -> None:
        """Writes the task's file on the board with another text in the first place of `old`, as an editor does."""
        file = self.board_file(task_id)
        file.write_text(file.read_text().replace(old, new, 1))

    @property
    def board(self) -> Path:
        """Returns the board's folder."""
        return self.path / ".gitticks"

    def events(self, task_id: str) -> tuple[Event, ...]:
        """Returns a task's history."""
        return self.store.history(TaskId(task_id))

    def notes(self, task_id: str) -> list[str]:
        """Returns the texts of a task's notes."""
        return [entry.text for entry in self.file(task_id).entries(Section.NOTES)]

    def subject(self) -> str:
        """Returns the subject of the newest commit on the state branch."""
        return git("log", "-1", "--format=%s", "gitticks/state", at=self.path)

    def tip(self) -> str:
        """Returns the newest commit of the state branch."""
        return self.store.tip()

    def board_status(self) -> str:
        """Returns what git says of the board: empty where nothing is edited."""
        return git("status", "--porcelain", at=self.board)


def make_project(path: Path) -> Project:
    """Makes a repository with one commit and begins tasks in it."""
    project = Project(path)
    if not prepared.copied(prepared.PROJECT, path):
        make_repository(path)
        project.ok("init")
    return project


def make_working(project: Project, task_id: str = "k7f2", **fields: Any) -> Path:
    """Makes a task in work, with a workspace that holds one commit more than the base; returns the workspace."""
    workspace, begun = _begin_work(project, task_id)
    project.make(task_id, **{"status": Status.WORKING, **begun, **fields})
    return workspace


def make_reviewing(project: Project, task_id: str = "k7f2", **fields: Any) -> Path:
    """Makes a task whose work awaits a person's review; returns its workspace."""
    workspace, begun = _begin_work(project, task_id)
    head = git("rev-parse", "HEAD", at=workspace)
    usual = {"status": Status.REVIEWING, "awaiting": Awaiting.REVIEW, "end_sha": head, "review_round": 1}
    project.make(task_id, **{**begun, **usual, **fields})
    return workspace


def _begin_work(project: Project, task_id: str) -> tuple[Path, dict[str, Any]]:
    """Makes a workspace with one commit, and returns it with what a task says of it."""
    start = git("rev-parse", "main", at=project.path)
    branch = f"gitticks/work/{task_id}"
    workspace = project.path / ".gitticks-work" / task_id
    git("worktree", "add", "--quiet", "-b", branch, str(workspace), "main", at=project.path)
    commit_file(workspace, "login.txt", f"{task_id}\n", "fix the login")
    return workspace, {"base": "main", "branch": branch, "start_sha": start}
