"""Paths on the state branch."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gitticks.errors import GitticksError, NotFoundError
from gitticks.git.repository import discover
from gitticks.model.ids import TaskId
from gitticks.store import layout
from gitticks.store.layout import Round, read_rounds, rounds_folder, state_tip
from tests.cli.support import gt
from tests.support.projects import make_project
from tests.support.repositories import git, make_repository
from tests.support.stores import make_task
from tests.support.tasks import make_store, write_files

K7F2 = TaskId("k7f2")


@pytest.mark.parametrize(
    ("path", "task_id"),
    [
        ("tasks/f2/k7f2/TASK.md", "k7f2"),
        ("tasks/0a/a/TASK.md", "a"),
        ("tasks/xx/k7f2/TASK.md", None),
        ("tasks/f2/k7f2/worklog.md", None),
        ("tasks/f2/K7F2/TASK.md", None),
        ("tasks/f2/k7f2/rounds/TASK.md", None),
        ("config.yaml", None),
    ],
)
def test_a_task_is_found_by_its_path(path: str, task_id: str | None) -> None:
    assert layout.task_of_path(path) == task_id


def test_the_paths_of_a_task() -> None:
    assert layout.history_path(K7F2) == "tasks/f2/k7f2/history.jsonl"
    assert layout.worklog_path(K7F2) == "tasks/f2/k7f2/worklog.md"
    assert layout.scratchpad_path(K7F2) == "tasks/f2/k7f2/scratchpad.md"
    assert layout.rounds_folder(K7F2) == "tasks/f2/k7f2/rounds"


@pytest.mark.parametrize(
    ("names", "kind", "name"),
    [
        ((), "handoff", "01-handoff.md"),
        ((), "review-security", "01-review-security.md"),
        (("01-review-security.md",), "handoff", "01-handoff.md"),
        (("01-handoff.md",), "review", "01-review.md"),
        (("01-handoff.md", "01-review.md"), "review-security", "02-review-security.md"),
        (("01-handoff.md", "01-review.md"), "handoff", "02-handoff.md"),
        (("01-handoff.md",), "handoff", "02-handoff.md"),
        (("07-review.md", "notes.txt"), "handoff", "08-handoff.md"),
        (("99-handoff.md",), "handoff", "100-handoff.md"),
        (("100-handoff.md",), "review", "100-review.md"),
    ],
)
def test_numbers_of_rounds_only_grow(names: tuple[str, ...], kind: str, name: str) -> None:
    assert layout.next_round_path(names, K7F2, kind) == f"tasks/f2/k7f2/rounds/{name}"


@pytest.mark.parametrize(
    ("config", "number"),
    [
        (None, 1),
        (b"", 1),
        (b"version: 1\n", 1),
        (b"# c\nversion: 3 # new\r\nx: 1\n", 3),
        (b"a:\n  version: 9\n", 1),
    ],
)
def test_the_format_is_read_without_a_parser(config: bytes | None, number: int) -> None:
    assert layout.format_of(config) == number


def test_a_branch_that_never_was(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no tasks yet"):
        state_tip(discover(make_repository(tmp_path)))


def test_a_fetched_branch_is_to_be_taken_over(tmp_path: Path) -> None:
    first = make_project(tmp_path / "first")
    task = first.create()
    git("clone", "--quiet", str(first.path), str(tmp_path / "clone"), at=tmp_path)
    ran = gt("list", at=tmp_path / "clone")
    assert ran.err.startswith("error: this clone does not have the tasks of `origin` yet\n\nhint: `gt init`")
    assert gt("init", at=tmp_path / "clone").code == 0
    assert task in gt("list", at=tmp_path / "clone").out


def test_a_branch_that_is_gone_is_brought_back_by_the_hint(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    task, tip = project.create(), project.tip()
    (tmp_path / ".git/refs/heads/gitticks/state").unlink()
    with pytest.raises(GitticksError, match="is missing, but it existed here") as caught:
        state_tip(discover(tmp_path))
    assert gt("init", at=tmp_path).code == 1
    assert caught.value.hint is not None
    subprocess.run(caught.value.hint.split("`")[1], shell=True, cwd=tmp_path, check=True)  # noqa: S602
    assert project.tip() == tip
    assert task in project.ok("list")


@pytest.mark.parametrize("has_board", [True, False])
def test_a_branch_that_was_deleted_with_its_log_is_brought_back_as_it_was(
    tmp_path: Path, has_board: bool
) -> None:
    project = make_project(tmp_path)
    for title in ("One", "Two"):
        project.create(title)
    tip = project.tip()
    if not has_board:
        git("worktree", "remove", "--force", ".gitticks", at=tmp_path)
    git("update-ref", "-d", "refs/heads/gitticks/state", at=tmp_path)
    assert not (tmp_path / ".git/logs/refs/heads/gitticks/state").exists()
    for command in ("list", "init"):
        ran = gt(command, at=tmp_path)
        assert ran.code == 1
        assert "the board has seen it" in ran.err
        assert f"`git update-ref refs/heads/gitticks/state {tip}` restores it" in ran.err


def test_a_branch_whose_making_was_killed_between_log_and_ref_is_begun_by_init(tmp_path: Path) -> None:
    made = make_project(tmp_path / "made")
    log = (made.path / ".git/logs/refs/heads/gitticks/state").read_text()
    killed = make_repository(tmp_path / "killed")
    git("fetch", "--quiet", str(made.path), "gitticks/state", at=killed)  # the commit itself was written
    (killed / ".git/logs/refs/heads/gitticks").mkdir(parents=True)
    (killed / ".git/logs/refs/heads/gitticks/state").write_text(log)
    with pytest.raises(NotFoundError, match="no tasks yet"):
        state_tip(discover(killed))
    assert gt("init", at=killed).code == 0
    assert gt("create", "Say hello", at=killed).code == 0


def test_files_are_gathered_by_their_number(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    make_task(store, id=K7F2)
    assert read_rounds(store.repository, store.tip(), K7F2) == ()
    folder = rounds_folder(K7F2)
    write_files(
        store,
        {
            f"{folder}/02-handoff.md": b"second\n",
            f"{folder}/01-handoff.md": b"first",
            f"{folder}/01-review.md": b"FAIL\n\nno \xff tests",
            f"{folder}/01-review-tests.md": b"VERDICT: BLOCKING",
            f"{folder}/100-review.md": b"late",
            f"{folder}/notes.txt": b"foreign",
            f"{folder}/x1-review.md": b"foreign",
            f"{folder}/03/handoff.md": b"foreign",
        },
    )
    first, second, late = read_rounds(store.repository, store.tip(), K7F2)
    assert first == Round(
        1, {"handoff": "first", "review": "FAIL\n\nno \ufffd tests", "review-tests": "VERDICT: BLOCKING"}
    )
    assert (second.handoff, second.review) == ("second", None)
    assert (late.number, late.handoff, late.review) == (100, None, "late")
