"""Which format objects are read in, however the configuration that says it is written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitticks.git.objects import open_objects
from tests.support.repositories import git


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"include.path": "/nowhere/of/mine"},
        {"core.hooksPath": "a folder; with signs"},
        {"core.sshCommand": 'ssh -i "a key"'},
    ],
    ids=["plain", "include", "quoted", "escaped"],
)
def test_sha256_is_seen_beside_settings_that_are_not_plain(tmp_path: Path, settings: dict[str, str]) -> None:
    git("init", "--quiet", "--object-format=sha256", str(tmp_path), at=tmp_path)
    for key, value in settings.items():
        git("config", key, value, at=tmp_path)
    blob = git("hash-object", "-w", "--stdin", at=tmp_path, input="text")
    assert open_objects(tmp_path / ".git", does_much=True).read_blob(blob) == b"text"


def test_a_partial_clone_of_an_old_git_is_read(tmp_path: Path) -> None:
    git("init", "--quiet", str(tmp_path), at=tmp_path)
    git("config", "core.repositoryFormatVersion", "1", at=tmp_path)
    git("config", "extensions.partialClone", "origin", at=tmp_path)
    blob = git("hash-object", "-w", "--stdin", at=tmp_path, input="text")
    assert open_objects(tmp_path / ".git", does_much=True).has(blob)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_whose_repository_may_be_read_only_git_says(tmp_path: Path) -> None:
    git("init", "--quiet", str(tmp_path), at=tmp_path)
    blob = git("hash-object", "-w", "--stdin", at=tmp_path, input="text")
    for place in (tmp_path, tmp_path / ".git"):
        os.chown(place, 4242, 4242)
    assert open_objects(tmp_path / ".git", does_much=True).has(blob)
