"""A worktree's own configuration, given back byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitticks.git.repository import Repository, discover
from gitticks.git.worktree_config import read_worktree_setting, write_worktree_setting
from gitticks.store.exact_config import giving_back, remembering, sweep
from tests.support.repositories import add_linked_worktree, git, make_repository

KEY = "core.hooksPath"
KEPT = "config-before.json"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return discover(make_repository(tmp_path / "project"))


def config(repository: Repository) -> Path:
    return repository.common_dir / "config.worktree"


def name(repository: Repository, value: str = "ours") -> None:
    with remembering(repository, config(repository)):
        write_worktree_setting(repository.common_dir, KEY, value)


def forget(repository: Repository) -> None:
    with giving_back(repository, config(repository)):
        write_worktree_setting(repository.common_dir, KEY, None)


@pytest.mark.parametrize(
    "content",
    [None, b"", b"[core]\n", b"[core]\n\tx = 1", b"# mine\r\n[user]\r\n\tname = A\r\n", b"[user]\n"],
)
def test_what_was_there_comes_back(repository: Repository, content: bytes | None) -> None:
    file = config(repository)
    if content is not None:
        file.write_bytes(content)
        file.chmod(0o600)
    for value in ("one", "two"):
        name(repository, value)
    assert read_worktree_setting(repository.common_dir, KEY) == "two"
    forget(repository)
    assert (file.read_bytes() if file.exists() else None) == content
    assert content is None or file.stat().st_mode & 0o777 == 0o600
    assert not (repository.own_dir / KEPT).exists()


def test_what_a_person_changed_since_stays(repository: Repository) -> None:
    name(repository)
    write_worktree_setting(repository.common_dir, "user.name", "Grace")
    forget(repository)
    assert config(repository).read_text() == "[user]\n\tname = Grace\n"


@pytest.mark.parametrize("damage", ["", "[", "[]", '{"config.worktree": 3}', '{"config.worktree": {}}', None])
def test_without_memory_git_takes_it_out(repository: Repository, damage: str | None) -> None:
    name(repository)
    if damage is None:
        (repository.own_dir / KEPT).unlink()
    else:
        (repository.own_dir / KEPT).write_text(damage)
    forget(repository)
    assert not config(repository).exists()


def test_what_is_gone_is_forgotten(repository: Repository, tmp_path: Path) -> None:
    gone = add_linked_worktree(tmp_path / "project", tmp_path / "linked", "topic")
    git_dir = discover(gone).git_dir
    with remembering(repository, git_dir / "config.worktree"):
        write_worktree_setting(git_dir, KEY, "ours")
    git("worktree", "remove", "--force", str(gone), at=tmp_path / "project")
    name(repository)
    assert list(json.loads((repository.own_dir / KEPT).read_text())) == ["config.worktree"]


def test_what_a_killed_call_was_preparing_goes_with_the_next(repository: Repository) -> None:
    name(repository)
    unfinished = repository.own_dir / f"{KEPT}.new"
    unfinished.write_text("{")
    sweep(repository)
    assert not unfinished.exists()
    forget(repository)
    assert not config(repository).exists()
