from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitticks.errors import GitticksError
from gitticks.git.log import read_log
from gitticks.git.repository import discover
from tests.support.repositories import git, loose_file, make_repository


def test_the_last_commits_newest_first(tmp_path: Path) -> None:
    make_repository(tmp_path, commits=3)
    found = read_log(discover(tmp_path), "refs/heads/main", count=2).commits
    assert [one.subject for one in found] == ["commit 3", "commit 2"]
    assert found[0].commit == git("rev-parse", "main", at=tmp_path)
    assert found[0].author == "Ada Lovelace"
    assert found[0].at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_a_message_may_be_empty_or_long(tmp_path: Path) -> None:
    make_repository(tmp_path)
    git("commit", "--quiet", "--allow-empty", "--allow-empty-message", "-m", "", at=tmp_path)
    git("commit", "--quiet", "--allow-empty", "-m", "one\n\ntwo\nthree", at=tmp_path)
    assert [one.subject for one in read_log(discover(tmp_path), "HEAD", count=2).commits] == ["one", ""]


def test_a_persons_configuration_changes_nothing(tmp_path: Path) -> None:
    make_repository(tmp_path)
    git("config", "log.showSignature", "true", at=tmp_path)
    git("config", "log.decorate", "full", at=tmp_path)
    assert [one.subject for one in read_log(discover(tmp_path), "HEAD", count=9).commits] == ["commit 1"]


@pytest.mark.parametrize(
    "author",
    [
        "author a <a@b> 99999999999999 +0000",
        "author a <a@b> 9999999999999999999999 +0000",
        "author a <a@b>",
        "",
    ],
)
def test_a_commit_without_a_time_that_can_be_told(tmp_path: Path, author: str) -> None:
    make_repository(tmp_path)
    tree = git("rev-parse", "HEAD^{tree}", at=tmp_path)
    text = f"tree {tree}\n{author}\ncommitter a <a@b> 1 +0000\n\nodd\n"
    odd = git("hash-object", "-t", "commit", "-w", "--literally", "--stdin", at=tmp_path, input=text)
    (found,) = read_log(discover(tmp_path), odd, count=2).commits
    assert found.at == datetime(1970, 1, 1, tzinfo=UTC)


def test_no_such_ref(tmp_path: Path) -> None:
    make_repository(tmp_path)
    with pytest.raises(GitticksError):
        read_log(discover(tmp_path), "refs/heads/none", count=1)


def test_what_stands_above_damage_is_shown(tmp_path: Path) -> None:
    make_repository(tmp_path, commits=4)
    lost = git("rev-parse", "main~2", at=tmp_path)
    loose_file(tmp_path / ".git", lost).unlink()
    found = read_log(discover(tmp_path), "refs/heads/main", count=9)
    assert [one.subject for one in found.commits] == ["commit 4", "commit 3"]
    assert lost in str(found.broken_off)
