from __future__ import annotations

import socket
from pathlib import Path

import pytest

from gitticks.git.repository import Repository, discover
from gitticks.git.sharing import (
    Fetched,
    FetchedBranch,
    Pushed,
    PushedBranch,
    fetch,
    list_branches,
    list_local_branches,
    look_for_branch,
    push,
    remote_of_branch,
    remotes,
)
from tests.support.repositories import clone, commit_file, git, make_repository


@pytest.fixture
def here(tmp_path: Path) -> Repository:
    origin = make_repository(tmp_path / "origin", bare=True, commits=0)
    work = make_repository(tmp_path / "work")
    git("remote", "add", "origin", str(origin), at=work)
    git("push", "--quiet", "origin", "main", at=work)
    return discover(work)


def head(repository: Repository) -> str:
    return git("rev-parse", "HEAD", at=repository.common_dir.parent)


def test_a_push_moves_the_branch_forward_or_not_at_all(here: Repository, tmp_path: Path) -> None:
    other = clone(tmp_path / "origin", tmp_path / "other")
    theirs = commit_file(other, "theirs", "x")
    git("push", "--quiet", "origin", "main", at=other)
    commit_file(tmp_path / "work", "ours", "x")
    late = push(here, "origin", head(here), "main")
    assert late.outcome is Pushed.LATE
    fetched = fetch(here, "origin", "main")
    assert (fetched.outcome, fetched.commit) == (Fetched.HERE, theirs)
    assert push(here, "origin", theirs, "main").outcome is Pushed.DONE
    assert push(here, "origin", theirs, "new/branch").outcome is Pushed.DONE


def test_no_tag_and_no_other_branch_goes_along(here: Repository, tmp_path: Path) -> None:
    git("tag", "-a", "-m", "x", "v1", at=tmp_path / "work")
    git("config", "push.followTags", "true", at=tmp_path / "work")
    push(here, "origin", head(here), "state")
    assert git("tag", at=tmp_path / "origin") == ""


def test_programs_that_the_repository_names_are_not_run(here: Repository, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f'#!/bin/sh\ntouch {tmp_path}/sprung\nexec git-receive-pack "$@"\n')
    trap.chmod(0o755)
    git("config", "remote.origin.receivepack", str(trap), at=tmp_path / "work")
    git("config", "remote.origin.uploadpack", str(trap), at=tmp_path / "work")
    hook = here.common_dir / "hooks/pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    hook.chmod(0o755)
    assert fetch(here, "origin", "main").outcome is Fetched.HERE
    assert push(here, "origin", head(here), "state").outcome is Pushed.DONE
    assert not (tmp_path / "sprung").exists()


def test_a_remote_that_does_not_answer_is_not_taken_for_a_wrong_address(here: Repository) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"git://127.0.0.1:{silent.getsockname()[1]}/x"
        git("remote", "set-url", "origin", address, at=here.common_dir.parent)
        fetched = fetch(here, "origin", "main", timeout_seconds=0.5)
        pushed = push(here, "origin", head(here), "main", timeout_seconds=0.5)
    assert fetched == FetchedBranch(Fetched.UNREACHABLE, words="there was no answer within 0.5 s")
    assert pushed == PushedBranch(Pushed.UNKNOWN, "there was no answer within 0.5 s")


def test_where_git_fails_it_is_said_which_settings_of_the_repository_were_not_used(
    here: Repository,
) -> None:
    work = here.common_dir.parent
    git("remote", "set-url", "origin", "ssh://127.0.0.1:1/x", at=work)
    assert "not used" not in fetch(here, "origin", "main").words
    git("config", "core.sshCommand", "ssh -i key", at=work)
    words = fetch(here, "origin", "main").words
    assert "`core.sshcommand` of this repository's own configuration was not used" in words
    assert words in push(here, "origin", head(here), "main").words


@pytest.mark.parametrize("way", ["a ref where the folder should be", "a lock left behind"])
def test_what_cannot_be_stored_here_is_not_being_offline(here: Repository, tmp_path: Path, way: str) -> None:
    push(here, "origin", head(here), "new/branch")
    git("update-ref", "-d", "refs/remotes/origin/new/branch", at=tmp_path / "work")
    if way == "a lock left behind":
        lock = here.common_dir / "refs/remotes/origin/new/branch.lock"
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.touch()
    else:
        git("update-ref", "refs/remotes/origin/new", "HEAD", at=tmp_path / "work")
    fetched = fetch(here, "origin", "new/branch")
    is_said = any(words in fetched.words for words in ("refs/remotes/origin/new", "git remote prune origin"))
    assert (fetched.outcome, is_said) == (Fetched.REFUSED, True), fetched


def test_damaged_objects_are_refused(here: Repository, tmp_path: Path) -> None:
    tree = git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", at=tmp_path / "origin")
    content = f"tree {tree}\nauthor nobody\ncommitter nobody\n\nx\n"
    made = tmp_path / "commit"
    made.write_text(content)
    bad = git("hash-object", "-t", "commit", "-w", "--literally", str(made), at=tmp_path / "origin")
    git("update-ref", "refs/heads/bad", bad, at=tmp_path / "origin")
    assert fetch(here, "origin", "bad").outcome is Fetched.REFUSED


def test_which_remote_is_meant(here: Repository, tmp_path: Path) -> None:
    work = tmp_path / "work"
    assert remote_of_branch(here, "state") == "origin"
    git("remote", "rename", "origin", "up.stream", at=work)
    assert remote_of_branch(here, "state") == "up.stream"
    git("remote", "add", "second", "https://ada:secret@example.org/x.git", at=work)
    assert remotes(here) == ("up.stream", "second")
    assert remote_of_branch(here, "state") is None
    git("config", "branch.state.remote", "second", at=work)
    assert remote_of_branch(here, "state") == "second"


def test_a_partial_clone_gets_every_object_at_once(here: Repository, tmp_path: Path) -> None:
    origin = tmp_path / "origin"
    git("config", "uploadpack.allowFilter", "true", at=origin)
    copy = clone(origin, tmp_path / "copy", "--filter=blob:none")
    theirs = commit_file(tmp_path / "work", "theirs", "x")
    push(here, "origin", theirs, "main")
    fetched = fetch(discover(copy), "origin", "main")
    assert (fetched.outcome, fetched.commit) == (Fetched.HERE, theirs)
    blob = git("rev-parse", f"{theirs}:theirs", at=tmp_path / "work")
    (tmp_path / "origin").rename(tmp_path / "away")
    assert git("cat-file", "blob", blob, at=copy) == "x"


def test_a_partial_clone_fetches_what_builds_on_an_object_that_it_left_there(
    here: Repository, tmp_path: Path
) -> None:
    origin, work = tmp_path / "origin", tmp_path / "work"
    git("config", "uploadpack.allowFilter", "true", at=origin)
    push(here, "origin", commit_file(work, "old", "x" * 1000), "main")
    copy = clone(origin, tmp_path / "copy", "--filter=blob:none", "--no-checkout")
    theirs = commit_file(work, "new", "y")
    push(here, "origin", theirs, "main")
    fetched = fetch(discover(copy), "origin", "main")
    assert (fetched.outcome, fetched.commit) == (Fetched.HERE, theirs), fetched.words
    assert "?" not in git("rev-list", "--objects", "--missing=print", "origin/main", at=copy)


def test_local_branches_and_those_of_origin(tmp_path: Path) -> None:
    source = make_repository(tmp_path / "source")
    git("branch", "topic/one", at=source)
    here = clone(source, tmp_path / "here")
    git("branch", "gitticks/work/k7f2", at=here)
    git("pack-refs", "--all", at=here)
    repository = discover(here)
    assert list_branches(repository) == ("gitticks/work/k7f2", "main", "topic/one")
    assert list_local_branches(repository) == ("gitticks/work/k7f2", "main")
    assert list_local_branches(repository, "gitticks/work/") == ("gitticks/work/k7f2",)
    assert list_branches(discover(make_repository(tmp_path / "empty", commits=0))) == ()


def test_what_comes_of_fetching(tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin")
    repository = discover(clone(origin, tmp_path / "here", "--single-branch"))
    assert fetch(repository, "origin", "other").outcome is Fetched.MISSING
    git("branch", "other", at=origin)
    assert fetch(repository, "origin", "other").outcome is Fetched.HERE
    assert git("rev-parse", "origin/other", at=tmp_path / "here") == git("rev-parse", "main", at=origin)
    git("remote", "set-url", "origin", str(tmp_path / "gone"), at=tmp_path / "here")
    assert fetch(repository, "origin", "other").outcome is Fetched.UNREACHABLE


def test_the_others_are_asked_where_the_usual_remote_has_no_such_branch(tmp_path: Path) -> None:
    origin, other = (make_repository(tmp_path / name) for name in ("origin", "other"))
    repository = discover(clone(origin, tmp_path / "here"))
    git("remote", "add", "other", str(other), at=tmp_path / "here")
    git("remote", "add", "gone", str(tmp_path / "gone"), at=tmp_path / "here")
    git("branch", "tasks", at=other)
    asked = look_for_branch(repository, "tasks")
    assert [(one.name, one.outcome) for one in asked] == [
        ("origin", Fetched.MISSING),
        ("other", Fetched.HERE),
        ("gone", Fetched.UNREACHABLE),
    ]
    assert [one.commit for one in asked] == [None, git("rev-parse", "main", at=other), None]
    git("branch", "tasks", at=origin)
    assert [one.name for one in look_for_branch(repository, "tasks")] == ["origin"]
