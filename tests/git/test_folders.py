from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gitticks.git.files import Folders, NotPlainError


def test_folders_are_made_once_and_remembered(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    assert folders.lead_to("a")
    assert not folders.lead_to("a/b/c")
    folders.make("a/b/c")
    assert folders.lead_to("a/b/c")
    assert (tmp_path / "a" / "b").is_dir()
    (tmp_path / "a" / "b").rmdir()
    assert folders.lead_to("a/b/c")
    folders.forget()
    assert not folders.lead_to("a/b/c")


@pytest.mark.parametrize("kind", ["file", "link", "pipe"])
def test_what_is_no_folder_is_refused(tmp_path: Path, kind: str) -> None:
    (tmp_path / "real").mkdir()
    place = tmp_path / "real" / "odd"
    if kind == "file":
        place.touch()
    elif kind == "link":
        place.symlink_to(tmp_path)
    else:
        os.mkfifo(place)
    for ask in (Folders(tmp_path).lead_to, Folders(tmp_path).make):
        with pytest.raises(NotPlainError, match="`real/odd/x/y` is no plain file"):
            ask("real/odd/x/y")


def test_folders_may_be_in_more_others_than_there_is_room_for_calls(tmp_path: Path) -> None:
    path = "a/" * 1200
    assert not Folders(tmp_path).lead_to(path)
    folder = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("a", dir_fd=folder)
        inner = os.open("a", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    try:
        assert Folders(tmp_path).lead_to(path)
    finally:
        subprocess.run(["rm", "-r", str(tmp_path / "a")], check=True)  # Python has not the room either
