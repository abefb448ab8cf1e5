"""Hooks in the user's main checkout, on request: theirs run as before, and nothing of ours is left behind."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from gitticks.board.hooks import (
    CHECKOUT_HOOKS,
    checkout_hooks_state,
    install_checkout_hooks,
    uninstall_checkout_hooks,
)
from gitticks.errors import Exit, GitticksError
from gitticks.git.repository import discover
from gitticks.store.hook_files import HooksState
from tests.support.hooks import logging_hook, traces, write_hook
from tests.support.projects import Project
from tests.support.pushes import PUSHED, hooks_of, log, make_illegal, project, push, repository
from tests.support.repositories import commit_file, git, make_repository

__all__ = ["log", "project"]


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


def test_a_sync_refuses_what_a_push_would(project: Project) -> None:
    told = make_illegal(project)
    install_checkout_hooks(repository(project))
    refused = project.gt("sync")
    assert refused.code == Exit.REFUSED
    assert f"{told}\n\nhint: `git -C .gitticks -c core.hooksPath=/dev/null revert --no-edit " in refused.err
    revert = re.findall(r"`(git [^`]*)`", refused.err)[-1]
    git(*shlex.split(revert)[1:], at=project.path)
    assert "sent to origin" in project.ok("sync")


def test_the_branch_is_not_removed_nor_pushed_over(project: Project) -> None:
    project.create()
    install_checkout_hooks(repository(project))
    assert push(project, "gitticks/state").returncode == 0
    assert "the push would delete the state branch" in push(project, ":gitticks/state").stderr
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
    assert "has commits that you do not have" in push(project, "-f", "gitticks/state").stderr


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
    assert "`pre-push` did nothing: its files are gone; `gt hooks install` reinstalls them" in done.stderr
    assert log.read_text().startswith(PUSHED)
    install_checkout_hooks(repository(project))
    assert checkout_hooks_state(repository(project)) is HooksState.INSTALLED


def test_without_its_python_ours_warns_and_lets_pass(project: Project) -> None:
    install_checkout_hooks(repository(project))
    (project.path / ".git/gitticks/checkout-hooks/interpreter").write_text("/nowhere/python\n")
    make_illegal(project)
    done = push(project, "gitticks/state")
    assert done.returncode == 0
    assert "`pre-push` did nothing: /nowhere/python is gone; `gt hooks install` fixes it" in done.stderr


def test_what_came_in_our_place_stays_and_is_reported(project: Project, log: Path) -> None:
    logging_hook(hooks_of(project), "pre-push", log)
    install_checkout_hooks(repository(project))
    other = write_hook(hooks_of(project), "pre-push", "true")
    (told,) = uninstall_checkout_hooks(repository(project))
    assert f"`{other}.own` is your previous `pre-push`" in told
    assert other.read_text() == "#!/bin/sh\ntrue\n"


def test_a_file_where_a_hook_would_go_is_not_written_over(project: Project, log: Path) -> None:
    hook = logging_hook(hooks_of(project), "pre-push", log)
    hook.with_name("pre-push.own").write_text("mine\n")
    before = traces(project.path / ".git")
    with pytest.raises(GitticksError, match=r"pre-push\.own` is where your hook"):
        install_checkout_hooks(repository(project))
    assert traces(project.path / ".git") == before


def test_a_bare_repository_has_no_checkout(tmp_path: Path) -> None:
    bare = discover(make_repository(tmp_path / "bare.git", bare=True))
    assert checkout_hooks_state(bare) is HooksState.ABSENT
    assert uninstall_checkout_hooks(bare) == ()
    with pytest.raises(GitticksError, match="bare repository"):
        install_checkout_hooks(bare)
