"""The hook of a server: what is pushed to the state branch is judged there before it is in."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from gitticks.board.hooks import (
    install_server_hooks,
    server_hooks_state,
    uninstall_server_hooks,
)
from gitticks.errors import GitticksError
from gitticks.git.repository import Repository, discover
from gitticks.store.hook_files import HooksState
from gitticks.store.layout import STATE_REF
from tests.support.hooks import logging_hook, traces, write_hook
from tests.support.projects import Project
from tests.support.pushes import make_illegal, project
from tests.support.repositories import commit_file, git, run_git_command

__all__ = ["project"]


@pytest.fixture
def server(project: Project, tmp_path: Path) -> Repository:
    repository = discover(tmp_path / "server.git")
    install_server_hooks(repository)
    assert server_hooks_state(repository) is HooksState.INSTALLED
    return repository


def push(project: Project, *words: str) -> subprocess.CompletedProcess[str]:
    return run_git_command("push", "origin", *words, at=project.path)


def tip_of(server: Repository) -> str:
    return run_git_command("rev-parse", "--verify", "-q", STATE_REF, at=server.common_dir).stdout.strip()


def test_the_hook_names_the_state_branch() -> None:
    from gitticks.store.hook_files import read_source

    for name in ("pre-push", "pre-receive"):
        assert STATE_REF.encode() in read_source(name)


def test_legal_pushes_come_in_and_an_illegal_one_is_refused_with_the_reason(
    project: Project, server: Repository
) -> None:
    assert push(project, "gitticks/state", "main").returncode == 0
    project.ok("update", project.create(), "--status", "working")
    assert push(project, "gitticks/state").returncode == 0
    accepted = project.tip()
    assert tip_of(server) == accepted
    told = make_illegal(project)
    refused = push(project, "gitticks/state")
    assert refused.returncode != 0
    assert f"remote: error: in {project.tip()[:10]} {told}" in refused.stderr
    assert "revert --no-edit" in refused.stderr
    assert tip_of(server) == accepted
    git("-c", "core.hooksPath=/dev/null", "revert", "--no-edit", "HEAD", at=project.board)
    assert push(project, "gitticks/state").returncode == 0
    assert tip_of(server) == project.tip()


def test_what_takes_back_a_mistake_that_came_in_before_the_hook_is_accepted(
    project: Project, tmp_path: Path
) -> None:
    told = make_illegal(project)
    git("-c", "core.hooksPath=/dev/null", "push", "-q", "origin", "gitticks/state", at=project.path)
    repository = discover(tmp_path / "server.git")
    install_server_hooks(repository)
    assert told in project.gt("doctor").out
    git("-c", "core.hooksPath=/dev/null", "revert", "--no-edit", "HEAD", at=project.board)
    assert push(project, "gitticks/state").returncode == 0
    assert tip_of(repository) == project.tip()
    told = make_illegal(project)
    assert told in push(project, "gitticks/state").stderr, "another one is refused"


def test_gt_need_not_be_on_the_servers_path(project: Project, server: Repository) -> None:
    folder = Path(shutil.which("git") or "/usr/bin/git").parent
    bare = {"PATH": f"{folder}:/bin"}
    told = make_illegal(project)
    assert shutil.which("gt", path=bare["PATH"]) is None
    refused = run_git_command("push", "origin", "gitticks/state", at=project.path, environment=bare)
    assert refused.returncode != 0
    assert told in refused.stderr
    git("-c", "core.hooksPath=/dev/null", "revert", "--no-edit", "HEAD", at=project.board)
    git("push", "-q", "origin", "gitticks/state", at=project.path, environment=bare)
    assert tip_of(server) == project.tip()


def test_objects_that_come_as_a_pack_are_seen(project: Project, server: Repository) -> None:
    git("config", "receive.unpackLimit", "1", at=server.common_dir)
    project.create()
    assert push(project, "gitticks/state").returncode == 0
    told = make_illegal(project)
    assert told in push(project, "gitticks/state").stderr
    assert not list((server.common_dir / "objects").glob("tmp_objdir*"))


def test_one_illegal_branch_keeps_the_others_of_its_push_out_and_no_later_one(
    project: Project, server: Repository
) -> None:
    make_illegal(project)
    assert push(project, "gitticks/state", "main").returncode != 0
    assert git("for-each-ref", at=server.common_dir) == ""
    assert push(project, "main").returncode == 0


def test_two_who_push_at_once_lose_nothing(project: Project, server: Repository, tmp_path: Path) -> None:
    assert push(project, "gitticks/state", "main").returncode == 0
    git("clone", "-q", str(server.common_dir), str(tmp_path / "other"), at=tmp_path)
    other = Project(tmp_path / "other")
    other.ok("init")
    for one in (project, other):
        one.create()
    first, second = (push(one, "gitticks/state") for one in (project, other))
    assert (first.returncode == 0, second.returncode == 0) == (True, False)
    git("pull", "-q", "--no-rebase", "--no-edit", "origin", "gitticks/state", at=other.board)
    assert push(other, "gitticks/state").returncode == 0
    assert tip_of(server) == other.tip()


def test_a_first_push_is_judged_from_its_beginning(project: Project, server: Repository) -> None:
    told = make_illegal(project)
    assert told in push(project, "gitticks/state").stderr
    assert tip_of(server) == ""


def test_the_branch_is_neither_removed_nor_pushed_over(project: Project, server: Repository) -> None:
    project.create()
    assert push(project, "gitticks/state").returncode == 0
    accepted = tip_of(server)
    assert "the push would delete the state branch" in push(project, ":gitticks/state").stderr
    git("branch", "older", "gitticks/state^", at=project.path)
    assert "leaves 1 commit behind" in push(project, "--force", "older:gitticks/state").stderr
    assert "error: " in push(project, "--force", "main:gitticks/state").stderr
    assert tip_of(server) == accepted


def test_other_branches_are_none_of_its_business(project: Project, server: Repository) -> None:
    (server.own_dir / "server-hooks/interpreter").write_text("/bin/false\n")
    for branch in ("main", "main:gitticks/state-of-affairs", "main:other/refs/heads/gitticks/state"):
        assert push(project, branch).returncode == 0
    assert push(project, ":gitticks/state-of-affairs").returncode == 0
    commit_file(project.path, "code.txt", "x\n")
    git("commit", "-q", "--amend", "-m", "again", at=project.path)
    assert push(project, "--force", "main").returncode == 0


@pytest.mark.parametrize("kind", ["symbolic", "of a symbolic", "link"])
@pytest.mark.parametrize("is_there", [True, False])
def test_another_name_of_the_branch_is_no_way_around(
    project: Project, server: Repository, kind: str, *, is_there: bool
) -> None:
    if is_there:
        assert push(project, "gitticks/state").returncode == 0
    make_other_name(server, kind)
    accepted = tip_of(server)
    told = make_illegal(project)
    assert told in push(project, "gitticks/state:refs/heads/gitticks/x").stderr
    assert tip_of(server) == accepted
    if is_there:
        assert "would delete the state branch" in push(project, ":refs/heads/gitticks/x").stderr
        assert tip_of(server) == accepted
    git("-c", "core.hooksPath=/dev/null", "revert", "--no-edit", "HEAD", at=project.board)
    if kind != "link":  # which git writes through only in some cases
        assert push(project, "gitticks/state:refs/heads/gitticks/x").returncode == 0
        assert tip_of(server) == project.tip()


def make_other_name(server: Repository, kind: str) -> None:
    file = server.common_dir / "refs/heads/gitticks/x"
    if kind == "link":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(STATE_REF)
        return
    target = STATE_REF
    if kind == "of a symbolic":
        target = "refs/heads/between"
        git("symbolic-ref", target, STATE_REF, at=server.common_dir)
    git("symbolic-ref", "refs/heads/gitticks/x", target, at=server.common_dir)


def test_a_symbolic_ref_that_leads_elsewhere_passes(project: Project, server: Repository) -> None:
    git("symbolic-ref", "refs/heads/trunk", "refs/heads/main", at=server.common_dir)
    git("symbolic-ref", "HEAD", STATE_REF, at=server.common_dir)
    (server.common_dir / "refs/heads/round").write_text("ref: refs/heads/round\n")
    for branch in ("main", "main:trunk", "main:plain"):
        done = push(project, branch)
        assert done.returncode == 0, done.stderr
    assert tip_of(server) == ""
    assert push(project, "main:round").returncode != 0


def test_a_push_that_cannot_be_judged_does_not_come_in(project: Project, server: Repository) -> None:
    (server.own_dir / "server-hooks/interpreter").write_text("/bin/false\n")
    done = push(project, "gitticks/state")
    assert done.returncode != 0
    assert "`pre-receive` could not run, so it lets nothing in" in done.stderr
    assert tip_of(server) == ""


def test_a_server_that_lost_its_python_says_so_with_each_push(project: Project, server: Repository) -> None:
    (server.own_dir / "server-hooks/interpreter").write_text("/nowhere/python\n")
    assert server_hooks_state(server) is HooksState.BROKEN
    done = push(project, "gitticks/state")
    assert done.returncode == 0
    assert "remote: gitticks: `pre-receive` did nothing: /nowhere/python is gone" in done.stderr


@pytest.mark.parametrize("answer", [0, 1])
def test_the_servers_own_hook_decides_first(project: Project, server: Repository, answer: int) -> None:
    uninstall_server_hooks(server)
    log = server.common_dir / "log"
    write_hook(server.common_dir / "hooks", "pre-receive", f'cat >> "{log}"\nexit {answer}')
    install_server_hooks(server)
    assert push(project, "gitticks/state", "main").returncode == answer
    assert STATE_REF in log.read_text()
    assert (tip_of(server) == project.tip()) == (answer == 0)


@pytest.mark.parametrize("case", ["nothing", "own", "no-folder"])
def test_nothing_is_left_behind(project: Project, server: Repository, case: str) -> None:
    uninstall_server_hooks(server)
    hooks = server.common_dir / "hooks"
    if case == "own":
        logging_hook(hooks, "pre-receive", hooks / "log")
    elif case == "no-folder":
        hooks.rename(project.path / "hooks")
    before = traces(server.common_dir)
    for _ in range(2):
        install_server_hooks(server)
    make_illegal(project)
    assert push(project, "gitticks/state").returncode != 0
    (hooks / "log").unlink(missing_ok=True)
    assert uninstall_server_hooks(server) == ()
    assert traces(server.common_dir) == before
    assert not server.own_dir.exists()
    assert push(project, "gitticks/state").returncode == 0


def test_hooks_that_others_share_are_left_alone(project: Project, server: Repository, tmp_path: Path) -> None:
    uninstall_server_hooks(server)
    git("config", "core.hooksPath", str(tmp_path / "shared"), at=server.common_dir)
    with pytest.raises(GitticksError, match="which others may use") as caught:
        install_server_hooks(server)
    assert "`gt hook pre-receive`" in str(caught.value.hint)
    git("config", "--unset", "core.hooksPath", at=server.common_dir)
    (server.common_dir / "hooks").rename(tmp_path / "shared")
    (server.common_dir / "hooks").symlink_to(tmp_path / "shared")
    with pytest.raises(GitticksError, match="which others may use"):
        install_server_hooks(server)
    assert push(project, "gitticks/state").returncode == 0


def test_a_hooks_path_that_comes_later_hides_it(server: Repository, tmp_path: Path) -> None:
    git("config", "core.hooksPath", str(tmp_path / "other"), at=server.common_dir)
    assert server_hooks_state(server) is HooksState.HIDDEN


def test_a_checkout_is_no_server(project: Project) -> None:
    with pytest.raises(GitticksError, match="has a checkout"):
        install_server_hooks(discover(project.path))
