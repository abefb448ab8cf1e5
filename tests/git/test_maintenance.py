"""Damage below one commit, and objects that lie about singly."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gitticks.errors import GitticksError
from gitticks.git.maintenance import (
    find_damage,
    has_many_loose_objects,
    pack_loose_objects,
)
from gitticks.git.repository import Repository, discover
from tests.support.loose_objects import counts, plant
from tests.support.repositories import clone, commit_file, fsck_problems, git, loose_file, make_repository


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


@pytest.mark.parametrize("left_out", ["blob:none", "tree:0"])
def test_what_a_partial_clone_left_with_its_remote_is_no_damage(tmp_path: Path, left_out: str) -> None:
    top = make_repository(tmp_path / "r", commits=3)
    git("config", "uploadpack.allowFilter", "true", at=top)
    copy = clone(top, tmp_path / "copy", f"--filter={left_out}", "--no-checkout")
    head = git("rev-parse", "HEAD", at=copy)
    assert find_damage(discover(copy), head) is None
    assert find_damage(discover(copy), head, thorough=True) is None


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Gives a repository whose loose objects git may pack by itself."""
    make_repository(tmp_path)
    git("config", "gc.auto", "1000", at=tmp_path)
    git("config", "maintenance.auto", "true", at=tmp_path)
    return discover(tmp_path)


def test_many_are_more_than_git_allows(repository: Repository, tmp_path: Path) -> None:
    plant(tmp_path, 4)
    assert not has_many_loose_objects(repository)
    plant(tmp_path, 5)
    assert has_many_loose_objects(repository)


@pytest.mark.parametrize(
    ("name", "value"), [("gc.auto", "0"), ("gc.auto", "-1"), ("maintenance.auto", "false")]
)
def test_who_switched_that_off_is_left_alone(
    repository: Repository, tmp_path: Path, name: str, value: str
) -> None:
    plant(tmp_path, 5)
    git("config", name, value, at=tmp_path)
    assert not has_many_loose_objects(repository)


def test_a_setting_that_makes_no_sense_counts_as_none(repository: Repository, tmp_path: Path) -> None:
    plant(tmp_path, 5)
    git("config", "gc.auto", "many", at=tmp_path)
    assert not has_many_loose_objects(repository)


def test_everything_loose_goes_into_a_pack(repository: Repository, tmp_path: Path) -> None:
    for number in range(5):
        commit_file(tmp_path, "a.txt", f"{number}\n")
    git("update-ref", "refs/gitticks/checkpoints/k7f2/1", "HEAD~1", at=tmp_path)
    before = counts(tmp_path)["count"]
    assert pack_loose_objects(repository) == before == 18
    assert not (tmp_path / ".git/refs/gitticks/checkpoints/k7f2/1").exists()
    assert git("show", "refs/gitticks/checkpoints/k7f2/1:a.txt", at=tmp_path) == "3"
    after = counts(tmp_path)
    assert (after["count"], after["in-pack"], after["packs"]) == (0, before, 1)
    assert git("show", "HEAD:a.txt", at=tmp_path) == "4"
    assert fsck_problems(tmp_path) == ""
    assert pack_loose_objects(repository) == 0


def test_where_an_object_is_damaged_none_is_removed(repository: Repository, tmp_path: Path) -> None:
    commit_file(tmp_path, "a.txt", "text\n")
    blob = git("rev-parse", "HEAD:a.txt", at=tmp_path)
    file = loose_file(tmp_path / ".git", blob)
    file.chmod(0o644)
    file.write_bytes(b"nonsense")
    before = counts(tmp_path)["count"]
    with pytest.raises(GitticksError, match="pack-objects"):
        pack_loose_objects(repository)
    assert counts(tmp_path)["count"] == before


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "r")


def test_what_a_partial_clone_lacks_is_fetched(top: Path, tmp_path: Path) -> None:
    git("config", "uploadpack.allowFilter", "true", at=top)
    copy = clone(top, tmp_path / "copy", "--filter=blob:none", "--no-checkout")
    blob = git("rev-parse", "HEAD:README.md", at=top)
    assert discover(copy).objects.read_blob(blob) == b"version 1\n"


def test_no_program_that_the_repository_names_for_its_remote_is_run_to_fetch(
    top: Path, tmp_path: Path
) -> None:
    git("config", "uploadpack.allowFilter", "true", at=top)
    copy = clone(top, tmp_path / "copy", "--filter=blob:none", "--no-checkout")
    trap = tmp_path / "trap"
    trap.write_text(f'#!/bin/sh\ntouch {tmp_path}/sprung\nexec git-upload-pack "$@"\n')
    trap.chmod(0o755)
    git("config", "remote.origin.uploadpack", str(trap), at=copy)
    blob = git("rev-parse", "HEAD:README.md", at=top)
    with pytest.raises(GitticksError, match="of this repository names a program"):
        discover(copy).objects.read_blob(blob)
    assert not (tmp_path / "sprung").exists()


def test_a_missing_object_is_named(top: Path) -> None:
    objects = discover(top).objects
    with pytest.raises(
        GitticksError, match="`1111111111111111111111111111111111111111` is missing"
    ) as caught:
        objects.read_blob("1" * 40)
    assert caught.value.hint is not None
    with pytest.raises(GitticksError, match="is missing"):
        objects.tree_of("1" * 40)
