"""`gt` and the hooks where the environment names the repository: dotfiles managers, editors, `git --git-dir=…`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gitticks.model.status import Awaiting, Status
from gitticks.runner.outcome import RunExit
from tests.cli.support import gt
from tests.git.test_repository_lookup import dotfiles
from tests.support.clones import on_path
from tests.support.hand import Hand, hand
from tests.support.projects import Project, make_project
from tests.support.repositories import commit_file, git, make_repository, run_git_command
from tests.support.waiting import LONGEST_SECONDS

__all__ = ["hand", "on_path"]


def named(git_dir: Path, work_tree: Path) -> dict[str, str]:
    return {"GIT_DIR": str(git_dir), "GIT_WORK_TREE": str(work_tree)}


def board_of(project: Project) -> dict[str, str]:
    git_dir = git("rev-parse", "--absolute-git-dir", at=project.board)
    return named(Path(git_dir), project.board)


def test_dotfiles_have_their_tasks_in_the_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    git_dir = dotfiles(home)
    environment = named(git_dir, home)
    (home / ".bashrc").write_text("x\n")
    git("add", ".bashrc", at=home, environment=environment)
    git("commit", "--quiet", "-m", "begin", at=home, environment=environment)
    for command in (("init",), ("create", "Set the prompt"), ("note", "1", "Blue.")):
        words = [word if word != "1" else listed(home, environment) for word in command]
        ran = gt(*words, at=home, environment=environment)
        assert ran.code == 0, ran.seen
    assert (home / ".gitticks").is_dir()
    assert listed(home / ".gitticks", {}) == listed(home, environment)
    assert git("status", "--porcelain", "-uno", at=home, environment=environment) == ""


@pytest.mark.parametrize(
    ("begin", "within"),
    [
        pytest.param("yadm init", "yadm enter sh -ec", marks=pytest.mark.debian("yadm")),
        pytest.param("vcsh init dots", "vcsh run dots sh -ec", marks=pytest.mark.debian("vcsh")),
    ],
)
def test_managers_of_dotfiles(
    begin: str, within: str, tmp_path: Path, on_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SHELL", "/bin/sh")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".bashrc").write_text("x\n")
    started(*begin.split(), at=home)
    steps = "git add .bashrc; git commit -qm begin; gt init >&2; gt create Prompt; cd .gitticks; gt next >&2"
    task_id = started(*within.split(), steps, at=home).split()[-1]
    assert listed(home / ".gitticks", {}) == task_id


def started(*words: str, at: Path) -> str:
    done = subprocess.run(words, cwd=at, check=False, capture_output=True, text=True, timeout=LONGEST_SECONDS)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return done.stdout


def listed(at: Path, environment: dict[str, str]) -> str:
    ran = gt("next", at=at, environment=environment)
    assert ran.code == 0, ran.seen
    return ran.out.split()[0]


@pytest.mark.parametrize("command", [("create", "Mine"), ("list",), ("note", "k7f2", "x"), ("sync",)])
def test_nothing_is_done_where_folder_and_environment_differ(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    mine, other = make_project(tmp_path / "mine"), make_project(tmp_path / "other")
    mine.make("k7f2")
    tips = mine.tip(), other.tip()
    ran = mine.gt(*command, environment=named(other.path / ".git", other.path))
    assert (ran.code, ran.out) == (1, "")
    assert f"`GIT_DIR` names `{other.path}/.git`" in ran.err
    assert "`unset GIT_DIR GIT_WORK_TREE`" in ran.err
    assert (mine.tip(), other.tip()) == tips


def test_a_new_demo_and_the_api_stand_where_they_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gitticks import open_tasks

    mine, other = make_project(tmp_path / "mine"), make_repository(tmp_path / "other")
    mine.make("k7f2")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert [task.id for task in open_tasks(mine.path).all()] == ["k7f2"]
    assert gt("demo", "--dir", str(tmp_path / "demo"), at=tmp_path).code == RunExit.WAITS
    assert (tmp_path / "demo/.gitticks").is_dir()
    assert git("for-each-ref", "--format=%(refname)", at=other) == "refs/heads/main"


@pytest.mark.parametrize("start", [".", "..", "other"])
def test_a_commit_on_the_board_is_checked_and_followed_from_anywhere(hand: Hand, start: str) -> None:
    project = hand.project
    make_repository(project.path / "other")
    at, environment = project.path / start, board_of(project)
    hand.edit("status: pending", "status: done")
    refused = run_git_command("commit", "-qam", "by hand", at=at, environment=environment)
    assert refused.returncode == 1
    assert "cannot go from pending to done" in refused.stderr
    git("checkout", "-q", "--", ".", at=project.board)
    project.change("k7f2", awaiting=Awaiting.WORK)
    hand.edit("awaiting: work", "awaiting: work\nverdict: approved")
    done = run_git_command("commit", "-qam", "by hand", at=at, environment=environment)
    assert (done.returncode, done.stdout + done.stderr) == (0, "k7f2  done, by Ada Lovelace\n")
    assert project.task("k7f2").status is Status.DONE
    assert project.board_status() == ""


def test_a_push_from_another_repository_is_checked_in_the_one_that_is_pushed(tmp_path: Path) -> None:
    mine, other = make_project(tmp_path / "mine"), make_project(tmp_path / "other")
    mine.ok("hooks", "install", "--checkout")
    server = make_repository(tmp_path / "server.git", bare=True)
    mine.make("k7f2", title="A task that is nowhere else")
    push = ("push", "--quiet", str(server), "gitticks/state")
    for start in (other.path, tmp_path):
        done = run_git_command(f"--git-dir={mine.path}/.git", *push, at=start)
        assert (done.returncode, done.stderr) == (0, "")
        git("update-ref", "-d", "refs/heads/gitticks/state", at=server)
    file = mine.board_file("k7f2")
    file.write_text(file.read_text().replace("status: pending", "status: done"))
    git("-c", "core.hooksPath=/dev/null", "commit", "-qam", "by force", at=mine.board)
    for start in (other.path, tmp_path):
        done = run_git_command(f"--git-dir={mine.path}/.git", *push, at=start)
        assert done.returncode == 1
        assert "`k7f2` went from pending to done, and no event says so" in done.stderr


def test_a_merge_into_a_folder_elsewhere_moves_no_task_of_that_folder(tmp_path: Path) -> None:
    mine, other = make_project(tmp_path / "mine"), make_project(tmp_path / "other")
    for project in (mine, other):
        project.ok("hooks", "install", "--checkout")
    git("switch", "--quiet", "-c", "side", at=mine.path)
    commit_file(mine.path, "more.txt", "more\n")
    git("switch", "--quiet", "main", at=mine.path)
    tip = other.tip()
    places = (f"--git-dir={mine.path}/.git", f"--work-tree={other.path}")
    done = run_git_command(*places, "merge", "--quiet", "--no-ff", "-m", "merged", "side", at=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "could not run" not in done.stderr
    assert other.tip() == tip
