"""`gt hooks`: what it installs, takes away and says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.support import gt
from tests.support.hooks import traces
from tests.support.projects import SESSION, Project, make_project, make_working
from tests.support.repositories import git, make_repository, run_git_command


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")


def states(project: Project) -> dict[str, str]:
    found = json.loads(project.ok("hooks", "status", "--json"))["hooks"]
    return {one["place"]: one["state"] for one in found}


def test_what_it_says(project: Project) -> None:
    make_working(project)
    assert project.gt("hooks", "status").seen == (
        "where       hooks\n"
        "board       installed\n"
        "workspaces  0 of 1     `gt hooks install`\n"
        "checkout    absent     `gt hooks install --checkout`\n"
        f"your own    run first  {project.path}/.git/hooks\n"
        "--- 0\n"
    )
    assert "checkout    installed" in project.ok("hooks", "install", "--checkout")
    assert states(project) == {"board": "installed", "workspaces": "installed", "checkout": "installed"}


def test_a_path_that_leads_nowhere_is_said(project: Project) -> None:
    git("config", "core.hooksPath", ".husky/_", at=project.path)
    said = project.ok("hooks", "status")
    assert "your own    none runs   .husky/_, which `core.hooksPath` names, is missing\n" in said
    assert "none of your own hooks run: `.husky/_`" in project.gt("doctor").out
    git("config", "core.hooksPath", "own", at=project.path)
    (project.path / "own").mkdir()
    assert "none of your own hooks run" not in project.gt("doctor").out


def test_hooks_that_are_switched_off_are_no_mistake(project: Project) -> None:
    workspace = make_working(project)
    git("config", "core.hooksPath", "/dev/null", at=project.path)
    said = project.ok("hooks", "install", "--checkout")
    assert "your own    none runs  /dev/null, by `core.hooksPath`: they are switched off\n" in said
    assert json.loads(project.ok("hooks", "status", "--json"))["own"]["missing"] is False
    assert "your own hooks" not in project.gt("doctor").out
    for place in (workspace, project.board, project.path):
        done = run_git_command("commit", "-q", "--allow-empty", "-m", "x", at=place)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("before", ["plain", "own-worktree-config", "hooks-path-of-the-board"])
def test_everything_comes_and_goes(project: Project, before: str) -> None:
    workspace = make_working(project)
    project.ok("hooks", "uninstall")
    admin = project.path / ".git/worktrees/k7f2/config.worktree"
    if before == "own-worktree-config":
        admin.write_text("# mine\n[core]\n\n[user]\n\tname = Grace")
    elif before == "hooks-path-of-the-board":
        git("config", "--worktree", "core.hooksPath", "mine", at=project.board)
        git("config", "--worktree", "core.hooksPath", "mine", at=workspace)
    there = traces(project.path / ".git")
    for _ in range(2):
        project.ok("hooks", "install", "--checkout")
    assert traces(project.path / ".git") != there
    assert git("config", "gitticks.task", at=workspace) == "k7f2"
    project.ok("hooks", "uninstall")
    assert traces(project.path / ".git") == there
    assert not {"hooks", "workspace-hooks", "checkout-hooks"} & {
        file.name for file in (project.path / ".git/gitticks").iterdir()
    }


def test_init_leaves_no_trace_of_hooks_either(tmp_path: Path) -> None:
    made = Project(make_repository(tmp_path / "project"))
    hooks = traces(made.path / ".git/hooks")
    made.ok("init")
    made.ok("hooks", "uninstall")
    assert traces(made.path / ".git/hooks") == hooks
    assert run_git_command("config", "core.hooksPath", at=made.board).returncode == 1


def test_what_a_person_uninstalled_stays_away(project: Project) -> None:
    project.ok("hooks", "uninstall")
    project.ok("init")
    project.ok("doctor", "--fix")
    assert states(project)["board"] == "absent"
    assert "the board's hooks were uninstalled" in project.ok("doctor")
    project.create()
    project.ok("start", "--help")
    project.ok("hooks", "install")
    assert states(project)["board"] == "installed"
    assert "uninstalled" not in project.ok("doctor")
    git("worktree", "remove", "--force", str(project.board), at=project.path)
    project.ok("hooks", "uninstall")
    project.ok("init")
    assert states(project)["board"] == "absent"


def test_only_those_of_the_checkout(project: Project) -> None:
    project.ok("hooks", "install", "--checkout")
    project.ok("hooks", "uninstall", "--checkout")
    assert states(project) == {"board": "installed", "workspaces": "absent", "checkout": "absent"}
    project.ok("hooks", "install")
    assert states(project)["checkout"] == "absent"


def test_install_fixes_what_is_broken(project: Project) -> None:
    project.ok("hooks", "install", "--checkout")
    own = project.path / ".git/gitticks"
    for name in ("hooks/pre-commit", "checkout-hooks/pre-push"):
        (own / name).unlink()
    said = project.ok("hooks", "status")
    assert said.count("incomplete: `gt hooks install") == 2
    assert "the hooks of your checkout do not work" in project.gt("doctor").out
    project.ok("hooks", "install")
    assert states(project)["checkout"] == "installed"


def test_those_of_another_version_work_and_are_brought_up_to_date(project: Project) -> None:
    project.ok("hooks", "install", "--checkout")
    project.ok("start", project.create())
    hooks = project.path / ".git/hooks"
    folders = [hooks, *(hooks.parent / f"gitticks/{name}hooks" for name in ("", "checkout-", "workspace-"))]
    old = [one for folder in folders for one in folder.iterdir() if b"gitticks hook" in one.read_bytes()]
    for file in [*old, hooks / "pre-push"]:
        file.write_bytes(file.read_bytes() + b"# as it was\n")
    assert project.ok("hooks", "status").count("from another version: `gt hooks install") == 3
    told = project.gt("doctor")
    assert (told.code, told.out.count("are from another version\n")) == (0, 2)
    assert "no problems found" in project.ok("doctor", "--fix")
    project.ok("hooks", "install")
    assert set(states(project).values()) == {"installed"}


def test_the_boards_are_made_again_with_all_that_can_be_deleted(project: Project) -> None:
    project.make("k7f2")
    shutil.rmtree(project.path / ".git/gitticks")
    project.ok("status")
    assert states(project)["board"] == "installed"
    file = project.board_file("k7f2")
    file.write_text(file.read_text().replace("status: pending", "status: done"))
    assert run_git_command("commit", "-qam", "x", at=project.board).returncode != 0
    project.ok("hooks", "uninstall")
    project.ok("status")
    assert states(project)["board"] == "absent"


@pytest.mark.parametrize("in_the_way", ["file", "link"])
def test_what_lies_in_the_place_of_a_folder_is_put_aside(
    project: Project, tmp_path: Path, in_the_way: str
) -> None:
    folder = project.path / ".git/gitticks/hooks"
    folder.rename(tmp_path / "aside")
    if in_the_way == "file":
        folder.write_text("mine\n")
    else:
        folder.symlink_to(tmp_path / "aside")
    there = sorted((tmp_path / "aside").iterdir())
    project.ok("hooks", "install")
    assert states(project)["board"] == "installed"
    assert not folder.is_symlink()
    assert len(list(folder.parent.glob("hooks.*.old"))) == 1
    assert sorted((tmp_path / "aside").iterdir()) == there


def test_a_server_has_its_own(tmp_path: Path) -> None:
    bare = make_repository(tmp_path / "server.git", bare=True)
    refused = gt("hooks", "install", at=bare)
    assert refused.seen == (
        "--- 1\nerror: this is a bare repository, which has no board\n\n"
        "hint: `gt hooks install --server` is for those\n"
    )
    said = gt("hooks", "install", "--server", at=bare).out
    assert said.splitlines()[1:] == ["server    installed", f"your own  run first  {bare}/hooks"]
    (bare / "gitticks/server-hooks/chain.sh").unlink()
    assert "incomplete: `gt hooks install --server`" in gt("hooks", "status", at=bare).out
    gt("hooks", "uninstall", at=bare)
    shown = gt("hooks", "status", at=bare)
    assert "server    absent     `gt hooks install --server`" in shown.out
    assert (shown.code, shown.err) == (0, "")


def test_what_is_refused(project: Project, tmp_path: Path) -> None:
    assert project.gt("hooks", "install", "--checkout", "--server").code == 2
    assert project.gt("hooks", "install", environment=SESSION).code == 3
    assert project.gt("hooks", "uninstall", environment=SESSION).code == 3
    assert states(project)["board"] == "installed"
    assert gt("hooks", "status", at=tmp_path).code == 1
    bare = Project(make_repository(tmp_path / "other"))
    assert "there is no board" in bare.gt("hooks", "install").err
    assert bare.gt("hooks", "uninstall").code == 0
    assert not (bare.path / ".git/gitticks/hooks-off").exists()


def test_what_came_in_our_place_is_reported(project: Project) -> None:
    hook = project.path / ".git/hooks/pre-push"
    hook.write_text("#!/bin/sh\n")
    project.ok("hooks", "install", "--checkout")
    hook.write_text("#!/bin/sh\ntrue\n")
    ran = project.gt("hooks", "uninstall")
    assert ran.code == 0
    assert f"`{hook}.own` is your previous `pre-push`" in ran.err


def test_the_doctor_of_a_server_looks_at_its_hook(project: Project, tmp_path: Path) -> None:
    bare = make_repository(tmp_path / "server.git", bare=True)
    git("push", "-q", str(bare), "gitticks/state", at=project.path)
    gt("hooks", "install", "--server", at=bare)
    assert "hooks of this server" not in gt("doctor", at=bare).out
    git("config", "core.hooksPath", str(tmp_path), at=bare)
    assert "the hooks of this server do not work" in gt("doctor", at=bare).out
