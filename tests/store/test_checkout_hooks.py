"""Hooks in the user's main checkout, on request: theirs run as before, and nothing of ours is left behind."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gitticks.errors import GitticksError
from gitticks.git.repository import Repository, discover
from gitticks.store.checkout_hooks import (
    CHECKOUT_HOOKS,
    checkout_hooks_state,
    install_checkout_hooks,
    uninstall_checkout_hooks,
)
from gitticks.store.hook_files import HooksState
from tests.support.hooks import logging_hook, traces, write_hook
from tests.support.projects import Project, make_project
from tests.support.repositories import commit_file, git, make_repository, run_git_command

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


def test_a_push_of_the_state_branch_is_checked_and_no_other(project: Project) -> None:
    install_checkout_hooks(repository(project))
    assert checkout_hooks_state(repository(project)) is HooksState.INSTALLED
    assert push(project, "gitticks/state", "main").returncode == 0
    told = make_illegal(project)
    refused = push(project, "gitticks/state")
    assert refused.returncode != 0
    assert told in refused.stderr
    commit_file(project.path, "code.txt", "x\n")
    done = push(project, "main")
    assert (done.returncode, done.stderr) == (0, "")
    assert push(project, "gitticks/state", "--no-verify").returncode == 0


def test_a_push_from_the_board_is_checked_as_well(project: Project) -> None:
    make_illegal(project)
    assert push(project, "gitticks/state:other", at=project.board).returncode == 0
    install_checkout_hooks(repository(project))
    assert push(project, "gitticks/state", at=project.board).returncode != 0
    uninstall_checkout_hooks(repository(project))
    assert push(project, "gitticks/state", at=project.board).returncode == 0


def test_the_branch_is_not_removed_nor_pushed_over(project: Project) -> None:
    project.create()
    install_checkout_hooks(repository(project))
    assert push(project, "gitticks/state").returncode == 0
    assert "the state branch would be removed" in push(project, ":gitticks/state").stderr
    git("branch", "older", "gitticks/state^", at=project.path)
    assert "leaves 1 commit behind" in push(project, "-f", "older:gitticks/state").stderr


def test_what_only_the_server_has_is_not_pushed_over(project: Project, tmp_path: Path) -> None:
    assert push(project, "gitticks/state", "main").returncode == 0
    git("clone", "-q", str(tmp_path / "server.git"), str(tmp_path / "other"), at=tmp_path)
    other = Project(tmp_path / "other")
    other.ok("init")
    other.create()
    assert push(other, "gitticks/state").returncode == 0
    project.create()
    install_checkout_hooks(repository(project))
    assert "has commits that are not here" in push(project, "-f", "gitticks/state").stderr


def test_a_merge_in_the_checkout_runs_both(project: Project, log: Path) -> None:
    logging_hook(hooks_of(project), "post-merge", log)
    install_checkout_hooks(repository(project))
    record_ours(project, log)
    git("branch", "topic", at=project.path)
    commit_file(project.path, "a.txt", "a\n")
    git("checkout", "-q", "topic", at=project.path)
    git("merge", "-q", "main", at=project.path)
    assert log.read_text().splitlines() == ["own post-merge 0", "ours post-merge 0"]


def record_ours(project: Project, log: Path) -> None:
    """Puts a program that only writes down its call in the place of the Python that the hooks start."""
    program = write_hook(log.parent, "python", f'shift 4\necho ours "$@" >> "{log}"')
    (project.path / ".git/gitticks/checkout-hooks/interpreter").write_text(f"{program}\n")


def test_other_worktrees_keep_to_their_own(project: Project, log: Path, tmp_path: Path) -> None:
    logging_hook(hooks_of(project), "post-merge", log)
    install_checkout_hooks(repository(project))
    record_ours(project, log)
    git("worktree", "add", "-q", "-b", "topic", str(tmp_path / "linked"), at=project.path)
    commit_file(project.path, "a.txt", "a\n")
    git("merge", "-q", "main", at=tmp_path / "linked")
    assert log.read_text().splitlines() == ["own post-merge 0"]


@pytest.mark.parametrize("answer", [0, 1])
def test_the_persons_hook_decides_first(project: Project, log: Path, answer: int) -> None:
    logging_hook(hooks_of(project), "pre-push", log, answer=answer)
    install_checkout_hooks(repository(project))
    assert push(project, "gitticks/state").returncode == answer
    assert log.read_text().startswith(PUSHED)


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


def test_a_moved_repository_is_told_and_mended(project: Project, log: Path, tmp_path: Path) -> None:
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


def test_husky_set_up_anew_is_followed(project: Project, log: Path) -> None:
    husky(project, log, "pre-push")
    install_checkout_hooks(repository(project))
    git("config", "core.hooksPath", "other", at=project.path)
    logging_hook(project.path / "other", "pre-push", log)
    assert push(project, "gitticks/state").returncode == 0
    assert log.read_text().startswith(PUSHED)


def test_a_hooks_path_that_comes_later_hides_ours_and_is_told(project: Project, log: Path) -> None:
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
    run("pre-commit", "uninstall", "--hook-type", "pre-push")
    assert told in push(project, "gitticks/state").stderr
    uninstall_checkout_hooks(repository(project))
    assert traces(project.path / ".git") == before


@pytest.mark.parametrize(
    "case",
    ["nothing", "own", "link", "not-executable", "no-folder", "folder-link", "named", "folder-is-file"],
)
def test_nothing_is_left_behind(project: Project, log: Path, tmp_path: Path, case: str) -> None:
    hooks = hooks_of(project)
    match case:
        case "own":
            for name in CHECKOUT_HOOKS:
                logging_hook(hooks, name, log)
        case "link":
            (hooks / "pre-push").symlink_to(logging_hook(tmp_path, "shared.sh", log))
        case "not-executable":
            write_hook(hooks, "pre-push", "exit 1", mode=0o640)
        case "no-folder" | "folder-link" | "folder-is-file":
            hooks.rename(tmp_path / "hooks")
            if case == "folder-link":
                hooks.symlink_to(tmp_path / "hooks")
            elif case == "folder-is-file":
                hooks.write_text("no folder\n")
        case "named":
            (project.path / ".git/config.worktree").write_text("[core]\n[user]\n\tname = Ada")
            git("config", "core.hooksPath", str(tmp_path / "nowhere"), at=project.path)
    before, elsewhere = traces(project.path / ".git"), sorted((tmp_path / "hooks").glob("*"))
    for _ in range(2):
        install_checkout_hooks(repository(project))
    assert checkout_hooks_state(repository(project)) is HooksState.INSTALLED
    assert traces(project.path / ".git") != before
    assert sorted((tmp_path / "hooks").glob("*")) == elsewhere
    assert push(project, "gitticks/state").returncode == 0
    make_illegal(project)
    assert push(project, "gitticks/state").returncode != 0
    assert uninstall_checkout_hooks(repository(project)) == ()
    assert traces(project.path / ".git") == before
    assert checkout_hooks_state(repository(project)) is HooksState.ABSENT
    assert not (project.path / ".git/gitticks/checkout-hooks").exists()


def test_a_hook_that_asks_for_its_name_keeps_it(project: Project, log: Path) -> None:
    write_hook(hooks_of(project), "pre-push", f'echo "$(basename "$0")" >> "{log}"')
    install_checkout_hooks(repository(project))
    assert push(project, "gitticks/state").returncode == 0
    assert log.read_text() == "pre-push\n"


@pytest.mark.parametrize(
    ("script", "code"),
    [("exec <&-\nexit 0", 0), ("cat > /dev/null", 0), ("exit 0\r\n", 1), ("kill -9 $$", 1), ("false", 1)],
)
def test_hooks_that_are_odd_or_fail(project: Project, script: str, code: int) -> None:
    shebang = "#!/bin/sh\r\n" if "\r" in script else "#!/bin/sh\n"
    write_hook(hooks_of(project), "pre-push", script, shebang=shebang)
    install_checkout_hooks(repository(project))
    done = push(project, "gitticks/state")
    assert bool(done.returncode) == bool(code)
    assert "Broken pipe" not in done.stderr


def test_without_its_files_ours_warns_and_lets_pass(project: Project, log: Path) -> None:
    logging_hook(hooks_of(project), "pre-push", log)
    install_checkout_hooks(repository(project))
    (project.path / ".git/gitticks/checkout-hooks").rename(project.path / "away")
    assert checkout_hooks_state(repository(project)) is HooksState.BROKEN
    done = push(project, "main")
    assert done.returncode == 0
    assert "`pre-push` did nothing: its files are gone; `gt hooks install` puts them back" in done.stderr
    assert log.read_text().startswith(PUSHED)
    install_checkout_hooks(repository(project))
    assert checkout_hooks_state(repository(project)) is HooksState.INSTALLED


def test_without_its_python_ours_warns_and_lets_pass(project: Project) -> None:
    install_checkout_hooks(repository(project))
    (project.path / ".git/gitticks/checkout-hooks/interpreter").write_text("/nowhere/python\n")
    make_illegal(project)
    done = push(project, "gitticks/state")
    assert done.returncode == 0
    assert "`pre-push` did nothing: /nowhere/python is gone; `gt hooks install` mends it" in done.stderr


def test_what_came_in_our_place_stays_and_is_told(project: Project, log: Path) -> None:
    logging_hook(hooks_of(project), "pre-push", log)
    install_checkout_hooks(repository(project))
    other = write_hook(hooks_of(project), "pre-push", "true")
    (told,) = uninstall_checkout_hooks(repository(project))
    assert f"`{other}.own` is your `pre-push` of before" in told
    assert other.read_text() == "#!/bin/sh\ntrue\n"


def test_a_file_where_a_hook_would_go_is_not_written_over(project: Project, log: Path) -> None:
    hook = logging_hook(hooks_of(project), "pre-push", log)
    hook.with_name("pre-push.own").write_text("mine\n")
    before = traces(project.path / ".git")
    with pytest.raises(GitticksError, match=r"pre-push\.own` is where your hook"):
        install_checkout_hooks(repository(project))
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


def test_a_bare_repository_has_no_checkout(tmp_path: Path) -> None:
    bare = discover(make_repository(tmp_path / "bare.git", bare=True))
    assert checkout_hooks_state(bare) is HooksState.ABSENT
    assert uninstall_checkout_hooks(bare) == ()
    with pytest.raises(GitticksError, match="bare repository"):
        install_checkout_hooks(bare)
