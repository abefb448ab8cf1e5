"""Uncommitted work in a shared workspace: put aside while its task waits, and brought back."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from gitticks.errors import GitticksError
from gitticks.git.checkouts import checkout_at
from gitticks.git.repository import Repository
from gitticks.model.status import Awaiting, Status
from gitticks.runner import partial_work, workspaces
from gitticks.runner.workspaces import Workspace
from tests.support.repositories import commit_file, git, make_repository
from tests.support.workspaces import (
    FIRST,
    SECOND,
    prepared,
    repository,
    status,
    top,
)

__all__ = ["repository"]


def dirty(workspace: Workspace) -> None:
    (workspace.path / "README.md").write_bytes(b"changed\r\nbytes \xff\n")
    (workspace.path / "new").mkdir()
    (workspace.path / "new" / "run.sh").write_text("#!/bin/sh\n")
    (workspace.path / "new" / "run.sh").chmod(0o755)
    (workspace.path / "link").symlink_to("README.md")
    (workspace.path / "staged.txt").write_text("staged\n")
    git("add", "staged.txt", at=workspace.path)
    (workspace.path / "tracked.txt").unlink()


def assert_dirty(workspace: Workspace) -> None:
    assert (workspace.path / "README.md").read_bytes() == b"changed\r\nbytes \xff\n"
    assert os.access(workspace.path / "new" / "run.sh", os.X_OK)
    assert (workspace.path / "link").readlink() == Path("README.md")
    assert (workspace.path / "staged.txt").read_text() == "staged\n"
    assert not (workspace.path / "tracked.txt").exists()


def test_the_end_of_a_review_leaves_the_work_of_who_moved_in_meanwhile(repository: Repository) -> None:
    one = prepared(repository, FIRST)
    two = prepared(repository, SECOND)
    (two.path / "half.txt").write_text("half\n")
    workspaces.settle(repository, one, replace(FIRST, status=Status.REVIEWING, awaiting=Awaiting.REVIEW))
    assert (two.path / "half.txt").read_text() == "half\n"
    assert git("for-each-ref", "refs/gitticks/partial", at=top(repository)) == ""


def test_partial_work_waits_under_a_ref_and_comes_back(repository: Repository) -> None:
    commit_file(top(repository), "tracked.txt", "t\n")
    commit_file(top(repository), ".gitattributes", "* text=auto\n")
    one = prepared(repository, FIRST)
    dirty(one)
    workspaces.settle(repository, one, replace(FIRST, status=Status.WORKING))
    assert_dirty(one)
    workspaces.settle(repository, one, replace(FIRST, status=Status.CLARIFICATION, awaiting=Awaiting.INPUT))
    assert status(one) == ""
    two = prepared(repository, SECOND)
    assert status(two) == ""
    commit_file(two.path, "b.txt", "b\n")
    one = prepared(repository, FIRST)
    assert_dirty(one)
    assert one.warnings == ()
    assert git("for-each-ref", "refs/gitticks", at=top(repository)) == ""


def test_partial_work_of_a_dead_session_is_put_aside_for_the_next_task(repository: Repository) -> None:
    one = prepared(repository, FIRST)
    (one.path / "half.txt").write_text("half\n")
    two = prepared(repository, SECOND)
    assert status(two) == ""
    assert git("show", "refs/gitticks/partial/aaaa:half.txt", at=top(repository)) == "half"


def test_partial_work_that_conflicts_stays_under_its_ref(repository: Repository) -> None:
    one = prepared(repository, FIRST)
    (one.path / "README.md").write_text("mine\n")
    (one.path / "both.txt").write_text("mine\n")
    two = prepared(repository, SECOND)
    commit_file(two.path, "README.md", "theirs\n")
    commit_file(two.path, "both.txt", "theirs\n")
    one = prepared(repository, FIRST)
    assert status(one) == ""
    assert "`README.md`, `both.txt`" in one.warnings[0]
    assert git("show", "refs/gitticks/partial/aaaa:README.md", at=top(repository)) == "mine"


def test_partial_work_is_joined_with_what_was_committed_meanwhile(repository: Repository) -> None:
    lines = [f"line {number}\n" for number in range(20)]
    commit_file(top(repository), "long.txt", "".join(lines))
    one = prepared(repository, FIRST)
    (one.path / "long.txt").write_text("".join(["first\n", *lines[1:]]))
    two = prepared(repository, SECOND)
    commit_file(two.path, "long.txt", "".join([*lines[:-1], "last\n"]))
    one = prepared(repository, FIRST)
    assert (one.path / "long.txt").read_text() == "".join(["first\n", *lines[1:-1], "last\n"])


def test_another_repository_inside_is_never_cleared_away(repository: Repository) -> None:
    one = prepared(repository, FIRST)
    make_repository(one.path / "nested")
    with pytest.raises(GitticksError, match="`nested/`"):
        prepared(repository, SECOND)
    assert (one.path / "nested" / "README.md").exists()


# --- the user's own checkout -----------------------------------------------------------------------------------------


def test_work_kept_under_one_ref_at_the_same_time_is_all_kept(repository: Repository) -> None:
    ref, names = partial_work.rescued_ref("review-k7f2"), ["a", "b", "c", "d"]
    for name in names:
        git("worktree", "add", "--detach", f"../{name}", at=top(repository))
        (top(repository).parent / name / "README.md").write_text(f"by {name}\n")

    def keep(name: str) -> None:
        checkout = checkout_at(repository, top(repository).parent / name)
        partial_work.keep(repository, checkout, ref, f"Left by {name}")

    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(keep, names))
    kept = git("log", "--format=%s", ref, "--not", "main", at=top(repository))
    assert sorted(kept.splitlines()) == [f"Left by {name}" for name in names]
