"""Compare-and-swap of refs, alone and against other processes."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from gitticks.errors import Exit, GitticksError
from gitticks.git.identity import Identity
from gitticks.git.objects import Objects
from gitticks.git.objects.failures import RefLockedError, RefMovedError
from gitticks.git.refs import read_ref
from tests.git.objects.conftest import OpenObjects
from tests.support.hints import follow_hint
from tests.support.repositories import git, make_repository

CLAIM = "refs/gitticks/claims/k7f2"
ADA = Identity("Ada Lovelace", "ada@example.org")


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "r", commits=3)


@pytest.fixture
def objects(top: Path, opened: OpenObjects) -> Objects:
    return opened(top)


@pytest.fixture
def commits(top: Path) -> list[str]:
    """The commits, the oldest first."""
    return git("rev-list", "--reverse", "HEAD", at=top).split()


@pytest.mark.parametrize("packed", [False, True])
def test_a_ref_is_made_moved_and_removed(
    top: Path, objects: Objects, commits: list[str], packed: bool
) -> None:
    first, second, _ = commits
    objects.move_ref(CLAIM, None, first, "take")
    if packed:
        git("pack-refs", "--all", at=top)
    objects.move_ref(CLAIM, first, second, "renew")
    assert read_ref(top / ".git", CLAIM) == second
    if packed:
        git("pack-refs", "--all", at=top)
    objects.move_ref(CLAIM, second, None, "release")
    assert git("for-each-ref", "refs/gitticks", at=top) == ""
    objects.move_ref(CLAIM, None, None, "release again")


def test_nothing_moves_from_another_value(top: Path, objects: Objects, commits: list[str]) -> None:
    first, second, third = commits
    objects.move_ref(CLAIM, None, first, "take")
    for old, new in ((None, second), (second, third), (second, None)):
        with pytest.raises(RefMovedError, match="was moved by another program") as caught:
            objects.move_ref(CLAIM, old, new, "steal")
        assert caught.value.exit_code is Exit.LOST_RACE
    with pytest.raises(RefMovedError):
        objects.move_ref("refs/gitticks/claims/none", first, second, "not there")
    assert read_ref(top / ".git", CLAIM) == first


def test_a_move_made_by_git_is_seen(top: Path, objects: Objects, commits: list[str]) -> None:
    first, second, third = commits
    objects.move_ref(CLAIM, None, first, "take")
    git("update-ref", CLAIM, second, at=top)
    with pytest.raises(RefMovedError):
        objects.move_ref(CLAIM, first, third, "late")
    objects.move_ref(CLAIM, second, third, "in time")


def test_a_branch_has_its_reflog(top: Path, objects: Objects, commits: list[str]) -> None:
    objects.move_ref("refs/heads/side", None, commits[0], "begin")
    objects.move_ref("refs/heads/side", commits[0], commits[1], "gitticks: k7f2 created", who=ADA)
    assert git("reflog", "-1", "--format=%gs|%gn <%ge>", "side", at=top) == (
        "gitticks: k7f2 created|Ada Lovelace <ada@example.org>"
    )


def test_a_locked_ref_is_said_so(top: Path, objects: Objects, commits: list[str]) -> None:
    objects.move_ref(CLAIM, None, commits[0], "take")
    lock = top / ".git" / f"{CLAIM}.lock"
    lock.touch()
    with pytest.raises(RefLockedError, match="is locked by another program") as caught:
        objects.move_ref(CLAIM, commits[0], commits[1], "renew")
    follow_hint(caught.value, at=top)
    assert not lock.exists()


def test_names_in_the_way_are_an_error(objects: Objects, commits: list[str]) -> None:
    with pytest.raises(GitticksError, match=r"git cannot (write to|make a branch below)"):
        objects.move_ref("refs/heads/main/under", None, commits[0], "x")


def test_a_symbolic_ref_is_left_alone(top: Path, objects: Objects, commits: list[str]) -> None:
    git("symbolic-ref", "refs/heads/also", "refs/heads/main", at=top)
    with pytest.raises(GitticksError, match="`refs/heads/also` is a symbolic ref"):
        objects.move_ref("refs/heads/also", commits[2], commits[0], "x")


MOVE_OFTEN = """\
import sys
from pathlib import Path
from gitticks.git.objects import open_objects
from gitticks.git.objects.failures import RefLockedError, RefMovedError
from gitticks.git.refs import read_ref
top, rounds, commits = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
objects, done = open_objects(top / ".git"), 0
while done < rounds:
    old = read_ref(top / ".git", "refs/heads/counted")
    place = commits.index(old)
    try:
        objects.move_ref("refs/heads/counted", old, commits[place + 1], "count")
    except (RefMovedError, RefLockedError):
        continue
    done += 1
"""


def test_no_move_of_two_processes_is_lost(top: Path, opened: OpenObjects) -> None:
    rounds = 15
    names = random.Random(1).sample(range(1000), 2 * rounds + 1)
    commits = [git("commit-tree", "HEAD^{tree}", "-m", str(name), at=top) for name in names]
    git("update-ref", "refs/heads/counted", commits[0], at=top)
    command = [sys.executable, "-c", MOVE_OFTEN, str(top), str(rounds), *commits]
    movers = [subprocess.Popen(command) for _ in range(2)]
    assert [mover.wait() for mover in movers] == [0, 0]
    assert read_ref(top / ".git", "refs/heads/counted") == commits[-1]
