"""Locks that were left behind, and who holds ours."""

from __future__ import annotations

import os
import time
from pathlib import Path

from gitticks.git.lockfiles import clear_ref_locks, holder_of, index_lock, ref_locks
from gitticks.git.locks import hold_lock
from gitticks.git.repository import discover
from tests.support.repositories import make_repository
from tests.support.waiting import LONGEST_SECONDS


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
    assert [lock.path for lock in clear_ref_locks(repository)] == [odd]
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
