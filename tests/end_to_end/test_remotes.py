"""Tasks shared over a network: git's own protocol and http, with a password, without the right one, with nobody there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import pytest

from tests.support.clones import Clone
from tests.support.git_servers import PASSWORD, USER, git_daemon, http_server
from tests.support.projects import Project, make_project
from tests.support.repositories import fsck_problems, git, make_repository
from tests.support.tasks import task_ids


class Serve(Protocol):
    def __call__(self, folder: Path) -> AbstractContextManager[str]: ...


@pytest.fixture
def first(tmp_path: Path) -> Project:
    """A clone whose tasks nobody shared yet; its remote, `served/team.git`, has only the code."""
    project = make_project(tmp_path / "first")
    git(
        "clone",
        "--quiet",
        "--bare",
        "--single-branch",
        "--branch",
        "main",
        str(project.path),
        str(served(tmp_path)),
        at=tmp_path,
    )
    git("config", "http.receivepack", "true", at=served(tmp_path))
    return project


def served(folder: Path) -> Path:
    return folder / "served" / "team.git"


def clone_of(address: str, path: Path) -> Clone:
    git("clone", "--quiet", address, str(path), at=path.parent)
    return Clone(path)


@pytest.mark.parametrize("serve", [git_daemon, http_server])
def test_two_clones_share_tasks(tmp_path: Path, first: Project, serve: Serve) -> None:
    with serve(tmp_path / "served") as address:
        git("remote", "add", "origin", f"{address}/team.git", at=first.path)
        task = first.create()
        assert "sent to origin: 1 task" in first.ok("sync")
        second = clone_of(f"{address}/team.git", tmp_path / "second")
        assert "fetched branch gitticks/state from origin" in second.ok("init")
        second.ok("note", task, "from the second")
        first.ok("note", task, "from the first")
        for clone in (second, first, second):
            clone.ok("sync")
        assert first.ok("sync") == second.ok("sync") == "up to date with origin\n"
    assert first.tip() == second.tip() == git("rev-parse", "gitticks/state", at=served(tmp_path))
    assert sorted(first.notes(task)) == ["from the first", "from the second"]
    assert fsck_problems(served(tmp_path)) == ""
    ran = first.gt("sync")
    assert ran.code == 0
    assert "origin cannot be reached; your tasks are safe here" in ran.out
    assert "git says: " in ran.err


def test_a_server_that_takes_no_push_says_so(tmp_path: Path, first: Project) -> None:
    task = first.create()
    with git_daemon(tmp_path / "served", may_push=False) as address:
        git("remote", "add", "origin", f"{address}/team.git", at=first.path)
        ran = first.gt("sync")
    assert ran.code in (0, 3), ran.seen
    assert "origin" in ran.out + ran.err
    assert first.task(task).id == task


@pytest.fixture
def closed(tmp_path: Path, first: Project) -> Iterator[str]:
    """The address of the remote behind a password."""
    with http_server(tmp_path / "served", asks_password=True) as address:
        git("remote", "add", "origin", f"{address}/team.git", at=first.path)
        yield address


@pytest.mark.parametrize("who", ["", f"{USER}:wrong@"])
def test_whoever_has_no_right_password_is_told(tmp_path: Path, first: Project, closed: str, who: str) -> None:
    address = closed.replace("://", f"://{who}")
    git("remote", "set-url", "origin", f"{address}/team.git", at=first.path)
    task, tip = first.create(), first.tip()
    ran = first.gt("sync")
    assert ran.code == 3
    assert "the tasks of `origin` could not be fetched: " in ran.err
    assert "Authentication failed" in ran.err or "could not read Username" in ran.err
    assert "wrong" not in ran.err
    assert first.tip() == tip
    assert first.task(task).id == task


def test_the_right_password_lets_in_and_is_never_shown(tmp_path: Path, first: Project, closed: str) -> None:
    address = closed.replace("://", f"://{USER}:{PASSWORD}@")
    git("remote", "set-url", "origin", f"{address}/team.git", at=first.path)
    first.create()
    ran = first.gt("sync")
    assert "sent to origin: 1 task" in ran.out
    assert PASSWORD not in ran.out + ran.err


def test_a_password_that_a_helper_knows_lets_in(tmp_path: Path, first: Project, closed: str) -> None:
    helper = f"!f() {{ echo username={USER}; echo password={PASSWORD}; }}; f"
    git("config", "--global", "credential.helper", helper, at=first.path)
    first.create()
    assert "sent to origin: 1 task" in first.ok("sync")


def test_beginning_where_the_password_is_wrong_says_so_and_is_joined_later(
    tmp_path: Path, first: Project, closed: str
) -> None:
    right = closed.replace("://", f"://{USER}:{PASSWORD}@")
    git("remote", "set-url", "origin", f"{right}/team.git", at=first.path)
    there = first.create("There before")
    first.ok("sync")
    second = Project(make_repository(tmp_path / "second"))
    git("remote", "add", "origin", f"{closed}/team.git", at=second.path)
    ran = second.gt("init")
    assert ran.code == 0
    assert "warning: origin refused to say whether it has tasks" in ran.err
    assert "`gt sync` merges them with yours once it can be reached" in ran.err
    here = second.create("Made meanwhile")
    git("remote", "set-url", "origin", f"{right}/team.git", at=second.path)
    second.ok("sync")
    first.ok("sync")
    assert first.tip() == second.tip()
    assert {here, there} == set(task_ids(second.store))
    second.ok("doctor")
