"""A file system that runs full: nothing acknowledged is lost, reading goes on, and with room all works without repair."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.writers import IS_FULL
from tests.support.figures import record
from tests.support.small_disks import run_on_small_disk

LIMIT_SECONDS = 880
SIZES = ("3m", "20m") if IS_FULL else ("3m",)
pytestmark = [pytest.mark.debian("util-linux", program="unshare"), pytest.mark.timeout(LIMIT_SECONDS + 20)]


def play(scene: str, tmp_path: Path, *, size: str, place: Path | None = None) -> str:
    outside = tmp_path / "outside"
    outside.mkdir(exist_ok=True)
    disk = place or tmp_path / "disk"
    return run_on_small_disk(
        disk, size, "tests.faults.full_disk", scene, str(disk), str(outside), seconds=LIMIT_SECONDS
    )


@pytest.mark.parametrize("size", SIZES)
def test_tasks_until_nothing_fits(tmp_path: Path, size: str) -> None:
    acknowledged = int(play("fill", tmp_path, size=size).splitlines()[-1])
    record("a full disk", size=size, acknowledged=acknowledged)


def test_no_room_at_each_step_of_a_change(tmp_path: Path) -> None:
    play("sweep", tmp_path, size="20m")


def test_runs_edits_and_merges(tmp_path: Path) -> None:
    play("run", tmp_path, size="20m")


def test_merges(tmp_path: Path) -> None:
    play("merge", tmp_path, size="20m")


def test_a_full_board(tmp_path: Path) -> None:
    place = tmp_path / "outside" / "repository" / ".gitticks"
    play("board", tmp_path, size="3m", place=place)


def test_a_full_folder_for_temporary_files(tmp_path: Path) -> None:
    play("temporary", tmp_path, size="1m")


def test_an_agent_that_fills_the_disk(tmp_path: Path) -> None:
    play("agent", tmp_path, size="8m")


@pytest.mark.debian("bubblewrap", program="bwrap")
def test_an_agent_that_fills_the_disk_behind_walls(tmp_path: Path) -> None:
    play("sandboxed", tmp_path, size="8m")
