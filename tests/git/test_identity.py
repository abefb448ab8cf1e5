from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.errors import GitticksError, RefusedError
from gitticks.git.config import enable_worktree_config
from gitticks.git.identity import ENGINE_IDENTITY, Identity, agent_identity, editor_command, identity
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


@pytest.fixture
def unnamed(tmp_path: Path) -> Repository:
    return discover(make_repository(tmp_path / "r"))


def test_the_configuration_says(unnamed: Repository) -> None:
    assert identity(unnamed, {}) == Identity("Ada Lovelace", "ada@example.org")


def test_the_repositorys_own_configuration_wins(unnamed: Repository) -> None:
    git("config", "user.name", "Grace Hopper", at=unnamed.git_dir)
    git("config", "author.email", "grace@example.org", at=unnamed.git_dir)
    assert identity(unnamed, {}) == Identity("Grace Hopper", "grace@example.org")


def test_the_environment_wins_over_both(unnamed: Repository) -> None:
    environment = {"GIT_AUTHOR_NAME": "Mary", "GIT_AUTHOR_EMAIL": "mary@example.org"}
    assert identity(unnamed, environment) == Identity("Mary", "mary@example.org")
    assert identity(unnamed, {"GIT_AUTHOR_NAME": "Mary"}) == Identity("Mary", "ada@example.org")


def test_characters_that_would_end_the_identity_are_dropped(unnamed: Repository) -> None:
    environment = {"GIT_AUTHOR_NAME": " A<b>\nc\x07. ", "GIT_AUTHOR_EMAIL": "<a@b>"}
    assert identity(unnamed, environment) == Identity("Abc", "a@b")


def test_nobody_is_guessed(unnamed: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "empty"))
    with pytest.raises(GitticksError, match="does not know your name") as caught:
        identity(unnamed, {})
    name, address = (
        '`git config --global user.name "Your Name"`',
        '`git config --global user.email "you@example.org"`',
    )
    assert caught.value.hint == f"{name} and {address}"
    with pytest.raises(GitticksError, match="does not know your name") as caught:
        identity(unnamed, {"EMAIL": "m@x"})
    assert caught.value.hint == name
    with pytest.raises(GitticksError, match="does not know your address"):
        identity(unnamed, {"GIT_AUTHOR_NAME": "Mary"})
    assert identity(unnamed, {"GIT_AUTHOR_NAME": "Mary", "EMAIL": "m@x"}) == Identity("Mary", "m@x")


def test_gitticks_own_names() -> None:
    assert Identity("gitticks", "gitticks@localhost") == ENGINE_IDENTITY
    assert agent_identity("claude") == Identity("claude (gitticks agent)", "claude@gitticks.localhost")
    assert agent_identity("<\n>") == Identity("agent (gitticks agent)", "agent@gitticks.localhost")
    assert agent_identity("My Agent!").email == "myagent@gitticks.localhost"


def test_in_a_workspace_a_person_is_not_its_agent(unnamed: Repository, tmp_path: Path) -> None:
    agent, work = agent_identity("claude"), tmp_path / "work"
    git("worktree", "add", "--quiet", "--detach", str(work), at=unnamed.common_dir)
    enable_worktree_config(unnamed)
    git("config", "--worktree", "user.name", agent.name, at=work)
    git("config", "--worktree", "user.email", agent.email, at=work)
    assert identity(discover(work), {}) == Identity("Ada Lovelace", "ada@example.org")
    with pytest.raises(RefusedError, match="git takes you for an agent"):
        identity(discover(work), agent.variables())
