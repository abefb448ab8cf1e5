"""Files are brought to the disk, whichever way is taken, and a failure is never swallowed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitticks.git import disk
from gitticks.git.disk import FEW_FILES, MANY_FILES, sync_files


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
        (FEW_FILES, 0, FEW_FILES + 1),
        (FEW_FILES + 1, 0, 0),
        (FEW_FILES + 1, disk.MUCH_UNWRITTEN_KILOBYTES, FEW_FILES + 2),
        (250, disk.MUCH_UNWRITTEN_KILOBYTES, 251),
        (MANY_FILES + 1, disk.MUCH_UNWRITTEN_KILOBYTES, 0),
        (0, 0, 0),
    ],
)
def test_few_are_synced_one_by_one_and_many_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, unwritten: int, syncs: int
) -> None:
    monkeypatch.setattr(disk, "_unwritten_kilobytes", lambda: unwritten)
    synced = count_syncs(monkeypatch)
    sync_files(files_in(tmp_path, count), [str(tmp_path)] if count else [])
    assert len(synced) == syncs


@pytest.mark.parametrize("count", [1, FEW_FILES + 1])
def test_a_missing_file_or_folder_is_an_error(tmp_path: Path, count: int) -> None:
    files = files_in(tmp_path, count)
    with pytest.raises(FileNotFoundError):
        sync_files(files, [str(tmp_path / "missing")])


def test_what_the_kernel_tells_is_read() -> None:
    assert disk._unwritten_kilobytes() >= 0
