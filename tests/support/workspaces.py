"""Workspaces of a small repository, as the runner makes them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from gitticks.git.repository import Repository, discover
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.settings import SandboxPreset, SandboxSettings, Settings
from gitticks.model.status import Isolation, TaskType
from gitticks.model.task import Task
from gitticks.runner import workspace_removal, workspaces
from gitticks.runner.workspaces import Workspace
from tests.support.repositories import git, make_repository

TASK = Task(TaskId("k7f2"), "Keep the return URL")
EPIC = Task(TaskId("epic"), "Login", type=TaskType.EPIC)
FIRST = Task(TaskId("aaaa"), "First", parent=EPIC.id, isolation=Isolation.EPIC)
SECOND = Task(TaskId("bbbb"), "Second", parent=EPIC.id, isolation=Isolation.EPIC)
HERE = replace(TASK, isolation=Isolation.NONE)
SETTINGS = Settings()._replace(sandbox=SandboxSettings(preset=SandboxPreset.NONE))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Makes a repository with one commit."""
    return discover(make_repository(tmp_path / "repo"))


def top(repository: Repository) -> Path:
    assert repository.main_worktree is not None
    return repository.main_worktree


def prepared(repository: Repository, task: Task = TASK, settings: Settings = SETTINGS) -> Workspace:
    graph = TaskGraph.of([EPIC, FIRST, SECOND, task])
    plan = workspaces.plan(task, graph, settings, repository)
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    return workspaces.prepare(repository, plan, settings, environment)


def remove(repository: Repository, *, force: bool = False) -> str | None:
    """Removes the only workspace."""
    (listed,) = workspace_removal.list_workspaces(repository, SETTINGS)
    return workspace_removal.remove(repository, listed, SETTINGS, force=force)


def status(workspace: Workspace) -> str:
    return git("status", "--porcelain", at=workspace.path)
