from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitticks.errors import GitticksError
from gitticks.git.identity import Identity
from gitticks.git.log import TrailCommit, Write, read_log, read_trail, read_writes
from gitticks.git.process import GitError
from gitticks.git.repository import discover
from tests.support.repositories import commit_file, git, make_repository


def test_the_last_commits_newest_first(tmp_path: Path) -> None:
    make_repository(tmp_path, commits=3)
    found = read_log(discover(tmp_path), "refs/heads/main", count=2)
    assert [one.subject for one in found] == ["commit 3", "commit 2"]
    assert found[0].commit == git("rev-parse", "main", at=tmp_path)
    assert found[0].author == "Ada Lovelace"
    assert found[0].at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_who_wrote_a_file_whatever_they_are_called(tmp_path: Path) -> None:
    make_repository(tmp_path)
    for setting in ("log.showSignature=true", "log.showRoot=false", "diff.renames=copies"):
        git("config", *setting.split("="), at=tmp_path)
    commit_file(tmp_path, "a/one.md", "1\n", "one")
    first = git("rev-parse", "HEAD:a/one.md", at=tmp_path)
    names = {"GIT_AUTHOR_NAME": "a: \u2028\tb", "GIT_AUTHOR_EMAIL": "b@example.org"}
    git("mv", "a/one.md", "b.md", at=tmp_path)
    git("commit", "--quiet", "-m", "two\n\nEvent: task.edited", at=tmp_path, environment=names)
    tip = git("rev-parse", "HEAD", at=tmp_path)
    found = list(read_writes(discover(tmp_path), tip, ("a", "b.md"), frozenset()))
    author = Identity(names["GIT_AUTHOR_NAME"], "b@example.org")
    assert found[:2] == [
        Write(author, "a/one.md", first, None, True),
        Write(author, "b.md", None, first, True),
    ]
    assert [(one.path, one.old, one.has_event) for one in found[2:]] == [("a/one.md", None, False)]
    others = list(read_writes(discover(tmp_path), tip, ("a",), frozenset({author.name})))
    assert [one.new for one in others] == [first]
    commit_file(tmp_path, "a/one.md", "2\n", "three")
    tip = git("rev-parse", "HEAD", at=tmp_path)
    assert len(list(read_writes(discover(tmp_path), tip, ("a",), frozenset({author.name})))) == 2
    git("reset", "-q", "--hard", "HEAD~2", at=tmp_path)
    tip = git("rev-parse", "HEAD", at=tmp_path)
    assert list(read_writes(discover(tmp_path), tip, ("a",), frozenset({author.name}))) == others
    git("clone", "-q", "--depth=1", f"file://{tmp_path}", str(tmp_path / "shallow"), at=tmp_path)
    assert list(read_writes(discover(tmp_path / "shallow"), tip, ("a",), frozenset())) == []


def test_a_message_may_be_empty_or_long(tmp_path: Path) -> None:
    make_repository(tmp_path)
    git("commit", "--quiet", "--allow-empty", "--allow-empty-message", "-m", "", at=tmp_path)
    git("commit", "--quiet", "--allow-empty", "-m", "one\n\ntwo\nthree", at=tmp_path)
    assert [one.subject for one in read_log(discover(tmp_path), "HEAD", count=2)] == ["one", ""]


def test_a_persons_configuration_changes_nothing(tmp_path: Path) -> None:
    make_repository(tmp_path)
    git("config", "log.showSignature", "true", at=tmp_path)
    git("config", "log.decorate", "full", at=tmp_path)
    assert [one.subject for one in read_log(discover(tmp_path), "HEAD", count=9)] == ["commit 1"]


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
    (found,) = read_log(discover(tmp_path), odd, count=2)
    assert found.at == datetime(1970, 1, 1, tzinfo=UTC)


def test_no_such_ref(tmp_path: Path) -> None:
    make_repository(tmp_path)
    with pytest.raises(GitticksError):
        read_log(discover(tmp_path), "refs/heads/none", count=1)


def test_parents_come_before_children(tmp_path: Path) -> None:
    top = make_repository(tmp_path)
    first = git("rev-parse", "HEAD", at=top)
    git("switch", "--quiet", "--create", "side", at=top)
    side = commit_file(
        top, "side.txt", "s\n", "k7f2: x\n\nTask: k7f2\nActor: human Ada\nActor: engine gitticks"
    )
    git("switch", "--quiet", "main", at=top)
    main = commit_file(top, "main.txt", "m\n", "no trailer")
    git("merge", "--quiet", "--no-edit", "side", at=top)
    merge = git("rev-parse", "HEAD", at=top)
    found = list(read_trail(discover(top), merge))
    assert found[0] == TrailCommit(first, (), "ada@example.org", ())
    assert {one.commit for one in found[1:3]} == {main, side}
    assert next(one for one in found if one.commit == side).actors == ("human Ada", "engine gitticks")
    assert found[3] == TrailCommit(merge, (main, side), "ada@example.org", ())


def test_what_git_made_of_another_commit_is_known_by_its_times(tmp_path: Path) -> None:
    top = make_repository(tmp_path)
    later = {"GIT_COMMITTER_DATE": "2026-02-03T04:05:06+00:00"}
    git("commit", "--quiet", "--allow-empty", "-m", "picked", at=top, environment=later)
    found = read_trail(discover(top), git("rev-parse", "HEAD", at=top))
    assert [one.is_replayed for one in found] == [False, True]


def test_a_part_of_them(tmp_path: Path) -> None:
    top = make_repository(tmp_path, commits=5)
    newest, middle = git("rev-parse", "HEAD", "HEAD~2", at=top).split()
    assert len(list(read_trail(discover(top), newest, middle))) == 2
    assert [one.commit for one in read_trail(discover(top), newest, count=1)] == [newest]
    assert list(read_trail(discover(top), middle, newest)) == []


def test_a_commit_that_is_not_there(tmp_path: Path) -> None:
    top = make_repository(tmp_path)
    with pytest.raises(GitError):
        list(read_trail(discover(top), "1" * 40))
