"""Hooks in the user's main checkout beside husky, pre-commit and hooks paths of the user's own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gitticks.board.hooks import (
    checkout_hooks_state,
    install_checkout_hooks,
    uninstall_checkout_hooks,
)
from gitticks.store.hook_files import HooksState
from tests.support.hooks import logging_hook, traces
from tests.support.projects import Project, make_project
from tests.support.pushes import PUSHED, hooks_of, husky, log, make_illegal, project, push, repository
from tests.support.repositories import commit_file, git, run_git_command

__all__ = ["log", "project"]


@pytest.mark.parametrize("answer", [0, 1])
def test_a_hook_of_husky_runs_as_before(project: Project, log: Path, answer: int) -> None:
    husky(project, log, "pre-push", "pre-commit")
    with (project.path / ".husky/pre-push").open("a") as file:
        file.write(f"exit {answer}\n")
    git("add", ".", at=project.path)
    before = traces(project.path / ".git")
    install_checkout_hooks(repository(project))
    assert checkout_hooks_state(repository(project)) is HooksState.INSTALLED
    git("commit", "-qm", "husky", at=project.path)
    assert push(project, "gitticks/state").returncode == answer
    assert log.read_text().split("\n")[:2] == ["husky pre-commit", "husky pre-push"]
    assert git("status", "--porcelain", at=project.path) == ""
    uninstall_checkout_hooks(repository(project))
    assert traces(project.path / ".git") == before


def test_worktrees_that_come_later_run_the_persons_hooks_too(
    project: Project, log: Path, tmp_path: Path
) -> None:
    """Git copies what the main worktree has for itself alone into each worktree that it adds."""
    husky(project, log, "pre-commit", "pre-push")
    git("add", ".", at=project.path)
    git("commit", "-qm", "husky", at=project.path)
    log.unlink()
    git("config", "core.hooksPath", str(project.path / ".husky/_"), at=project.path)
    install_checkout_hooks(repository(project))
    linked = tmp_path / "linked"
    git("worktree", "add", "-q", "-b", "topic", str(linked), at=project.path)
    task_id = project.create()
    project.ok("start", task_id)
    workspace = project.path / ".gitticks-work" / task_id

    def commit_everywhere() -> str:
        for place in (project.path, linked, workspace, project.board):
            git("commit", "-q", "--allow-empty", "-m", "x", at=place)
        ran = log.read_text()
        log.unlink()
        return ran

    assert commit_everywhere() == "husky pre-commit\n" * 4
    assert git("log", "-1", "--format=%B", at=workspace) == f"x\n\nTask: {task_id}\n"
    uninstall_checkout_hooks(repository(project))
    assert commit_everywhere() == "husky pre-commit\n" * 4
    for place in (project.path, linked):
        assert run_git_command("config", "--worktree", "core.hooksPath", at=place).returncode == 1
    project.ok("hooks", "uninstall")
    assert commit_everywhere() == "husky pre-commit\n" * 4


def test_a_moved_repository_is_reported_and_fixed(project: Project, log: Path, tmp_path: Path) -> None:
    husky(project, log, "pre-push")
    before = traces(project.path / ".git")
    install_checkout_hooks(repository(project))
    moved = Project(project.path.rename(tmp_path / "moved"))
    assert checkout_hooks_state(repository(moved)) is HooksState.BROKEN
    install_checkout_hooks(repository(moved))
    assert push(moved, "gitticks/state").returncode == 0
    assert log.read_text() == "husky pre-push\n"
    project = Project(moved.path.rename(project.path))
    uninstall_checkout_hooks(repository(project))
    assert traces(project.path / ".git") == before


def test_husky_set_up_again_is_followed(project: Project, log: Path) -> None:
    husky(project, log, "pre-push")
    install_checkout_hooks(repository(project))
    git("config", "core.hooksPath", "other", at=project.path)
    logging_hook(project.path / "other", "pre-push", log)
    assert push(project, "gitticks/state").returncode == 0
    assert log.read_text().startswith(PUSHED)


def test_a_hooks_path_that_comes_later_hides_ours_and_is_reported(project: Project, log: Path) -> None:
    install_checkout_hooks(repository(project))
    husky(project, log, "pre-push")
    assert checkout_hooks_state(repository(project)) is HooksState.HIDDEN
    install_checkout_hooks(repository(project))
    assert checkout_hooks_state(repository(project)) is HooksState.INSTALLED
    assert not (hooks_of(project) / "pre-push").exists()
    make_illegal(project)
    assert push(project, "gitticks/state").returncode != 0
    git("config", "--unset", "core.hooksPath", at=project.path)
    assert push(project, "gitticks/state").returncode != 0
    install_checkout_hooks(repository(project))
    assert (hooks_of(project) / "pre-push").exists()
    assert push(project, "gitticks/state").returncode != 0


@pytest.mark.debian("pre-commit", program="pre-commit")
def test_pre_commit_comes_and_goes_as_before(project: Project, log: Path, tmp_path: Path) -> None:
    check = f"- id: note\n  name: note\n  language: system\n  always_run: true\n  entry: sh -c 'echo ran >> {log}'\n"
    lines = "".join(f"    {line}\n" for line in f"{check}  stages: [push]".splitlines())
    (project.path / ".pre-commit-config.yaml").write_text(f"repos:\n- repo: local\n  hooks:\n{lines}")
    commit_file(project.path, "a.txt", "a\n")
    git("add", ".pre-commit-config.yaml", at=project.path)
    install = ["pre-commit", "install", "--hook-type", "pre-push"]
    environment = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "cache")}

    def run(*words: str) -> None:
        subprocess.run(words, cwd=project.path, env=environment, check=True, capture_output=True)

    run(*install)
    before = traces(project.path / ".git")
    install_checkout_hooks(repository(project))
    assert push(project, "main").returncode == 0
    assert log.read_text() == "ran\n"
    told = make_illegal(project)
    assert told in push(project, "gitticks/state").stderr
    run(*install)
    assert checkout_hooks_state(repository(project)) is HooksState.INSTALLED
    log.unlink()
    assert told in push(project, "gitticks/state").stderr
    assert log.read_text() == "ran\n"
    uninstall_checkout_hooks(repository(project))
    assert traces(project.path / ".git") == before, "installed anew, and ours gone"
    install_checkout_hooks(repository(project))
    run(*install)
    run("pre-commit", "uninstall", "--hook-type", "pre-push")
    assert told in push(project, "gitticks/state").stderr
    uninstall_checkout_hooks(repository(project))
    assert traces(project.path / ".git") == before


def test_two_clones_share_a_folder_of_hooks(project: Project, log: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    logging_hook(shared, "pre-push", log)
    git("config", "--global", "core.hooksPath", str(shared), at=project.path)
    other = make_project(tmp_path / "other")
    git("remote", "add", "origin", str(tmp_path / "server.git"), at=other.path)
    files = sorted(shared.iterdir())
    for one in (project, other):
        install_checkout_hooks(repository(one))
    assert sorted(shared.iterdir()) == files
    uninstall_checkout_hooks(repository(other))
    make_illegal(project)
    assert push(project, "gitticks/state").returncode != 0
    assert push(other, "gitticks/state:other").returncode == 0
    assert log.read_text().count(PUSHED) == 2
