"""Folders of gitticks are kept out of `git status`, and the user's own files stay as they are."""

from __future__ import annotations

from pathlib import Path

from gitticks.git.exclude import exclude_folders
from gitticks.git.repository import discover
from tests.support.repositories import git, make_repository

FOLDERS = (".gitticks", ".gitticks-work", "odd [x] *name")


def test_adds_each_folder_once_and_keeps_what_is_there(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    file = root / ".git" / "info" / "exclude"
    file.write_text("*.mine")
    exclude_folders(discover(root), FOLDERS)
    first = file.read_text()
    exclude_folders(discover(root), FOLDERS)
    assert file.read_text() == first
    assert first.startswith("*.mine\n")
    for folder in FOLDERS:
        (root / folder).mkdir()
        (root / folder / "file").write_text("")
    (root / "odd x name").mkdir()
    (root / "odd x name" / "seen").write_text("")
    assert git("status", "--porcelain", "-uall", at=root) == '?? "odd x name/seen"'


def test_makes_the_file_and_leaves_out_folders_elsewhere(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    (root / ".git" / "info" / "exclude").unlink()
    exclude_folders(discover(root), ["../beside", "/elsewhere/far"])
    assert not (root / ".git" / "info" / "exclude").exists()
    exclude_folders(discover(root), ["inside"])
    assert (root / ".git" / "info" / "exclude").read_text().endswith("/inside/\n")
