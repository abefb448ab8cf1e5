from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.errors import GitticksError
from gitticks.git.packing import has_many_loose_objects, pack_loose_objects
from gitticks.git.repository import Repository, discover
from tests.support.loose_objects import counts, plant
from tests.support.repositories import commit_file, fsck_problems, git, loose_file, make_repository


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
    before = counts(tmp_path)["count"]
    assert pack_loose_objects(repository) == before == 18
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
