"""What a workspace's own configuration does: hooks, the trailer that names the task, and who commits there."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gitticks.git.checkouts import checkout_at
from gitticks.git.identity import agent_identity
from gitticks.git.repository import Repository, discover
from gitticks.runner.workspace_setup import (
    install_hooks,
    name_committer,
    uninstall_hooks,
    workspaces_with_hooks,
)
from tests.support.repositories import (
    add_linked_worktree,
    commit_file,
    git,
    make_repository,
    run_git_command,
)
from tests.support.workspaces import (
    TASK,
    prepared,
    repository,
    top,
)

__all__ = ["repository"]


def hook(folder: Path, name: str, script: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_commits_in_a_workspace_name_their_task(repository: Repository) -> None:
    workspace = prepared(repository)
    commit_file(workspace.path, "a.txt", "a\n", "add a")
    assert git("log", "-1", "--format=%B", at=workspace.path) == "add a\n\nTask: k7f2\n"
    git("commit", "--quiet", "--amend", "--no-edit", at=workspace.path)
    assert git("log", "-1", "--format=%B", at=workspace.path).count("Task:") == 1
    commit_file(top(repository), "b.txt", "b\n", "add b")
    assert git("log", "-1", "--format=%B", at=top(repository)) == "add b\n"


@pytest.mark.parametrize("where", ["default", "absolute", "relative", "global"])
def test_the_persons_hooks_run_in_a_workspace(repository: Repository, tmp_path: Path, where: str) -> None:
    folder = top(repository) / ".git" / "hooks"
    if where != "default":
        folder = tmp_path / "hooks" if where != "relative" else top(repository) / "own-hooks"
        scope = "--global" if where == "global" else "--local"
        git(
            "config",
            scope,
            "core.hooksPath",
            "own-hooks" if where == "relative" else str(folder),
            at=top(repository),
        )
    hook(folder, "pre-commit", "echo ran >> ../ran.log; test ! -e forbidden")
    hook(folder, "prepare-commit-msg", 'echo "ours too" >> "$1"')
    workspace = prepared(repository)
    commit_file(workspace.path, "a.txt", "a\n", "add a")
    assert (workspace.path.parent / "ran.log").read_text() == "ran\n"
    message = git("log", "-1", "--format=%B", at=workspace.path)
    assert "ours too" in message
    assert "Task: k7f2" in message
    (workspace.path / "forbidden").touch()
    with pytest.raises(AssertionError):
        commit_file(workspace.path, "b.txt", "b\n")


@pytest.mark.parametrize("ending", ["", "/", "/."])
def test_the_persons_hooks_run_however_the_git_directory_is_named(
    repository: Repository, ending: str
) -> None:
    hook(top(repository) / ".git" / "hooks", "pre-commit", "exit 1")
    workspace = prepared(repository)
    place = git("rev-parse", "--absolute-git-dir", at=workspace.path).strip()
    commit = ("commit", "-q", "--allow-empty", "-m", "x")
    done = run_git_command(f"--git-dir={place}{ending}", "--work-tree=.", *commit, at=workspace.path)
    assert done.returncode == 1, done.stderr


@pytest.mark.parametrize("named", [".husky/_", "/nowhere/hooks"])
def test_a_hooks_path_that_is_missing_is_said_and_no_obstacle(repository: Repository, named: str) -> None:
    git("config", "core.hooksPath", named, at=top(repository))
    workspace = prepared(repository)
    told = f"none of your own hooks run: `{named}`, which `core.hooksPath` names, is missing"
    assert workspace.warnings == (told,)
    (workspace.path / "a.txt").write_text("a\n")
    git("add", "a.txt", at=workspace.path)
    done = run_git_command("commit", "-qm", "add a", at=workspace.path)
    assert done.returncode == 0
    assert done.stderr.startswith("gitticks: none of your own hooks ran: ")
    assert git("log", "-1", "--format=%B", at=workspace.path) == "add a\n\nTask: k7f2\n"
    own = top(repository) / ".husky/_"
    own.mkdir(parents=True)
    git("config", "core.hooksPath", ".husky/_", at=top(repository))
    assert prepared(repository).warnings == ()
    assert run_git_command("commit", "-q", "--amend", "-m", "x", at=workspace.path).stderr == ""


def test_a_folder_of_hooks_that_nobody_named_may_be_missing(repository: Repository) -> None:
    shutil.rmtree(repository.common_dir / "hooks")
    workspace = prepared(repository)
    assert workspace.warnings == ()
    assert run_git_command("commit", "-q", "--allow-empty", "-m", "x", at=workspace.path).stderr == ""


def test_while_commits_are_made_again_no_message_is_changed(repository: Repository) -> None:
    commit_file(top(repository), "b.txt", "b\n", "add b")
    git("checkout", "-q", "-b", "other", at=top(repository))
    commit_file(top(repository), "c.txt", "c\n", "add c")
    picked = git("rev-parse", "HEAD", at=top(repository))
    git("checkout", "-q", "-", at=top(repository))
    workspace = prepared(repository)
    hook(repository.common_dir / "hooks", "commit-msg", "echo own >> ../ran.log")
    git("cherry-pick", picked, at=workspace.path)
    reword = {"GIT_SEQUENCE_EDITOR": "sed -i s/^pick/reword/", "GIT_EDITOR": "true"}
    git("rebase", "-q", "-i", "HEAD~2", at=workspace.path, environment=reword)
    assert "Task:" not in git("log", "--format=%B", at=workspace.path)
    assert (workspace.path.parent / "ran.log").read_text().startswith("own\n")
    commit_file(workspace.path, "d.txt", "d\n", "add d")
    assert git("log", "-1", "--format=%B", at=workspace.path) == "add d\n\nTask: k7f2\n"


def test_a_merge_in_a_workspace_names_the_task(repository: Repository) -> None:
    workspace = prepared(repository)
    commit_file(workspace.path, "a.txt", "a\n", "add a")
    commit_file(top(repository), "b.txt", "b\n", "add b")
    git("merge", "-q", "--no-edit", "main", at=workspace.path)
    assert git("log", "-1", "--format=%B", at=workspace.path).endswith("\n\nTask: k7f2\n")


def test_sessions_that_start_at_once_bring_old_hooks_up_to_date(repository: Repository) -> None:
    workspace = prepared(repository)
    checkout = checkout_at(repository, workspace.path)
    folder = repository.own_file("workspace-hooks")
    with ThreadPoolExecutor(8) as threads:
        for _ in range(40):
            shutil.rmtree(folder)
            started = [threads.submit(install_hooks, repository, checkout, TASK.id) for _ in range(8)]
            assert [one.result() for one in started] == [()] * 8
    commit_file(workspace.path, "a.txt", "a\n", "add a")
    assert git("log", "-1", "--format=%B", at=workspace.path) == "add a\n\nTask: k7f2\n"


def test_hooks_go_and_stay_away(repository: Repository) -> None:
    git("config", "extensions.worktreeConfig", "true", at=top(repository))
    workspace = prepared(repository)
    assert [one.path for one in workspaces_with_hooks(repository)] == [workspace.path]
    assert uninstall_hooks(repository) == 1
    assert not (repository.common_dir / "worktrees/k7f2/config.worktree").exists()
    assert not (repository.own_dir / "workspace-hooks").exists()
    (repository.own_dir / "hooks-off").touch()
    prepared(repository)
    assert workspaces_with_hooks(repository) == ()
    commit_file(workspace.path, "a.txt", "a\n", "add a")
    assert git("log", "-1", "--format=%B", at=workspace.path) == "add a\n"


def test_a_hooks_path_that_the_workspace_had_is_followed_and_restored(
    repository: Repository, tmp_path: Path
) -> None:
    workspace = prepared(repository)
    uninstall_hooks(repository)
    hook(tmp_path / "mine", "pre-commit", f"echo mine >> {tmp_path}/ran.log")
    git("config", "--worktree", "core.hooksPath", str(tmp_path / "mine"), at=workspace.path)
    prepared(repository)
    prepared(repository)
    commit_file(workspace.path, "a.txt", "a\n", "add a")
    assert (tmp_path / "ran.log").read_text() == "mine\n"
    uninstall_hooks(repository)
    assert git("config", "--worktree", "core.hooksPath", at=workspace.path).strip() == str(tmp_path / "mine")


def test_a_repository_with_an_odd_path_has_hooks_too(tmp_path: Path) -> None:
    repository = discover(make_repository(tmp_path / "a #1; 'repo' ü"))
    workspace = prepared(repository)
    (workspace.path / "folder").mkdir()
    (workspace.path / "folder" / "a.txt").write_text("a\n")
    git("add", "a.txt", at=workspace.path / "folder")
    git("commit", "--quiet", "-m", "add a", at=workspace.path / "folder")
    assert git("log", "-1", "--format=%B", at=workspace.path) == "add a\n\nTask: k7f2\n"
    assert discover(workspace.path).common_dir == repository.common_dir


@pytest.mark.parametrize(
    ("setting", "option"),
    [
        ("core.editor=true", ()),
        ("commit.verbose=true", ()),
        ("core.commentChar=;", ()),
        ("core.commentChar=~", ()),
        ("commit.template=form.txt", ()),
        ("core.editor=true", ("-t", "form.txt")),
    ],
)
def test_an_editor_closed_without_a_message_still_gives_a_commit_up(
    repository: Repository, setting: str, option: tuple[str, ...]
) -> None:
    workspace = prepared(repository)
    (workspace.path / "form.txt").write_text("Why:\n\nTested: no\n# a comment\n")
    git("add", "form.txt", at=workspace.path)
    commit = ("-c", setting, "commit", *option)
    with pytest.raises(AssertionError, match=r"empty commit message|did not edit the message"):
        git(*commit, at=workspace.path, environment={"GIT_EDITOR": "true"})
    git(*commit, "-q", at=workspace.path, environment={"GIT_EDITOR": "sed -i 1iWell"})
    assert git("log", "-1", "--format=%B", at=workspace.path).rstrip().endswith("\nTask: k7f2")


def test_what_git_takes_for_no_comment_is_said_and_stays_above_the_trailer(repository: Repository) -> None:
    workspace = prepared(repository)
    for said in ("#12 fix", "fix\n\n#12 is closed"):
        git("commit", "-q", "--allow-empty", "-m", said, at=workspace.path)
        assert git("log", "-1", "--format=%B", at=workspace.path) == f"{said}\n\nTask: k7f2\n"
    strips = ("-c", "commit.cleanup=strip", "commit", "--allow-empty", "-m", "#12 fix")
    with pytest.raises(AssertionError, match="empty commit message"):
        git(*strips, at=workspace.path)


def test_an_amended_commit_names_its_task_once_also_where_no_editor_is_wanted(
    repository: Repository,
) -> None:
    workspace = prepared(repository)
    commit_file(workspace.path, "a.txt", "a\n", "add a")
    git("commit", "--quiet", "--amend", at=workspace.path, environment={"GIT_EDITOR": ":"})
    assert git("log", "-1", "--format=%B", at=workspace.path) == "add a\n\nTask: k7f2\n"


def test_the_persons_configuration_is_not_touched(repository: Repository) -> None:
    before = git("config", "--global", "--list", at=top(repository))
    prepared(repository)
    assert git("config", "--global", "--list", at=top(repository)) == before
    assert git("config", "--get", "--default", "none", "core.hooksPath", at=top(repository)) == "none"
    assert git("status", "--porcelain", at=top(repository)) == ""


def test_an_agent_commits_under_a_name_of_its_own(repository: Repository) -> None:
    workspace = prepared(repository)
    (workspace.path / "a.txt").write_text("a\n")
    git("add", "a.txt", at=workspace.path)
    git("commit", "--quiet", "-m", "a", at=workspace.path, environment=agent_identity("claude").variables())
    assert (
        git("log", "-1", "--format=%an|%cn", at=workspace.path)
        == "claude (gitticks agent)|claude (gitticks agent)"
    )


# --- an epic's workspace ---------------------------------------------------------------------------------------------


def test_commits_in_a_workspace_are_by_whom_it_was_given_to(tmp_path: Path) -> None:
    main = make_repository(tmp_path / "main")
    workspace = add_linked_worktree(main, tmp_path / "work", "gitticks/work/k7f2")
    git("config", "extensions.worktreeConfig", "true", at=main)
    authors = []
    for committer in (agent_identity("gemini"), None):
        name_committer(discover(main), workspace, committer)
        commit_file(workspace, "a.txt", f"{committer}\n")
        authors.append(git("log", "-1", "--format=%an, %cn", at=workspace))
    assert authors == ["gemini (gitticks agent), gemini (gitticks agent)", "Ada Lovelace, Ada Lovelace"]
    commit_file(main, "b.txt", "mine\n")
    assert git("log", "-1", "--format=%an", at=main) == "Ada Lovelace"
