"""Git's index lock, taken by us and left by others."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from gitticks.git.indexfile import hold_index_lock
from tests.support.repositories import make_repository, run_git_command


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "project")


def test_keeps_git_out_and_lets_it_in_again(root: Path) -> None:
    (root / "x").write_text("x")
    with hold_index_lock(root / ".git") as is_held:
        assert is_held
        assert run_git_command("add", "x", at=root).returncode == 128
    assert run_git_command("add", "x", at=root).returncode == 0
    assert not list((root / ".git").glob("gitticks-index-lock*"))


def test_what_a_killed_holder_left_is_cleared(root: Path) -> None:
    prepared = root / ".git" / "gitticks-index-lock"
    prepared.write_bytes(b"gitticks 1\n")
    (root / ".git" / "index.lock").hardlink_to(prepared)
    with hold_index_lock(root / ".git") as is_held:
        assert is_held
        assert (root / ".git" / "index.lock").read_bytes() == b"gitticks %d\n" % os.getpid()
    assert not [path.name for path in (root / ".git").glob("*lock*")]


def test_a_leftover_of_ours_is_taken_over(root: Path) -> None:
    (root / ".git" / "index.lock").write_bytes(b"gitticks 1\n")
    with hold_index_lock(root / ".git") as is_held:
        assert is_held
    assert not (root / ".git" / "index.lock").exists()


@pytest.mark.parametrize("content", [b"", b"DIRC and more"])
def test_a_foreign_lock_is_respected(root: Path, content: bytes) -> None:
    lock = root / ".git" / "index.lock"
    lock.write_bytes(content)
    with hold_index_lock(root / ".git", wait_seconds=0.02) as is_held:
        assert not is_held
    assert lock.read_bytes() == content


def test_an_old_foreign_lock_is_not_waited_for(root: Path) -> None:
    lock = root / ".git" / "index.lock"
    lock.write_bytes(b"")
    os.utime(lock, (0, 0))
    with hold_index_lock(root / ".git", wait_seconds=3600) as is_held:
        assert not is_held


def test_a_lock_that_somebody_else_took_meanwhile_is_theirs(root: Path) -> None:
    lock = root / ".git" / "index.lock"
    with hold_index_lock(root / ".git"):
        lock.unlink()
        lock.write_bytes(b"")
    assert lock.exists()


def test_a_process_that_can_open_no_more_files_lets_go_all_the_same(root: Path) -> None:
    lock = root / ".git" / "index.lock"
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        with hold_index_lock(root / ".git") as is_held:
            assert is_held
            resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
            with pytest.raises(OSError, match="Too many open files"):
                lock.read_bytes()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert not lock.exists()
