from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
from pathlib import Path

import pytest

from gitticks.document.settings import file_layer
from tests.cli.support import command, gt
from tests.support.projects import Project, make_project
from tests.support.repositories import (
    add_linked_worktree,
    clone,
    commit_file,
    fsck_problems,
    git,
    make_repository,
)
from tests.support.waiting import LONGEST_SECONDS


def test_it_makes_branch_and_board_and_says_what_is_found(tmp_path: Path) -> None:
    make_repository(tmp_path)
    before = git("status", "--porcelain", at=tmp_path)
    ran = gt("init", at=tmp_path, environment={"PATH": "/usr/bin:/bin"})
    assert (
        ran.seen
        == """\
created branch gitticks/state and the board at .gitticks/ (ignored by your checkout)
agents found: none; tasks can still be run as scripts, or done by people
tests: none; agents' work is not tested before it is merged
--- 0

hint: set your tests with `gt config verify.test "make test"`, then `gt create "…"`
"""
    )
    assert git("status", "--porcelain", at=tmp_path) == before == ""
    assert git("symbolic-ref", "HEAD", at=tmp_path / ".gitticks") == "refs/heads/gitticks/state"
    assert git("config", "--worktree", "core.hooksPath", at=tmp_path / ".gitticks")
    assert fsck_problems(tmp_path) == ""


def test_a_second_run_says_what_is_there_and_changes_nothing(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    tip = project.tip()
    assert project.ok("init").startswith("branch gitticks/state already exists; so does the board")
    assert project.tip() == tip


def test_a_second_run_makes_a_deleted_board_again(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    task_id = project.create()
    git("worktree", "remove", "--force", str(project.board), at=tmp_path)
    assert "made the board" in project.ok("init")
    assert project.board_file(task_id).exists()


def test_the_first_settings_can_be_read_and_hold_the_base(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    config = (project.board / "config.yaml").read_text()
    assert "\nbase: main\n" in config
    assert file_layer(config).warnings == ()
    assert project.gt("config", "base").out.strip().startswith("main")


@pytest.mark.parametrize(
    ("options", "setting", "value"),
    [(["--base", "release"], "base", "release"), (["--human", "when-required"], "human", "when-required")],
)
@pytest.mark.parametrize("is_second", [False, True])
def test_options_become_settings(
    tmp_path: Path, options: list[str], setting: str, value: str, is_second: bool
) -> None:
    make_repository(tmp_path)
    git("branch", "release", at=tmp_path)
    if is_second:
        gt("init", at=tmp_path)
    assert gt("init", *options, at=tmp_path).code == 0
    assert gt("config", setting, at=tmp_path).out.startswith(value)


def test_the_tasks_of_origin_are_taken_over_also_in_a_clone_of_one_branch(tmp_path: Path) -> None:
    origin = make_project(tmp_path / "origin")
    task_id = origin.create()
    here = clone(origin.path, tmp_path / "clone", "--single-branch")
    assert gt("init", at=here).out.startswith("fetched branch gitticks/state from origin")
    assert Project(here).task(task_id).title == "Login loses the return URL"


def test_the_tasks_of_the_only_remote_are_taken_over_whatever_its_name(tmp_path: Path) -> None:
    there = make_project(tmp_path / "there")
    task_id = there.create()
    here = clone(there.path, tmp_path / "here", "--origin", "company", "--single-branch")
    assert gt("init", at=here).out.startswith("fetched branch gitticks/state from company")
    assert Project(here).task(task_id).id == task_id
    assert "up to date with company" in gt("sync", at=here).out


def test_the_tasks_of_one_remote_among_several_are_taken_over_and_shared_with_it(tmp_path: Path) -> None:
    there = make_project(tmp_path / "there")
    task_id = there.create()
    make_repository(tmp_path / "fork")
    here = clone(tmp_path / "fork", tmp_path / "here")
    git("remote", "add", "upstream", str(there.path), at=here)
    assert gt("init", at=here).out.startswith("fetched branch gitticks/state from upstream")
    assert git("config", "branch.gitticks/state.remote", at=here) == "upstream"
    assert Project(here).task(task_id).id == task_id
    assert "up to date with upstream" in gt("sync", at=here).out


def test_of_several_remotes_with_tasks_one_has_to_be_named(tmp_path: Path) -> None:
    here = make_repository(tmp_path / "here")
    for name in ("one", "two"):
        make_project(tmp_path / name).create(f"Of {name}")
        git("remote", "add", name, str(tmp_path / name), at=here)
    ran = gt("init", at=here)
    assert ran.code == 3
    assert "several remotes have tasks: `one`, `two`" in ran.err
    assert "`git config branch.gitticks/state.remote one` chooses one, then run `gt init`" in ran.err
    assert not (here / ".gitticks").exists()
    git("config", "branch.gitticks/state.remote", "two", at=here)
    assert gt("init", at=here).out.startswith("fetched branch gitticks/state from two")
    assert "Of two" in gt("list", at=here).out


def test_an_origin_that_cannot_be_reached_is_no_failure(tmp_path: Path) -> None:
    make_repository(tmp_path)
    git("remote", "add", "origin", str(tmp_path / "nowhere"), at=tmp_path)
    ran = gt("init", at=tmp_path)
    assert ran.code == 0
    assert ran.err.startswith("warning: origin could not be reached (")
    assert "`gt sync` merges them with yours" in ran.err


def test_before_the_first_commit_the_base_is_unknown(tmp_path: Path) -> None:
    make_repository(tmp_path, commits=0)
    ran = gt("init", at=tmp_path)
    assert ran.code == 0
    assert "base branch: not known until your first commit" in ran.out
    assert gt("create", "First", at=tmp_path).code == 0


def test_from_a_subdirectory_and_from_a_linked_worktree_the_board_is_at_the_top(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "top")
    (top / "deep").mkdir()
    assert gt("init", at=top / "deep").code == 0
    linked = add_linked_worktree(top, tmp_path / "linked", "other")
    assert gt("init", at=linked).code == 0
    assert (top / ".gitticks").is_dir()
    assert not (linked / ".gitticks").exists()


def _bare(path: Path) -> Path:
    return make_repository(path, bare=True)


def _in_the_way(path: Path) -> Path:
    make_repository(path)
    (path / ".gitticks").mkdir()
    (path / ".gitticks" / "mine.txt").write_text("mine")
    return path


def _oddly_named(path: Path) -> Path:
    make_repository(path)
    git("checkout", "-q", "-b", os.fsdecode(b"odd\xe9"), at=path)
    return path


def _nameless(path: Path) -> Path:
    make_repository(path)
    git("config", "user.name", "", at=path)
    return path


@pytest.mark.parametrize(
    ("make", "words", "options"),
    [
        (_bare, "is a bare repository", []),
        (_in_the_way, "is in the way of the board", []),
        (_oddly_named, r"the base cannot be the branch `odd\xe9`, whose name is not UTF-8", []),
        (_nameless, "git does not know your name", []),
        (make_repository, "there is no branch `nowhere`", ["--base", "nowhere"]),
        (lambda path: path, "is not in a git repository", []),
    ],
)
def test_what_is_refused(tmp_path: Path, make: object, words: str, options: list[str]) -> None:
    assert callable(make)
    ran = gt("init", *options, at=make(tmp_path))
    assert ran.code == 1
    assert words in ran.err
    assert "hint: " in ran.err


def test_a_sha256_repository_has_tasks_too(tmp_path: Path) -> None:
    git("init", "--quiet", "--object-format=sha256", at=tmp_path)
    commit_file(tmp_path, "README.md", "hello\n")
    assert gt("init", at=tmp_path).code == 0
    assert len(git("rev-parse", "gitticks/state", at=tmp_path)) == 64


def test_an_agent_cannot_begin_tasks(tmp_path: Path) -> None:
    make_repository(tmp_path)
    assert gt("init", at=tmp_path, environment={"GITTICKS_AGENT": "1"}).code == 3
    assert not (tmp_path / ".gitticks").exists()


def test_json(tmp_path: Path) -> None:
    make_repository(tmp_path)
    said = json.loads(gt("init", "--json", at=tmp_path, environment={"PATH": "/usr/bin:/bin"}).out)
    assert said == {
        "schema": 1,
        "begun": "created",
        "board": str(tmp_path / ".gitticks"),
        "base": "main",
        "human": "always",
        "tests": None,
        "proposed_tests": None,
        "agents": [],
    }


def test_on_a_terminal_it_asks_whether_a_person_approves_all_work(tmp_path: Path) -> None:
    make_repository(tmp_path)
    assert "Error: invalid input" in _init_on_a_terminal(tmp_path, b"perhaps\nn\n")
    assert gt("config", "human", at=tmp_path).out.startswith("when-required")


def test_enter_alone_means_that_a_person_approves_all_work(tmp_path: Path) -> None:
    make_repository(tmp_path)
    assert "Error: invalid input" not in _init_on_a_terminal(tmp_path, b"\n")
    assert gt("config", "human", at=tmp_path).out.startswith("always")


def _init_on_a_terminal(repository: Path, typed: bytes) -> str:
    ours, theirs = pty.openpty()
    shown = b""
    with subprocess.Popen(
        command("init"), cwd=repository, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        os.write(ours, typed)
        with contextlib.suppress(OSError):  # a terminal's end is reported as an error
            while piece := os.read(ours, 65536):
                shown += piece
        assert process.wait(LONGEST_SECONDS) == 0
    os.close(ours)
    return shown.decode()
