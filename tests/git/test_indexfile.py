"""Single entries of an index."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from gitticks.git.indexfile import (
    IndexEntry,
    hold_index_lock,
    index_aside,
    read_entries,
    write_entries,
)
from tests.support.repositories import commit_file, git, make_repository, run_git_command

COMMIT = "0" * 40
NAME = "ü [x] *.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_repository(tmp_path / "project")
    commit_file(root, NAME, "one\n")
    return root


def test_reads_literal_paths_with_all_stages(root: Path) -> None:
    blob = git("hash-object", NAME, at=root)
    found = read_entries(root / ".git", [NAME, "missing", "*"])
    assert found == {NAME: {0: IndexEntry(NAME, blob)}}
    assert read_entries(root / ".git", []) == {}


def test_changes_adds_and_removes_entries(root: Path) -> None:
    blob = git("hash-object", "-w", "--stdin", at=root, input="new\n")
    (root / NAME).write_text("new\n")
    (root / "b").write_text("new\n")
    write_entries(
        root / ".git", {NAME: [IndexEntry(NAME, blob)], "b": [IndexEntry("b", blob)], "README.md": []}, COMMIT
    )
    assert git("status", "--porcelain", "-z", at=root).split("\0") == [
        "D  README.md",
        "A  b",
        f"M  {NAME}",
        "?? README.md",
        "",
    ]


def test_writes_conflicts(root: Path) -> None:
    blob = git("hash-object", NAME, at=root)
    write_entries(root / ".git", {NAME: [IndexEntry(NAME, blob, stage) for stage in (1, 2, 3)]}, COMMIT)
    assert set(read_entries(root / ".git", [NAME])[NAME]) == {1, 2, 3}
    write_entries(root / ".git", {NAME: [IndexEntry(NAME, blob)]}, COMMIT)
    assert set(read_entries(root / ".git", [NAME])[NAME]) == {0}


def test_an_index_in_another_form_is_gits(root: Path) -> None:
    git("update-index", "--index-version", "4", at=root)
    blob = git("hash-object", NAME, at=root)
    write_entries(root / ".git", {"b": [IndexEntry("b", blob)]}, COMMIT)
    assert read_entries(root / ".git", ["b", "missing"]) == {"b": {0: IndexEntry("b", blob)}}
    assert not list((root / ".git").glob("gitticks-index*"))


def test_more_paths_are_asked_for_than_a_command_may_name(root: Path) -> None:
    git("update-index", "--index-version", "4", at=root)
    paths = [f"{'folder/' * 30}{number}" for number in range(20_000)]
    assert read_entries(root / ".git", [*paths, NAME]).keys() == {NAME}


def test_a_failure_changes_nothing_and_leftovers_are_no_obstacle(root: Path) -> None:
    (root / ".git" / "gitticks-index.lock").write_bytes(b"")
    (root / ".git" / "gitticks-index").write_bytes(b"torn")
    before = (root / ".git" / "index").read_bytes()
    with pytest.raises(ZeroDivisionError), index_aside(root / ".git") as aside:  # noqa: PT012
        git("rm", "-q", "--cached", "README.md", at=root, environment={"GIT_INDEX_FILE": str(aside)})
        raise ZeroDivisionError
    assert (root / ".git" / "index").read_bytes() == before
    write_entries(root / ".git", {"README.md": []}, COMMIT)
    assert read_entries(root / ".git", ["README.md"]) == {}
    assert not list((root / ".git").glob("gitticks-index*"))


@pytest.mark.parametrize("version", ["2", "4"])
def test_an_equally_long_change_in_the_second_of_the_index_stays_to_be_seen(root: Path, version: str) -> None:
    file, index = root / NAME, root / ".git" / "index"
    git("update-index", "--index-version", version, at=root)
    git("config", "core.trustCTime", "false", at=root)  # only the other time can be set
    file.write_text("one\n")
    os.utime(file, (1e9, 1e9))
    blob = git("hash-object", "-w", NAME, at=root)
    write_entries(root / ".git", {NAME: [IndexEntry(NAME, blob)]}, COMMIT)
    if version == "4":
        git("update-index", "-q", "--refresh", at=root)
    file.write_text("two\n")
    for path in (file, index):
        os.utime(path, (1e9, 1e9))
    write_entries(root / ".git", {"README.md": []}, COMMIT)
    assert git("diff-files", "--name-only", "-z", at=root) == f"{NAME}\0"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "project")


def test_keeps_git_out_and_lets_it_in_again(top: Path) -> None:
    (top / "x").write_text("x")
    with hold_index_lock(top / ".git") as is_held:
        assert is_held
        assert run_git_command("add", "x", at=top).returncode == 128
    assert run_git_command("add", "x", at=top).returncode == 0
    assert not list((top / ".git").glob("gitticks-index-lock*"))


def test_what_a_killed_holder_left_is_cleared(top: Path) -> None:
    prepared = top / ".git" / "gitticks-index-lock"
    prepared.write_bytes(b"gitticks 1\n")
    (top / ".git" / "index.lock").hardlink_to(prepared)
    with hold_index_lock(top / ".git") as is_held:
        assert is_held
        assert (top / ".git" / "index.lock").read_bytes() == b"gitticks %d\n" % os.getpid()
    assert not [path.name for path in (top / ".git").glob("*lock*")]


def test_a_leftover_of_ours_is_taken_over(top: Path) -> None:
    (top / ".git" / "index.lock").write_bytes(b"gitticks 1\n")
    with hold_index_lock(top / ".git") as is_held:
        assert is_held
    assert not (top / ".git" / "index.lock").exists()


@pytest.mark.parametrize("content", [b"", b"DIRC and more"])
def test_a_foreign_lock_is_respected(top: Path, content: bytes) -> None:
    lock = top / ".git" / "index.lock"
    lock.write_bytes(content)
    with hold_index_lock(top / ".git", wait_seconds=0.02) as is_held:
        assert not is_held
    assert lock.read_bytes() == content


def test_an_old_foreign_lock_is_not_waited_for(top: Path) -> None:
    lock = top / ".git" / "index.lock"
    lock.write_bytes(b"")
    os.utime(lock, (0, 0))
    with hold_index_lock(top / ".git", wait_seconds=3600) as is_held:
        assert not is_held


def test_a_lock_that_somebody_else_took_meanwhile_is_theirs(top: Path) -> None:
    lock = top / ".git" / "index.lock"
    with hold_index_lock(top / ".git"):
        lock.unlink()
        lock.write_bytes(b"")
    assert lock.exists()


def test_a_process_that_can_open_no_more_files_lets_go_all_the_same(top: Path) -> None:
    lock = top / ".git" / "index.lock"
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        with hold_index_lock(top / ".git") as is_held:
            assert is_held
            resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
            with pytest.raises(OSError, match="Too many open files"):
                lock.read_bytes()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert not lock.exists()
