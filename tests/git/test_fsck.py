"""Damage below one commit, and objects that lie about singly."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gitticks.git.fsck import count_loose_objects, find_damage
from gitticks.git.repository import discover
from tests.support.repositories import clone, commit_file, git, loose_file, make_repository


def test_a_sound_history(tmp_path: Path) -> None:
    top = make_repository(tmp_path, commits=3)
    head = git("rev-parse", "HEAD", at=top)
    assert find_damage(discover(top), head) is None
    assert find_damage(discover(top), head, thorough=True) is None


def test_missing_objects_of_each_kind(tmp_path: Path) -> None:
    top = make_repository(tmp_path, commits=2)
    head, *ids = git("rev-parse", "HEAD", "HEAD:README.md", "HEAD~1^{tree}", "HEAD~1", at=top).split()
    for object_id in ids:
        file = loose_file(top / ".git", object_id)
        file.rename(file.with_suffix(".aside"))
        damage = find_damage(discover(top), head)
        assert damage is not None
        assert damage.object_id == object_id
        assert object_id in damage.reason
        file.with_suffix(".aside").rename(file)
    assert find_damage(discover(top), head) is None


def test_an_object_that_holds_something_else_is_found_by_reading_it(tmp_path: Path) -> None:
    top = make_repository(tmp_path)
    head = commit_file(top, "other.txt", "something else\n")
    one, other = git("rev-parse", "HEAD:README.md", "HEAD:other.txt", at=top).split()
    loose_file(top / ".git", one).unlink()
    shutil.copy(loose_file(top / ".git", other), loose_file(top / ".git", one))
    assert find_damage(discover(top), head) is None
    damage = find_damage(discover(top), head, thorough=True)
    assert damage is not None
    assert damage.object_id == one
    assert damage.reason == f"hash mismatch {one}"


def test_loose_objects_are_counted(tmp_path: Path) -> None:
    top = make_repository(tmp_path)
    found = count_loose_objects(discover(top))
    assert found.count == 3
    assert found.kibibytes > 0
    git("repack", "-adq", at=top)
    assert count_loose_objects(discover(top)).count == 0


@pytest.mark.parametrize("left_out", ["blob:none", "tree:0"])
def test_what_a_partial_clone_left_with_its_remote_is_no_damage(tmp_path: Path, left_out: str) -> None:
    top = make_repository(tmp_path / "r", commits=3)
    git("config", "uploadpack.allowFilter", "true", at=top)
    copy = clone(top, tmp_path / "copy", f"--filter={left_out}", "--no-checkout")
    head = git("rev-parse", "HEAD", at=copy)
    assert find_damage(discover(copy), head) is None
    assert find_damage(discover(copy), head, thorough=True) is None
