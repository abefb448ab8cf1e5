"""Files are brought to the disk, whichever way is taken, and a failure is never swallowed."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from gitticks.git import disk
from gitticks.git import disk as module
from gitticks.git.disk import KILOBYTES_FOR_A_SYNC, MANY_FILES, exchange, move_to_free_place, sync_files


def files_in(folder: Path, count: int) -> list[str]:
    for number in range(count):
        (folder / str(number)).write_bytes(b"%d" % number)
    return [str(folder / str(number)) for number in range(count)]


def count_syncs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    synced: list[int] = []
    real = os.fsync

    def counted(descriptor: int) -> None:
        real(descriptor)
        synced.append(descriptor)

    monkeypatch.setattr(os, "fsync", counted)
    return synced


@pytest.mark.parametrize(
    ("count", "unwritten", "syncs"),
    [
        (7, 0, 0),
        (7, 7 * KILOBYTES_FOR_A_SYNC, 8),
        (250, 249 * KILOBYTES_FOR_A_SYNC, 0),
        (250, 250 * KILOBYTES_FOR_A_SYNC, 251),
        (MANY_FILES + 1, 2 * MANY_FILES * KILOBYTES_FOR_A_SYNC, 0),
        (0, 0, 0),
    ],
)
def test_one_sync_does_for_all_where_little_else_is_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, unwritten: int, syncs: int
) -> None:
    monkeypatch.setattr(disk, "_unwritten_kilobytes", lambda: unwritten)
    synced = count_syncs(monkeypatch)
    sync_files(files_in(tmp_path, count), [str(tmp_path)] if count else [])
    assert len(synced) == syncs


@pytest.mark.parametrize("unwritten", [0, KILOBYTES_FOR_A_SYNC])
def test_a_missing_folder_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unwritten: int
) -> None:
    monkeypatch.setattr(disk, "_unwritten_kilobytes", lambda: unwritten)
    with pytest.raises(FileNotFoundError):
        sync_files(files_in(tmp_path, 1), [str(tmp_path / "missing")])


def test_a_file_system_that_cannot_be_synced_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "_unwritten_kilobytes", lambda: 0)
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: SimpleNamespace(syncfs=lambda _: -1))
    monkeypatch.setattr(ctypes, "get_errno", lambda: errno.EIO)
    with pytest.raises(OSError, match="Input/output error") as caught:
        sync_files(files_in(tmp_path, 1), [str(tmp_path)])
    assert caught.value.errno == errno.EIO


def test_what_the_kernel_tells_is_read() -> None:
    assert disk._unwritten_kilobytes() >= 0


def test_swaps_content_and_identity(tmp_path: Path) -> None:
    one, other = tmp_path / "one ü", tmp_path / "other"
    one.write_text("1")
    other.write_text("2")
    before = one.stat().st_ino
    if exchange(one, other):
        assert (one.read_text(), other.read_text(), other.stat().st_ino) == ("2", "1", before)


def test_a_missing_file_is_an_error_and_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("1")
    with pytest.raises(FileNotFoundError):
        exchange(tmp_path / "one", tmp_path / "missing")
    assert (tmp_path / "one").read_text() == "1"


@pytest.mark.parametrize("has_call", [True, False])
def test_a_file_is_moved_only_to_where_none_is(
    tmp_path: Path, has_call: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_call:
        monkeypatch.setattr(module, "load_exchange", lambda: None)
    one, other = tmp_path / "one ü", tmp_path / "other"
    one.write_text("1")
    assert move_to_free_place(one, str(other))
    assert other.read_text() == "1"
    one.unlink(missing_ok=True)
    one.write_text("2")
    assert not move_to_free_place(one, str(other))
    assert (one.read_text(), other.read_text()) == ("2", "1")
    with pytest.raises(FileNotFoundError):
        move_to_free_place(one, str(tmp_path / "missing" / "file"))
