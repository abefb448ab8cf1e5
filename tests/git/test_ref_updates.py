"""Compare-and-swap of refs, alone and against other processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.errors import Exit, GitticksError
from gitticks.git.objects import Objects
from gitticks.git.ref_updates import RefLockedError, RefMovedError, compare_and_swap_ref
from gitticks.git.refs import read_ref
from gitticks.git.repository import discover
from tests.support.hints import follow_hint
from tests.support.repositories import git, make_repository

CLAIM = "refs/gitticks/claims/k7f2"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "r", commits=3)


@pytest.fixture
def objects(top: Path) -> Objects:
    return Objects.open(discover(top))


@pytest.fixture
def commits(top: Path) -> list[str]:
    """The commits, the oldest first."""
    return git("rev-list", "--reverse", "HEAD", at=top).split()


@pytest.mark.parametrize("packed", [False, True])
def test_a_ref_is_made_moved_and_removed(
    top: Path, objects: Objects, commits: list[str], packed: bool
) -> None:
    first, second, _ = commits
    compare_and_swap_ref(objects, CLAIM, None, first, "take")
    if packed:
        git("pack-refs", "--all", at=top)
    compare_and_swap_ref(objects, CLAIM, first, second, "renew")
    assert read_ref(top / ".git", CLAIM) == second
    if packed:
        git("pack-refs", "--all", at=top)
    compare_and_swap_ref(objects, CLAIM, second, None, "release")
    assert git("for-each-ref", "refs/gitticks", at=top) == ""
    compare_and_swap_ref(objects, CLAIM, None, None, "release again")


def test_nothing_moves_from_another_value(top: Path, objects: Objects, commits: list[str]) -> None:
    first, second, third = commits
    compare_and_swap_ref(objects, CLAIM, None, first, "take")
    for old, new in ((None, second), (second, third), (second, None)):
        with pytest.raises(RefMovedError, match="was moved by another program") as caught:
            compare_and_swap_ref(objects, CLAIM, old, new, "steal")
        assert caught.value.exit_code is Exit.LOST_RACE
    with pytest.raises(RefMovedError):
        compare_and_swap_ref(objects, "refs/gitticks/claims/none", first, second, "not there")
    assert read_ref(top / ".git", CLAIM) == first


def test_a_move_made_by_git_is_seen(top: Path, objects: Objects, commits: list[str]) -> None:
    first, second, third = commits
    compare_and_swap_ref(objects, CLAIM, None, first, "take")
    git("update-ref", CLAIM, second, at=top)
    with pytest.raises(RefMovedError):
        compare_and_swap_ref(objects, CLAIM, first, third, "late")
    compare_and_swap_ref(objects, CLAIM, second, third, "in time")


def test_a_branch_has_its_reflog(top: Path, objects: Objects, commits: list[str]) -> None:
    compare_and_swap_ref(objects, "refs/heads/side", None, commits[0], "begin")
    compare_and_swap_ref(objects, "refs/heads/side", commits[0], commits[1], "gitticks: k7f2 created")
    assert git("reflog", "-1", "--format=%gs", "side", at=top) == "gitticks: k7f2 created"


def test_a_locked_ref_is_said_so(top: Path, objects: Objects, commits: list[str]) -> None:
    compare_and_swap_ref(objects, CLAIM, None, commits[0], "take")
    lock = top / ".git" / f"{CLAIM}.lock"
    lock.touch()
    with pytest.raises(RefLockedError, match="is locked by another program") as caught:
        compare_and_swap_ref(objects, CLAIM, commits[0], commits[1], "renew")
    follow_hint(caught.value, at=top)
    assert not lock.exists()


def test_names_in_the_way_are_an_error(objects: Objects, commits: list[str]) -> None:
    with pytest.raises(GitticksError, match="git cannot write to"):
        compare_and_swap_ref(objects, "refs/heads/main/under", None, commits[0], "x")


def test_a_symbolic_ref_is_left_alone(top: Path, objects: Objects, commits: list[str]) -> None:
    git("symbolic-ref", "refs/heads/also", "refs/heads/main", at=top)
    with pytest.raises(GitticksError, match="`refs/heads/also` is a symbolic ref"):
        compare_and_swap_ref(objects, "refs/heads/also", commits[2], commits[0], "x")
