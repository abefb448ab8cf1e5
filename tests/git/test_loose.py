"""Loose objects: the same as git's, synced when asked, and never taken for stored when they are torn."""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from gitticks.git import loose
from gitticks.git.loose import (
    LostObjectError,
    Written,
    discard_objects,
    store_object,
    sync_objects,
)
from tests.support.repositories import fsck_problems, git, make_repository


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "r")


@pytest.fixture
def folder(top: Path) -> Path:
    return top / ".git" / "objects"


def place(folder: Path, object_id: str) -> Path:
    return folder / object_id[:2] / object_id[2:]


def nowhere(_object_id: str) -> bool:
    return False


@pytest.mark.parametrize("content", [b"", b"a\n", b"\0\xff" * 100_000])
def test_git_reads_what_is_stored(top: Path, folder: Path, content: bytes) -> None:
    written = Written()
    stored = store_object(folder, "blob", content, written)
    assert git("cat-file", "-s", stored, at=top) == str(len(content))
    assert written.ids == (stored,)
    assert stat.S_IMODE(place(folder, stored).stat().st_mode) & 0o222 == 0
    assert fsck_problems(top) == ""


def test_what_lies_there_is_found_and_kept_young(folder: Path) -> None:
    first, second = Written(), Written()
    stored = store_object(folder, "blob", b"once", first)
    os.utime(place(folder, stored), (1_000_000_000, 1_000_000_000))
    assert store_object(folder, "blob", b"once", second) == stored
    assert (tuple(first.new), tuple(second.new), tuple(second.found)) == ((stored,), (), (stored,))
    assert place(folder, stored).stat().st_mtime > 1_000_000_000


@pytest.mark.parametrize("torn", [b"", b"x\x01", b"not packed at all", zlib.compress(b"blob 5\0other")])
def test_a_torn_object_is_written_again(top: Path, folder: Path, torn: bytes) -> None:
    stored = store_object(folder, "blob", b"whole", Written())
    place(folder, stored).chmod(0o644)
    place(folder, stored).write_bytes(torn)
    written = Written()
    store_object(folder, "blob", b"whole", written)
    assert tuple(written.new) == (stored,)
    assert git("cat-file", "blob", stored, at=top) == "whole"


def test_nothing_is_left_of_what_cannot_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int, _content: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            store_object(folder, "blob", b"too much", Written())
    assert list(folder.rglob("tmp_obj_*")) == []


def test_a_removed_object_is_missed(folder: Path) -> None:
    stored = store_object(folder, "blob", b"gone", Written())
    sync_objects(folder, [stored], nowhere)
    discard_objects(folder, [stored])
    sync_objects(folder, [stored], lambda _object_id: True)
    with pytest.raises(LostObjectError, match="was removed"):
        sync_objects(folder, [stored], nowhere)


def test_an_object_its_name_and_its_folders_name_are_synced_together(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[set[str], set[str]]] = []

    def sync(files: Sequence[str], folders: Sequence[str]) -> None:
        synced.append((set(files), set(folders)))

    monkeypatch.setattr(loose, "sync_files", sync)
    stored = [place(folder, store_object(folder, "blob", b"%d" % number, Written())) for number in range(3)]
    sync_objects(folder, [file.parent.name + file.name for file in stored], nowhere)
    assert synced == [({*map(str, stored)}, {str(folder), *(str(file.parent) for file in stored)})]
