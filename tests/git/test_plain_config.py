"""Configuration files that are plain are read as git reads them; of others nothing is said."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitticks.git.identity import identity
from gitticks.git.plain_config import may_set, read_identity
from gitticks.git.repository import Repository, discover
from tests.support.repositories import git, make_repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return discover(make_repository(tmp_path / "r"))


def global_file() -> Path:
    return Path(os.environ["GIT_CONFIG_GLOBAL"])


def by_git(repository: Repository) -> dict[str, str]:
    lines = git(
        "config", "--get-regexp", r"^(user|author)\.(name|email)$", at=repository.git_dir
    ).splitlines()
    return {key: value for key, _, value in (line.partition(" ") for line in lines)}


PLAIN = {
    "usual": "[user]\n\tname = Grace Hopper\n\temail = grace@example.org\n",
    "odd spaces": "[user]\nNAME=  Grace   Hopper \n  Email =grace@example.org\r\n",
    "other sections": '[core]\n\tname = no\n[user "x"]\n\tname = no\n[user]\n\tname = Yes\n\temail = y@x\n[a.b]\nemail = no\n',
    "twice": "[user]\n\tname = One\n\temail = 1@x\n[user]\n\tname = Two\n",
    "author": "[author]\n\tname = Author\n[USER]\n\tname = User\n\temail = u@x\n\tsigningkey = abc # not read\n",
    "comments": "# [user]\n; name = no\n[user]\n\t# name = no\n\tname = Grace\n\temail = g@x\n",
    "unicode": "[user]\n\tname = Žofie Ñandú\n\temail = z@x\n",
    "byte order mark": "\ufeff[user]\n\tname = Grace\n\temail = g@x\n",
}
ODD = {
    "quotes": '[user]\n\tname = "Grace # Hopper"\n\temail = g@x\n',
    "comment behind": "[user]\n\tname = Grace # Hopper\n\temail = g@x\n",
    "continued": "[user]\n\tname = Grace \\\nHopper\n\temail = g@x\n",
    "continued elsewhere": "[alias]\n\tx = a \\\n[user]\n[user]\n\tname = Grace\n\temail = g@x\n",
    "included": "[include]\n\tpath = other\n[user]\n\tname = Grace\n\temail = g@x\n",
    "included if": '[includeIf "gitdir:/x/"]\n\tpath = other\n[user]\n\tname = Grace\n\temail = g@x\n',
    "one line": "[user] name = Grace\n\temail = g@x\n",
    "tab inside": "[user]\n\tname = Grace\tHopper\n\temail = g@x\n",
    "no address": "[user]\n\tname = Grace\n",
}


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN)
def test_plain_files_are_read_as_git_reads_them(repository: Repository, text: str) -> None:
    global_file().write_text(text, newline="")
    assert read_identity(repository, os.environ) == by_git(repository)


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_the_rest_is_left_to_git(repository: Repository, text: str) -> None:
    global_file().write_text(text, newline="")
    assert read_identity(repository, os.environ) is None


def test_later_files_win(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    monkeypatch.delenv("GIT_CONFIG_NOSYSTEM")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", str(tmp_path / "system"))
    (tmp_path / "system").write_text("[user]\n\tname = System\n\temail = s@x\n[author]\n\tname = S\n")
    assert read_identity(repository, os.environ) == by_git(repository)
    (Path(os.environ["XDG_CONFIG_HOME"]) / "git").mkdir(parents=True)
    (Path(os.environ["XDG_CONFIG_HOME"]) / "git" / "config").write_text(
        "[user]\n\tname = Xdg\n\temail = x@x\n"
    )
    assert read_identity(repository, os.environ) == by_git(repository)
    git("config", "--local", "user.name", "Local", at=repository.git_dir)
    assert read_identity(repository, os.environ) == by_git(repository)


def test_a_worktrees_own_configuration_is_gits_to_judge(repository: Repository) -> None:
    (repository.git_dir / "config.worktree").write_text("[user]\n\tname = Worktree\n")
    assert read_identity(repository, os.environ) is None
    assert identity(repository, {}).name == "Ada Lovelace"
    git("config", "extensions.worktreeConfig", "true", at=repository.git_dir)
    assert identity(repository, {}).name == "Worktree"


def test_a_folder_where_a_file_belongs_is_left_to_git(repository: Repository) -> None:
    global_file().unlink()
    global_file().mkdir()
    assert read_identity(repository, os.environ) is None


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ('[gitticks "sync"]\n\tauto = push\n', True),
        ("[GITTICKS]\n\tSync.AUTO = push\n", True),
        ("[gitticks]\n\tparallel = 2\n", False),
        ("[include]\n\tpath = elsewhere\n", True),
        ('[IncludeIf "gitdir:/x/"]\n\tpath = elsewhere\n', True),
        ("", False),
    ],
)
def test_a_glance_sees_what_may_be_set(repository: Repository, text: str, may: bool) -> None:
    global_file().write_text(text)
    assert may_set(repository, os.environ, "gitticks", "auto") is may


def test_a_glance_sees_the_settings_of_a_worktree_and_of_one_call(repository: Repository) -> None:
    (repository.git_dir / "config.worktree").write_text("[gitticks]\n\tsync.auto = push\n")
    assert may_set(repository, os.environ, "gitticks", "auto")
    (repository.git_dir / "config.worktree").unlink()
    assert may_set(repository, {**os.environ, "GIT_CONFIG_COUNT": "0"}, "gitticks", "auto")
