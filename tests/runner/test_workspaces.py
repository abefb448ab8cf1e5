"""Workspaces: made, fixed, prepared and collected without losing anybody's work."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gitticks.document.taskfile import new_task_file
from gitticks.errors import GitticksError
from gitticks.git.checkouts import checkout_at
from gitticks.git.repository import Repository, discover
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.settings import SetupSettings, WorkspaceSettings
from gitticks.model.status import Awaiting, Isolation
from gitticks.runner import mailbox, workspaces
from gitticks.runner.workspace_plan import OWN_FOLDERS, uncommitted_paths
from tests.support.hints import follow_hint
from tests.support.repositories import commit_file, git, make_repository
from tests.support.workspaces import (
    FIRST,
    HERE,
    SECOND,
    SETTINGS,
    TASK,
    prepared,
    remove,
    repository,
    status,
    top,
)

__all__ = ["repository"]

COPIES = SETTINGS._replace(setup=SetupSettings(copy=("data",)))
KILLED_BY_THE_SECOND_FILE = """
import os, shutil, signal, sys
from pathlib import Path
from gitticks.git.repository import discover
from tests.support.workspaces import prepared
from tests.runner.test_workspaces import COPIES

copy_file = shutil.copyfile

def copy(source, target, **named):
    if os.listdir(os.path.dirname(target)):
        os.kill(os.getpid(), signal.SIGKILL)
    return copy_file(source, target, **named)

shutil.copyfile = copy
prepared(discover(Path(sys.argv[1])), settings=COPIES)
"""


def test_a_task_gets_a_worktree_on_a_branch_of_its_own(repository: Repository) -> None:
    workspace = prepared(repository)
    tip = git("rev-parse", "main", at=top(repository))
    assert workspace.path == top(repository) / ".gitticks-work" / "k7f2"
    assert (workspace.branch, workspace.base, workspace.start_sha) == ("gitticks/work/k7f2", "main", tip)
    assert git("branch", "--show-current", at=workspace.path) == workspace.branch
    assert workspace.warnings == ()


def test_planning_makes_nothing(repository: Repository) -> None:
    workspaces.plan(TASK, TaskGraph.of([TASK]), SETTINGS, repository)
    assert git("branch", at=top(repository)) == "* main"
    assert not (top(repository) / ".gitticks-work").exists()


def test_neither_checkout_nor_workspace_shows_our_folders(repository: Repository) -> None:
    workspace = prepared(repository)
    mailbox_folder = workspace.mailbox
    mailbox_folder.mkdir()
    (mailbox_folder / "TASK.md").write_text("x")
    assert git("status", "--porcelain", at=top(repository)) == ""
    assert status(workspace) == ""
    assert uncommitted_paths(checkout_at(repository, workspace.path), OWN_FOLDERS) == ()


def test_a_second_session_finds_the_work_of_the_first(repository: Repository) -> None:
    workspace = prepared(repository)
    made = commit_file(workspace.path, "a.txt", "a\n")
    (workspace.path / "b.txt").write_text("b\n")
    again = prepared(repository, replace(TASK, start_sha=workspace.start_sha, branch=workspace.branch))
    assert again.start_sha == workspace.start_sha
    assert workspaces.collect(repository, again)[0] == made
    assert uncommitted_paths(checkout_at(repository, again.path), OWN_FOLDERS) == ("b.txt",)


def test_a_removed_folder_is_made_again_with_its_commits(repository: Repository) -> None:
    workspace = prepared(repository)
    made = commit_file(workspace.path, "a.txt", "a\n")
    git("worktree", "lock", str(workspace.path), at=top(repository))
    git("worktree", "unlock", str(workspace.path), at=top(repository))
    workspace.path.rename(workspace.path.with_name("gone"))
    again = prepared(repository)
    assert git("rev-parse", "HEAD", at=again.path) == made


def test_a_half_made_worktree_is_made_again(repository: Repository) -> None:
    workspace = prepared(repository)
    admin = top(repository) / ".git" / "worktrees" / "k7f2"
    (admin / "locked").write_text("initializing")
    (workspace.path / "README.md").unlink()
    assert status(prepared(repository)) == ""


@pytest.mark.parametrize("harm", ["deleted", "wrong", "link"])
def test_a_broken_link_to_the_repository_is_fixed(repository: Repository, tmp_path: Path, harm: str) -> None:
    workspace = prepared(repository)
    commit_file(workspace.path, "a.txt", "a\n")
    link = workspace.path / ".git"
    link.unlink()
    if harm == "wrong":
        link.write_text("gitdir: /nowhere\n")
    elif harm == "link":
        link.symlink_to(tmp_path)
    assert status(prepared(repository)) == ""


@pytest.mark.parametrize("name", [".gitticks-work", ".gitticks-work/k7f2"])
def test_no_link_in_the_tree_leads_a_workspace_elsewhere(
    repository: Repository, tmp_path: Path, name: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    link = top(repository) / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside)
    with pytest.raises(GitticksError, match="leads elsewhere through a link"):
        prepared(repository)
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("folder", [".gitticks-work", "../elsewhere"])
def test_a_workspace_that_became_a_link_is_neither_worked_in_nor_emptied(
    repository: Repository, tmp_path: Path, folder: str
) -> None:
    settings = SETTINGS._replace(workspace=WorkspaceSettings(dir=folder))
    workspace, outside = prepared(repository, settings=settings), tmp_path / "outside"
    shutil.rmtree(workspace.path)
    outside.mkdir()
    (outside / "mine.txt").write_text("mine\n")
    workspace.path.symlink_to(outside)
    with pytest.raises(GitticksError, match="leads elsewhere through a link"):
        prepared(repository, settings=settings)
    remove(repository, force=True)
    assert not workspace.path.is_symlink()
    assert [one.name for one in outside.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock"])
def test_what_a_killed_git_had_locked_is_free_again(repository: Repository, name: str) -> None:
    workspace = prepared(repository)
    lock = top(repository) / ".git" / "worktrees" / "k7f2" / name
    lock.write_bytes(b"")
    os.utime(lock, (0, 0))
    commit_file(prepared(repository).path, "a.txt", "a\n")
    assert status(workspace) == ""


def test_a_workspace_that_became_another_repository_is_refused(tmp_path: Path) -> None:
    repository = discover(make_repository(tmp_path / "my repo"))
    workspace = prepared(repository)
    (workspace.path / ".git").unlink()
    git("init", "--quiet", at=workspace.path)
    with pytest.raises(GitticksError, match="repository of its own") as caught:
        prepared(repository)
    follow_hint(caught.value, at=tmp_path)
    assert prepared(repository).path == workspace.path


def test_a_filter_that_only_the_repository_defines_keeps_agents_out(repository: Repository) -> None:
    git("config", "filter.crypt.clean", "cat", at=top(repository))
    assert prepared(repository).warnings == ()  # no file asks for it
    commit_file(top(repository), ".gitattributes", "*.md filter=crypt\n")
    prepared(repository)
    remove(repository)
    git("branch", "-D", "gitticks/work/k7f2", at=top(repository))
    for _ in range(2):
        with pytest.raises(GitticksError, match=r"`README.md` needs the filter `crypt`"):
            prepared(repository)
    # What was checked out without the filter is not there any more once a person has defined it.
    git("config", "--global", "filter.crypt.smudge", "tr a-z A-Z", at=top(repository))
    git("config", "--global", "filter.crypt.clean", "tr A-Z a-z", at=top(repository))
    workspace = prepared(repository)
    assert (workspace.path / "README.md").read_text().isupper()
    git("config", "--global", "--unset", "filter.crypt.clean", at=top(repository))
    git("config", "--global", "--unset", "filter.crypt.smudge", at=top(repository))
    with pytest.raises(GitticksError, match=r"`README.md` needs the filter `crypt`"):
        prepared(repository)  # found as well as made
    assert workspace.path.is_dir()


def test_a_deleted_branch_begins_where_the_task_last_stood(repository: Repository) -> None:
    workspace = prepared(repository)
    made = commit_file(workspace.path, "a.txt", "a\n")
    remove(repository)
    git("branch", "-D", "gitticks/work/k7f2", at=top(repository))
    task = replace(TASK, start_sha=workspace.start_sha, end_sha=made, branch=workspace.branch)
    assert git("rev-parse", "HEAD", at=prepared(repository, task).path) == made


def test_a_base_that_does_not_exist_is_an_error_with_a_hint(repository: Repository) -> None:
    with pytest.raises(GitticksError, match="the base branch `nowhere` does not exist here") as raised:
        prepared(repository, replace(TASK, base="nowhere"))
    assert raised.value.hint is not None


def test_the_files_and_the_command_of_setup_come_once(repository: Repository) -> None:
    (top(repository) / ".env").write_text("SECRET=1\n")
    (top(repository) / "deps").mkdir()
    (top(repository) / "deps" / "one").write_text("1")
    run = 'printf "%s|" "$PWD" "$GIT_DIR" "$GITTICKS_TASK" >> ran'
    settings = SETTINGS._replace(setup=SetupSettings(copy=(".env", "deps", "missing"), run=run))
    workspace = prepared(repository, settings=settings)
    prepared(repository, settings=settings)
    assert (workspace.path / ".env").read_text() == "SECRET=1\n"
    assert (workspace.path / "deps" / "one").read_text() == "1"
    assert (workspace.path / "ran").read_text() == f"{workspace.path}|||"


def test_a_copy_that_was_cut_short_is_made_again(repository: Repository) -> None:
    data = top(repository) / "data"
    data.mkdir()
    for name in ("one", "two"):
        (data / name).write_text(name)
    data.chmod(0o555)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED_BY_THE_SECOND_FILE, top(repository)],
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert killed.returncode < 0
    workspace = prepared(repository, settings=COPIES)
    assert sorted(path.name for path in (workspace.path / "data").iterdir()) == ["one", "two"]
    assert status(workspace) == "?? data/"


def test_a_copy_that_failed_leaves_nothing_and_is_tried_again(repository: Repository) -> None:
    (top(repository) / "data").mkdir()
    (top(repository) / "data/one").write_text("one")
    os.mkfifo(top(repository) / "data/two")
    with pytest.raises(GitticksError, match="`data` could not be copied"):
        prepared(repository, settings=COPIES)
    assert git("status", "--porcelain", at=top(repository) / ".gitticks-work/k7f2") == ""
    (top(repository) / "data/two").unlink()
    workspace = prepared(repository, settings=COPIES)
    assert [path.name for path in (workspace.path / "data").iterdir()] == ["one"]


@pytest.mark.parametrize("name", ["../other", "/etc/passwd", ".git/config", "outside"])
def test_setup_copies_nothing_from_outside(repository: Repository, name: str) -> None:
    (top(repository) / "outside").symlink_to("/etc/passwd")
    with pytest.raises(GitticksError, match=r"setup\.copy"):
        prepared(repository, settings=SETTINGS._replace(setup=SetupSettings(copy=(name,))))


def test_no_link_in_the_tree_leads_a_copied_file_out_of_the_workspace(
    repository: Repository, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (top(repository) / "in").symlink_to(outside)
    git("add", "-A", at=top(repository))
    git("commit", "-qm", "link", at=top(repository))
    (top(repository) / "in").unlink()
    (top(repository) / "in").mkdir()
    (top(repository) / "in/.env").write_text("secret")
    with pytest.raises(GitticksError, match="leads out of the checkout"):
        prepared(repository, settings=SETTINGS._replace(setup=SetupSettings(copy=("in/.env",))))
    assert list(outside.iterdir()) == []


def test_a_setup_that_failed_says_how_and_runs_again(tmp_path: Path) -> None:
    repository = discover(make_repository(tmp_path / "my repo"))
    settings = SETTINGS._replace(setup=SetupSettings(run="echo no network; test -e ready || exit 3"))
    with pytest.raises(GitticksError, match=r"failed \(exit code 3\): no network") as raised:
        prepared(repository, settings=settings)
    assert "no network" in str(raised.value)
    (top(repository) / ".gitticks-work" / "k7f2" / "ready").touch()
    follow_hint(raised.value, at=tmp_path)
    prepared(repository, settings=settings)


def test_a_commit_is_found_where_the_agent_left_another_branch(repository: Repository) -> None:
    workspace = prepared(repository)
    made = commit_file(workspace.path, "a.txt", "a\n")
    git("switch", "--quiet", "-c", "feature", at=workspace.path)
    commit_file(workspace.path, "b.txt", "b\n")
    tip, warnings = workspaces.collect(repository, workspace)
    assert tip == made
    assert "`feature`" in warnings[0]
    again = prepared(repository)
    assert git("branch", "--show-current", at=again.path) == workspace.branch
    assert "git merge feature" in again.warnings[0]


def test_commits_on_a_detached_head_are_kept(repository: Repository) -> None:
    workspace = prepared(repository)
    git("switch", "--quiet", "--detach", at=workspace.path)
    lost = commit_file(workspace.path, "a.txt", "a\n")
    assert "no branch" in workspaces.collect(repository, workspace)[1][0]
    again = prepared(repository)
    assert git("rev-parse", "refs/gitticks/rescued/k7f2^1", at=top(repository)) == lost
    assert git("branch", "--show-current", at=again.path) == workspace.branch


def test_uncommitted_work_on_another_branch_is_left_alone(repository: Repository) -> None:
    workspace = prepared(repository)
    git("switch", "--quiet", "-c", "feature", at=workspace.path)
    (workspace.path / "new.txt").write_text("new\n")
    again = prepared(repository)
    assert (again.path / "new.txt").read_text() == "new\n"
    assert "git switch gitticks/work/k7f2" in again.warnings[0]


def test_a_branch_that_was_deleted_has_no_work(repository: Repository) -> None:
    workspace = prepared(repository)
    git("switch", "--quiet", "--detach", at=workspace.path)
    git("branch", "-D", workspace.branch or "", at=top(repository))
    tip, warnings = workspaces.collect(repository, workspace)
    assert tip == workspace.start_sha
    assert "was deleted" in warnings[0]


def test_a_mailbox_that_was_committed_is_said(repository: Repository) -> None:
    workspace = prepared(repository)
    workspace.mailbox.mkdir()
    (workspace.mailbox / "TASK.md").write_text("x")
    git("add", "--force", ".gt", at=workspace.path)
    git("commit", "--quiet", "-m", "oops", at=workspace.path)
    assert "`.gt` was committed" in workspaces.collect(repository, workspace)[1][0]


def test_an_epics_tasks_follow_one_another_on_one_branch(repository: Repository) -> None:
    one = prepared(repository, FIRST)
    made = commit_file(one.path, "a.txt", "a\n")
    two = prepared(repository, SECOND)
    assert one.path == two.path == top(repository) / ".gitticks-work" / "epic"
    assert two.branch == "gitticks/work/epic"
    assert two.start_sha == made
    assert git("log", "-1", "--format=%(trailers:key=Task,valueonly)", at=one.path).strip() == "aaaa"
    commit_file(two.path, "b.txt", "b\n")
    assert git("log", "-1", "--format=%(trailers:key=Task,valueonly)", at=one.path).strip() == "bbbb"


def test_without_isolation_the_agent_works_in_the_checkout(repository: Repository) -> None:
    workspace = prepared(repository, HERE)
    tip = git("rev-parse", "HEAD", at=top(repository))
    assert (workspace.path, workspace.branch, workspace.base) == (top(repository), None, None)
    assert workspace.start_sha == workspaces.collect(repository, workspace)[0] == tip
    made = commit_file(workspace.path, "a.txt", "a\n")
    assert workspaces.collect(repository, workspace)[0] == made


def test_uncommitted_changes_of_a_person_are_named_and_refuse_it(repository: Repository) -> None:
    (top(repository) / "README.md").write_text("mine\n")
    (top(repository) / "new.txt").write_text("mine\n")
    with pytest.raises(GitticksError, match=r"`README\.md`, `new\.txt`"):
        prepared(repository, HERE)


def test_the_tasks_own_uncommitted_work_does_not_refuse_it(repository: Repository) -> None:
    workspace = prepared(repository, HERE)
    (workspace.path / "half.txt").write_text("half\n")
    again = prepared(repository, replace(HERE, start_sha=workspace.start_sha))
    assert (again.path / "half.txt").exists()
    other = replace(HERE, id=TaskId("zzzz"))
    with pytest.raises(GitticksError, match=r"`half\.txt`"):
        prepared(repository, other)


def test_a_copy_is_kept_while_the_task_waits_and_the_files_stay(repository: Repository) -> None:
    workspace = prepared(repository, HERE)
    (workspace.path / "half.txt").write_text("half\n")
    workspaces.settle(repository, workspace, replace(HERE, awaiting=Awaiting.INPUT))
    assert (workspace.path / "half.txt").exists()
    assert git("show", "refs/gitticks/partial/k7f2:half.txt", at=top(repository)) == "half"
    assert prepared(repository, HERE).warnings == ()
    assert git("for-each-ref", "refs/gitticks", at=top(repository)) == ""


def test_a_checkout_without_commits_is_refused(tmp_path: Path) -> None:
    empty = discover(make_repository(tmp_path / "empty", commits=0))
    with pytest.raises(GitticksError, match="no commit"):
        prepared(empty, HERE)
    with pytest.raises(GitticksError, match="does not exist here or has no commits") as caught:
        prepared(empty)
    assert str(caught.value.hint).startswith("`git commit` creates the first one")
    with pytest.raises(GitticksError, match="does not exist here or has no commits") as caught:
        prepared(empty, settings=SETTINGS._replace(base="other"))
    assert "`gt config base <branch>` chooses one" in str(caught.value.hint)


def test_a_bare_repository_is_refused(tmp_path: Path) -> None:
    bare = discover(make_repository(tmp_path / "bare", bare=True))
    with pytest.raises(GitticksError, match="bare repository"):
        prepared(bare)


def test_the_workspace_of_a_dead_session_is_found(repository: Repository) -> None:
    workspace = prepared(repository)
    task = replace(TASK, branch=workspace.branch, base="main", start_sha=workspace.start_sha)
    assert workspaces.find(repository, task, workspace.path) == workspace
    assert workspaces.find(repository, task, top(repository) / "nowhere") is None
    here = workspaces.find(repository, HERE, top(repository))
    assert here is not None
    assert here.isolation is Isolation.NONE


def test_the_mailbox_of_a_workspace_can_be_filled(repository: Repository) -> None:
    workspace = prepared(repository)
    mailbox.fill(workspace, new_task_file(TASK), "Do it.")
    assert status(workspace) == ""
    assert (workspace.mailbox / "TASK.md").exists()
