from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from gitticks.errors import GitticksError
from gitticks.git.objects import failures
from gitticks.git.objects.failures import TooLargeError
from gitticks.git.objects.libgit2 import read_loose
from tests.git.objects.conftest import OpenObjects
from tests.support.repositories import commit_file, git, loose_file, make_repository


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Returns a repository with a file of many parts."""
    top = make_repository(tmp_path / "r")
    commit_file(top, "a.txt", "".join(f"line {number}\n" for number in range(3000)))
    return top


def file_of(top: Path, revision: str) -> Path:
    name = git("rev-parse", revision, at=top)
    file = loose_file(top / ".git", name)
    file.chmod(0o644)
    return file


@pytest.mark.parametrize("revision", ["HEAD", "HEAD^{tree}", "HEAD:a.txt"])
def test_reads_what_git_wrote(top: Path, revision: str) -> None:
    found = read_loose(top / ".git/objects", git("rev-parse", revision, at=top))
    assert found is not None
    kind, content = found
    assert kind == git("cat-file", "-t", revision, at=top)
    assert len(content) == int(git("cat-file", "-s", revision, at=top))


def test_what_is_packed_or_missing_has_no_file(top: Path) -> None:
    name = git("rev-parse", "HEAD", at=top)
    git("repack", "-adq", at=top)
    assert read_loose(top / ".git/objects", name) is None
    assert read_loose(top / ".git/objects", "ff" * 20) is None


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def emptied(file: Path) -> None:
    os.truncate(file, 0)


def garbled(file: Path) -> None:
    file.write_bytes(b"garbage" * 10)


def swapped(file: Path) -> None:
    file.write_bytes(zlib.compress(b"blob 1\0x"))


def piped(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


@pytest.mark.parametrize("damage", [cut, emptied, garbled, swapped])
@pytest.mark.parametrize("revision", ["HEAD", "HEAD^{tree}", "HEAD:a.txt"])
def test_damage_is_an_error_and_never_waited_for(
    top: Path, opened: OpenObjects, revision: str, damage: Callable[[Path], None]
) -> None:
    commit, blob = git("rev-parse", "HEAD", at=top), git("rev-parse", "HEAD:a.txt", at=top)
    damage(file_of(top, revision))
    objects = opened(top)
    with pytest.raises(GitticksError, match="cannot be read"):
        objects.find(objects.tree_of(commit), "a.txt") and objects.read_blob(blob)


def test_a_pipe_is_not_waited_for(top: Path) -> None:
    file = file_of(top, "HEAD")
    piped(file)
    with pytest.raises(OSError, match="not a regular file"):
        read_loose(top / ".git/objects", file.parent.name + file.name)


def test_an_object_that_is_longer_than_it_says(tmp_path: Path) -> None:
    lying = b"blob 12\0" + b"x" * 60
    name = hashlib.sha1(lying, usedforsecurity=False).hexdigest()
    (tmp_path / name[:2]).mkdir()
    (tmp_path / name[:2] / name[2:]).write_bytes(zlib.compress(lying))
    with pytest.raises(ValueError, match="wrong size"):
        read_loose(tmp_path, name)


@pytest.mark.parametrize("how", ["loose", "packed", "as a difference"])
def test_what_is_too_large_is_not_read(
    top: Path, opened: OpenObjects, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(failures, "MOST_BYTES", 40_000)
    small = git("rev-parse", "HEAD:a.txt", at=top)
    text = (top / "a.txt").read_text()
    for number in range(2):
        commit_file(top, "a.txt", f"{text * 2}{number}\n")
    if how != "loose":
        git("repack", "-adq", at=top)
    objects = opened(top)
    large = git("rev-parse", "HEAD~1:a.txt" if how == "as a difference" else "HEAD:a.txt", at=top)
    assert objects.read_blob(small) == text.encode()
    assert objects.read_blobs([small, large]) == {}
    with pytest.raises(TooLargeError, match=f"the object `{large}` is larger than") as told:
        objects.read_blob(large)
    assert told.value.hint == f"`git log --all --find-object={large}` shows where it came from"
