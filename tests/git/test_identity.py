"""Who commits are by."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.errors import GitticksError
from gitticks.git.identity import ENGINE_IDENTITY, Identity, agent_identity, identity
from gitticks.git.repository import Repository, discover
from tests.support.repositories import git, make_repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return discover(make_repository(tmp_path / "r"))


def test_the_configuration_says(repository: Repository) -> None:
    assert identity(repository, {}) == Identity("Ada Lovelace", "ada@example.org")


def test_the_repositorys_own_configuration_wins(repository: Repository) -> None:
    git("config", "user.name", "Grace Hopper", at=repository.git_dir)
    git("config", "author.email", "grace@example.org", at=repository.git_dir)
    assert identity(repository, {}) == Identity("Grace Hopper", "grace@example.org")


def test_the_environment_wins_over_both(repository: Repository) -> None:
    environment = {"GIT_AUTHOR_NAME": "Mary", "GIT_AUTHOR_EMAIL": "mary@example.org"}
    assert identity(repository, environment) == Identity("Mary", "mary@example.org")
    assert identity(repository, {"GIT_AUTHOR_NAME": "Mary"}) == Identity("Mary", "ada@example.org")


def test_characters_that_would_end_the_identity_are_dropped(repository: Repository) -> None:
    environment = {"GIT_AUTHOR_NAME": " A<b>\nc\x07. ", "GIT_AUTHOR_EMAIL": "<a@b>"}
    assert identity(repository, environment) == Identity("Abc", "a@b")


def test_nobody_is_guessed(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "empty"))
    with pytest.raises(GitticksError, match="does not know your name") as caught:
        identity(repository, {})
    name, address = (
        '`git config --global user.name "Your Name"`',
        '`git config --global user.email "you@example.org"`',
    )
    assert caught.value.hint == f"{name} and {address}"
    with pytest.raises(GitticksError, match="does not know your name") as caught:
        identity(repository, {"EMAIL": "m@x"})
    assert caught.value.hint == name
    with pytest.raises(GitticksError, match="does not know your address"):
        identity(repository, {"GIT_AUTHOR_NAME": "Mary"})
    assert identity(repository, {"GIT_AUTHOR_NAME": "Mary", "EMAIL": "m@x"}) == Identity("Mary", "m@x")


def test_gitticks_own_names() -> None:
    assert Identity("gitticks", "gitticks@localhost") == ENGINE_IDENTITY
    assert agent_identity("claude") == Identity("claude (gitticks agent)", "claude@gitticks.localhost")
    assert agent_identity("<\n>") == Identity("agent (gitticks agent)", "agent@gitticks.localhost")
    assert agent_identity("My Agent!").email == "myagent@gitticks.localhost"
