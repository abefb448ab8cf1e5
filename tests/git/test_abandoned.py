"""Locks of a checkout that nobody can hold any more, and those that somebody may hold."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitticks.git import abandoned
from gitticks.git.abandoned import clear_abandoned_locks, clear_shared_locks
from gitticks.git.checkouts import Checkout, checkout_at
from gitticks.git.repository import discover
from tests.support.repositories import add_linked_worktree, git, make_repository

NAMES = ("index.lock", "HEAD.lock", "config.worktree.lock", "refs/heads/main.lock")


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    repository = discover(make_repository(tmp_path / "repo"))
    assert repository.main_worktree is not None
    return checkout_at(repository, repository.main_worktree)


def make_old(lock: Path) -> None:
    lock.write_bytes(b"")
    past = time.time() - 60
    os.utime(lock, (past, past))


@contextmanager
def living_git(repository: Path, at: Path) -> Iterator[None]:
    """Keeps a git running that is older than every lock that the test makes."""
    asked = ["git", f"--git-dir={repository / '.git'}", "cat-file", "--batch"]
    with subprocess.Popen(asked, cwd=at, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"HEAD\n")
        process.stdin.flush()
        process.stdout.readline()
        yield
        process.kill()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("age", ["young", "old"])
def test_a_lock_is_removed_though_a_git_runs_elsewhere(
    checkout: Checkout, tmp_path_factory: pytest.TempPathFactory, name: str, age: str
) -> None:
    lock = checkout.git_dir / name
    with living_git(checkout.path, tmp_path_factory.mktemp("elsewhere")):
        lock.write_bytes(b"") if age == "young" else make_old(lock)
        assert clear_abandoned_locks(checkout, "main") == ()
    assert not lock.exists()


def test_an_old_lock_is_removed_though_a_git_runs_in_another_checkout(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = add_linked_worktree(checkout.path, tmp_path / "linked", "side")
    linked = checkout_at(discover(checkout.path), folder)
    lock = linked.git_dir / "index.lock"
    monkeypatch.setattr("gitticks.git.abandoned.AGE_SECONDS", -1.0)
    with living_git(checkout.path, checkout.path):
        lock.write_bytes(b"")
        assert clear_abandoned_locks(linked, "side", wait_seconds=0) == ()
    assert not lock.exists()


def test_an_old_lock_stays_for_a_git_in_that_checkout(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = checkout.git_dir / "index.lock"
    monkeypatch.setattr("gitticks.git.abandoned.AGE_SECONDS", -1.0)
    with living_git(checkout.path, checkout.path):
        lock.write_bytes(b"")
        assert clear_abandoned_locks(checkout, "main", wait_seconds=0.0) == (lock,)
    assert clear_abandoned_locks(checkout, "main") == ()


@pytest.mark.parametrize("name", NAMES)
def test_a_young_lock_stays_for_any_git_in_the_repository(checkout: Checkout, name: str) -> None:
    lock = checkout.git_dir / name
    with living_git(checkout.path, checkout.common_dir):
        lock.write_bytes(b"")
        assert clear_abandoned_locks(checkout, "main", wait_seconds=0.0) == (lock,)
    assert lock.exists()


def test_where_no_git_is_as_old_as_the_lock_nobody_is_waited_for(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = checkout.git_dir / "index.lock"
    lock.write_bytes(b"")
    later = lock.stat().st_mtime + 5
    monkeypatch.setattr("gitticks.git.abandoned.start_times", lambda *_, **__: [later])
    assert clear_abandoned_locks(checkout, "main", wait_seconds=0.0) == ()
    git("add", "README.md", at=checkout.path)


def test_a_checkout_without_locks_is_left_at_once(checkout: Checkout) -> None:
    assert clear_abandoned_locks(checkout, "main", wait_seconds=0.0) == ()


def test_a_shared_lock_is_removed_once_no_program_can_have_it(checkout: Checkout) -> None:
    lock = checkout.common_dir / "packed-refs.lock"
    lock.write_bytes(b"")
    assert clear_shared_locks(checkout.common_dir, "packed-refs", wait_seconds=0.0) == (lock,)
    assert clear_shared_locks(checkout.common_dir, "packed-refs") == ()
    git("pack-refs", "--all", at=checkout.path)


def test_a_shared_lock_stays_for_a_git_in_any_checkout(checkout: Checkout, tmp_path: Path) -> None:
    other = add_linked_worktree(checkout.path, tmp_path / "other", "side")
    lock = checkout.common_dir / "packed-refs.lock"
    with living_git(checkout.path, other):
        make_old(lock)
        os.utime(lock)
        assert clear_shared_locks(checkout.common_dir, "packed-refs", wait_seconds=1.5) == (lock,)
    assert clear_shared_locks(checkout.common_dir, "packed-refs") == ()


def test_a_lock_that_somebody_takes_while_it_is_looked_at_stays(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = checkout.git_dir / "index.lock"
    make_old(lock)

    def meanwhile(*_: object, **__: object) -> list[float]:
        lock.rename(lock.with_suffix(".moved"))
        lock.write_bytes(b"")
        monkeypatch.setattr(abandoned, "start_times", lambda *_, **__: None)
        return []

    monkeypatch.setattr(abandoned, "start_times", meanwhile)
    assert clear_abandoned_locks(checkout, "main", wait_seconds=0) == (lock,)
    assert lock.exists()
