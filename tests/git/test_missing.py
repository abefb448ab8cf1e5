"""What a partial clone left with its remote, asked of a clone that git itself made."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.errors import GitticksError
from gitticks.git.repository import discover
from tests.support.repositories import clone, git, make_repository


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
