"""Locks of the kernel."""

from __future__ import annotations

import fcntl
from pathlib import Path

from gitticks.flocks import is_lock_held


def test_a_lock_is_held_by_whoever_holds_its_flock(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    assert not is_lock_held(lock)
    with lock.open("w") as file:
        assert not is_lock_held(lock)
        fcntl.flock(file, fcntl.LOCK_EX)
        assert is_lock_held(lock)
    assert not is_lock_held(lock)
