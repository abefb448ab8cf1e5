from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.errors import GitticksError
from gitticks.git.editor import editor_command
from gitticks.git.repository import Repository, discover
from tests.support.repositories import git, make_repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return discover(make_repository(tmp_path))


def test_the_order_is_gits(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {"GIT_EDITOR": "one", "VISUAL": "three", "EDITOR": "four"}
    git("config", "--global", "core.editor", "two words", at=tmp_path)
    git("config", "core.editor", "from the repository", at=tmp_path)
    assert editor_command(repository, environment) == "one"
    del environment["GIT_EDITOR"]
    assert editor_command(repository, environment) == "two words"
    git("config", "--global", "--unset", "core.editor", at=tmp_path)
    assert editor_command(repository, environment) == "three"
    del environment["VISUAL"]
    assert editor_command(repository, environment) == "four"


def test_none_is_an_error_with_the_command_that_sets_one(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name)
    with pytest.raises(GitticksError) as caught:
        editor_command(repository, {})
    assert "git config --global core.editor" in str(caught.value.hint)
