"""`merge.push`: a merge is made on the remote's base, and is there before a task is done here."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.runner import mergequeue
from tests.runner.merges import approved, head, merge
from tests.support.agents import write_program
from tests.support.repositories import commit_file, git
from tests.support.runs import RunProject, project

__all__ = ["project"]


@pytest.fixture
def remote(project: RunProject) -> Path:
    """Makes the remote of the project, which shares `main` with it, and sets `merge.push`."""
    path = project.path.parent / "remote.git"
    git("init", "-q", "--bare", "-b", "main", str(path), at=project.path)
    git("remote", "add", "origin", str(path), at=project.path)
    git("push", "-q", "-u", "origin", "main", at=project.path)
    project.settings("merge: {push: true}\n")
    return path


def other_clone(project: RunProject, remote: Path) -> Path:
    path = project.path.parent / "other"
    git("clone", "-q", str(remote), str(path), at=project.path)
    return path


def test_a_merge_is_pushed_before_the_task_is_done(project: RunProject, remote: Path) -> None:
    approved(project)
    result = merge(project)
    assert result.is_done
    assert git("rev-parse", "main", at=remote) == head(project) == result.sha


def test_it_is_made_on_what_the_remote_has(project: RunProject, remote: Path) -> None:
    approved(project)
    other = other_clone(project, remote)
    theirs = commit_file(other, "other.txt", "theirs\n")
    git("push", "-q", "origin", "main", at=other)
    assert merge(project).is_done
    assert git("log", "-1", "--format=%P", at=project.path).split()[0] == theirs
    assert (project.path / "other.txt").read_text() == "theirs\n"
    assert git("rev-parse", "main", at=remote) == head(project)


def test_somebody_who_pushes_while_its_tests_run_is_merged_with(project: RunProject, remote: Path) -> None:
    approved(project)
    other = other_clone(project, remote)
    theirs = commit_file(other, "other.txt", "theirs\n")
    gate = project.path.parent / "gate"
    push = write_program(gate, f"[ -e {gate}.done ] || git -C {other} push -q origin main; touch {gate}.done")
    project.settings(f"verify: {{test: {push}}}\n")
    assert merge(project).is_done
    assert theirs in git("rev-list", "main", at=remote).split()
    assert git("rev-parse", "main", at=remote) == head(project)
    assert len(project.merges()) == 1


def test_commits_of_ones_own_are_not_published(project: RunProject, remote: Path) -> None:
    approved(project)
    before = head(project)
    commit_file(project.path, "mine.txt", "mine\n")
    result = merge(project)
    assert result.waits is not None
    assert "`main` has 1 commit that `origin` has not" in result.waits
    assert "`git push origin main`" in result.waits
    assert git("rev-parse", "main", at=remote) == before
    git("push", "-q", "origin", "main", at=project.path)
    assert merge(project).is_done


def test_a_remote_that_refuses_lets_it_wait(project: RunProject, remote: Path) -> None:
    approved(project)
    before = head(project)
    hook = write_program(remote / "hooks" / "pre-receive", "echo 'main is protected'; exit 1")
    result = merge(project)
    assert result.waits is not None
    assert "`origin` refused the merge into `main`: main is protected" in result.waits
    assert (head(project), project.task("k7f2").is_merging) == (before, True)
    hook.unlink()
    assert merge(project).is_done


def test_a_remote_that_is_away_lets_it_wait(project: RunProject, remote: Path) -> None:
    approved(project)
    before = head(project)
    away = remote.rename(remote.with_name("away.git"))
    result = merge(project)
    assert result.waits is not None
    assert "`origin` cannot be asked for `main`" in result.waits
    assert head(project) == before
    away.rename(remote)
    assert merge(project).is_done


def test_without_a_remote_it_says_what_to_type(project: RunProject) -> None:
    project.settings("merge: {push: true}\n")
    approved(project)
    result = merge(project)
    assert result.waits is not None
    assert "`gt config merge.push false`" in result.waits


def test_a_merge_that_was_pushed_before_a_kill_is_known_again(
    project: RunProject, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    approved(project)
    before = head(project)
    with monkeypatch.context() as patched:
        patched.setattr(mergequeue, "move_base", interrupted)
        with pytest.raises(KeyboardInterrupt):
            merge(project)
    pushed = git("rev-parse", "main", at=remote)
    assert (head(project), pushed != before) == (before, True)
    result = merge(project)
    assert (result.sha, head(project)) == (pushed, pushed)
    assert git("rev-parse", "main", at=remote) == pushed


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt
