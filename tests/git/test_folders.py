from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitticks.git.folders import Folders, NotPlainError


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
