"""Locks that were left behind, and who holds ours."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitticks.git import locks
from gitticks.git.checkouts import Checkout, checkout_at
from gitticks.git.locks import clear_abandoned_locks, clear_shared_locks, hold_lock
from gitticks.git.maintenance import clear_ref_locks, holder_of, index_lock, ref_locks
from gitticks.git.repository import discover
from tests.support.repositories import add_linked_worktree, git, make_repository
from tests.support.waiting import LONGEST_SECONDS

NAMES = ("index.lock", "HEAD.lock", "config.worktree.lock", "refs/heads/main.lock")


def plant(file: Path, age_seconds: float, content: bytes = b"") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    then = time.time() - age_seconds
    os.utime(file, (then, then))
    return file


def test_locks_of_our_refs_are_found_and_the_stale_ones_cleared(tmp_path: Path) -> None:
    git_dir = make_repository(tmp_path) / ".git"
    old = plant(git_dir / "refs/heads/gitticks/state.lock", 3600)
    claim = plant(git_dir / "refs/gitticks/claims/k7f2.lock", 3600)
    odd = plant(git_dir / "refs/gitticks/claims/m3xq.lock", 3600, b"no lock of git's")
    plant(git_dir / "refs/heads/main.lock", 3600)
    repository = discover(tmp_path)
    found = ref_locks(repository)
    assert [lock.ref for lock in found] == [
        "refs/heads/gitticks/state",
        "refs/gitticks/claims/k7f2",
        "refs/gitticks/claims/m3xq",
    ]
    assert all(lock.is_old and lock.taker is None for lock in found)
    clear_ref_locks(repository)
    assert [lock.path for lock in ref_locks(repository)] == [odd]
    assert not old.exists()
    assert not claim.exists()


def test_the_lock_of_an_index_names_its_taker_if_it_is_ours(tmp_path: Path) -> None:
    git_dir = make_repository(tmp_path) / ".git"
    assert index_lock(git_dir) is None
    plant(git_dir / "index.lock", 3)
    lock = index_lock(git_dir)
    assert lock is not None
    assert (lock.taker, lock.is_old, lock.ref) == (None, False, None)
    plant(git_dir / "index.lock", 60, b"gitticks 4242\n")
    lock = index_lock(git_dir)
    assert lock is not None
    assert (lock.taker, lock.is_old) == (4242, True)


def test_who_holds_a_lock_of_ours(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    assert holder_of(lock) is None
    with hold_lock(lock):
        holder = holder_of(lock)
        assert holder is not None
        assert holder.pid == os.getpid()
        assert holder.seconds < LONGEST_SECONDS
    assert holder_of(lock) is None


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
    monkeypatch.setattr("gitticks.git.locks.AGE_SECONDS", -1.0)
    with living_git(checkout.path, checkout.path):
        lock.write_bytes(b"")
        assert clear_abandoned_locks(linked, "side", wait_seconds=0) == ()
    assert not lock.exists()


def test_an_old_lock_stays_for_a_git_in_that_checkout(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = checkout.git_dir / "index.lock"
    monkeypatch.setattr("gitticks.git.locks.AGE_SECONDS", -1.0)
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
    monkeypatch.setattr("gitticks.git.locks.start_times", lambda *_, **__: [later])
    assert clear_abandoned_locks(checkout, "main", wait_seconds=0.0) == ()
    git("add", "README.md", at=checkout.path)


def test_a_checkout_without_locks_is_left_at_once(checkout: Checkout) -> None:
    assert clear_abandoned_locks(checkout, "main", wait_seconds=0.0) == ()


def test_a_shared_lock_is_removed_once_no_program_can_have_it(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = checkout.common_dir / "packed-refs.lock"
    lock.write_bytes(b"")
    with monkeypatch.context() as patched:
        patched.setattr(locks, "_OTHERS_SECONDS", LONGEST_SECONDS)
        assert clear_shared_locks(checkout.common_dir, "packed-refs", wait_seconds=0.0) == (lock,)
    assert clear_shared_locks(checkout.common_dir, "packed-refs", wait_seconds=LONGEST_SECONDS) == ()
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
        monkeypatch.setattr(locks, "start_times", lambda *_, **__: None)
        return []

    monkeypatch.setattr(locks, "start_times", meanwhile)
    assert clear_abandoned_locks(checkout, "main", wait_seconds=0) == (lock,)
    assert lock.exists()
