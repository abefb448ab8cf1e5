"""`merge.push`: a merge is made on the remote's base, and is there before a task is done here."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.actions.run import run_context
from gitticks.agents.process import StopRequest
from gitticks.errors import GitticksError, RefusedError
from gitticks.model.event import EventType
from gitticks.model.ids import TaskId, task_path
from gitticks.model.status import Status
from gitticks.runner import mergequeue
from gitticks.runner.merge_ahead import PassedCheck
from gitticks.runner.merge_turns import MergeTurns
from gitticks.runner.mergequeue import AGAIN_SECONDS
from gitticks.world import World
from tests.runner.merges import approved, head, merge
from tests.support.agents import write_program
from tests.support.projects import Project
from tests.support.repositories import commit_file, git
from tests.support.runs import RunProject, project
from tests.support.tasks import write_files

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


class Clock(World):
    """Surroundings whose clock a test sets."""

    at = 0.0

    def monotonic_seconds(self) -> float:
        return self.at


def other_clone(project: RunProject, remote: Path) -> Path:
    path = project.path.parent / "other"
    git("clone", "-q", str(remote), str(path), at=project.path)
    return path


def test_work_that_is_not_in_this_clone_waits_and_says_how_it_comes_here(project: RunProject) -> None:
    approved(project)
    commit = str(project.task("k7f2").end_sha)
    stored = project.path / ".git" / "objects" / commit[:2] / commit[2:]
    away = stored.rename(project.path.parent / "away")
    with pytest.raises(GitticksError, match=f"commit {commit[:10]} is missing") as caught:
        merge(project)
    assert "git push origin gitticks/work/k7f2" in str(caught.value.hint)
    assert project.task("k7f2").is_merging
    away.rename(stored)
    assert merge(project).is_done


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


def test_a_base_that_was_rewritten_at_the_remote_is_called_that(project: RunProject, remote: Path) -> None:
    approved(project)
    commit_file(project.path, "old.txt", "old\n")
    git("push", "-q", "origin", "main", at=project.path)
    other = other_clone(project, remote)
    git("reset", "-q", "--hard", "HEAD~1", at=other)
    commit_file(other, "new.txt", "new\n")
    git("push", "-q", "--force", "origin", "main", at=other)
    for _ in range(2):
        result = merge(project)
        assert result.waits is not None
        assert "`main` was rewritten on `origin`: it lacks 1 commit there that it had" in result.waits
    (drop,) = (word for word in str(result.waits).split("`") if word.startswith("git rebase --onto"))
    git(*drop.split()[1:], at=project.path)
    assert merge(project).is_done
    assert not (project.path / "old.txt").exists()


def test_commits_of_ones_own_are_not_published(project: RunProject, remote: Path) -> None:
    approved(project)
    before = head(project)
    commit_file(project.path, "mine.txt", "mine\n")
    result = merge(project)
    assert result.waits is not None
    assert "`main` has 1 commit that `origin` does not have" in result.waits
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
    assert result.waits == "`origin` refused the merge into `main`: main is protected"
    assert (head(project), project.task("k7f2").is_merging) == (before, True)
    hook.unlink()
    assert merge(project).is_done


def test_large_files_are_uploaded_before_the_merge(
    project: RunProject, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    approved(project)
    offline, log = project.path.parent / "offline", project.path.parent / "log"
    program = write_program(
        project.path.parent / "bin" / "git-lfs", f'[ ! -e {offline} ] && echo "$@" > {log}'
    )
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    git("config", "--global", "filter.lfs.clean", "cat", at=project.path)
    (project.path / ".git/lfs").mkdir()
    offline.touch()
    before = head(project)
    assert "large files were not uploaded to `origin`" in str(merge(project).waits)
    assert git("rev-parse", "main", at=remote) == before == head(project)
    offline.unlink()
    result = merge(project)
    assert result.is_done
    assert log.read_text() == f"push -- origin {result.sha}\n"


def test_a_program_that_the_repository_names_uploads_no_large_files(
    project: RunProject, remote: Path
) -> None:
    approved(project)
    git("config", "--global", "filter.lfs.clean", "cat", at=project.path)
    git("config", "lfs.customtransfer.evil.path", "evil", at=project.path)
    (project.path / ".git/lfs").mkdir()
    assert "`lfs.customtransfer.evil.path` of this repository's own configuration" in str(
        merge(project).waits
    )
    assert git("rev-parse", "main", at=remote) == head(project)


def test_a_merge_that_was_refused_is_tested_once(project: RunProject, remote: Path) -> None:
    begun = project.path.parent / "begun"
    project.settings(f"verify: {{test: 'echo begun >> {begun}'}}\n")
    approved(project)
    hook = write_program(remote / "hooks" / "pre-receive", "exit 1")
    passed: dict[TaskId, PassedCheck] = {}
    assert merge(project, passed=passed).waits
    hook.unlink()
    result = merge(project, passed=passed)
    assert result.is_done
    assert "tests pass" in result.tested
    assert begun.read_text() == "begun\n"


def test_a_remote_that_is_away_lets_it_wait(project: RunProject, remote: Path) -> None:
    approved(project)
    before = head(project)
    away = remote.rename(remote.with_name("away.git"))
    result = merge(project)
    assert result.waits is not None
    assert "`origin` could not be asked for `main`" in result.waits
    assert head(project) == before
    away.rename(remote)
    assert merge(project).is_done


def test_what_waits_is_tried_ever_more_rarely(project: RunProject) -> None:
    project.settings("merge: {push: true}\n")
    approved(project)
    clock, pauses = Clock(), []
    with MergeTurns(run_context(Context(clock, project.path), lambda _: None)) as turns:
        for _ in range(8):
            task = turns.next([project.task("k7f2")])
            assert task is not None
            turns.merge(task.id, StopRequest())
            began = clock.at
            while turns.next([task]) is None:
                clock.at += AGAIN_SECONDS
            pauses.append(clock.at - began)
    assert pauses == [5, 10, 20, 40, 80, 160, 300, 300]


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


def interrupted(*_: object, is_rehearsal: bool = False) -> None:
    if not is_rehearsal:
        raise KeyboardInterrupt


STATE, CLAIM = "refs/heads/gitticks/state", "refs/gitticks/claims/k7f2"


def closed_at(remote: Path) -> bool:
    """True if the tasks at the remote say that k7f2 is done."""
    return "status: done" in git("show", f"{STATE}:{task_path(TaskId('k7f2'))}", at=remote)


def test_merge_and_task_reach_the_remote_in_one_push(project: RunProject, remote: Path) -> None:
    project.ok("sync")
    approved(project)
    write_program(remote / "hooks" / "pre-receive", "cat > refs-of-push")
    result = merge(project)
    assert result.is_done
    pushed = (remote / "refs-of-push").read_text().split()[2::3]
    assert sorted(pushed) == [STATE, "refs/heads/main"]
    assert closed_at(remote)
    assert git("rev-parse", "main", at=remote) == head(project) == result.sha
    assert git("rev-parse", STATE, at=remote) == git("rev-parse", STATE, at=project.path)
    assert project.kinds().count(EventType.MERGED) == 1


def test_the_claim_goes_in_the_same_push(project: RunProject, remote: Path) -> None:
    project.settings("review: none\nhuman: when-required\n")
    project.ok("sync")
    write_program(remote / "hooks" / "post-receive", "cat >> refs-of-pushes; echo end >> refs-of-pushes")
    project.make()
    assert project.run().code == 0
    pushes = (remote / "refs-of-pushes").read_text().split("end\n")
    of_merge = next(one for one in pushes if "refs/heads/main" in one)
    assert STATE in of_merge
    assert f"{'0' * 40} {CLAIM}" in of_merge
    assert git("for-each-ref", "refs/gitticks/claims", at=remote) == ""


@pytest.mark.parametrize("refused", [STATE, "refs/heads/main"])
def test_one_of_both_that_the_remote_refuses_keeps_the_other_here_too(
    project: RunProject, remote: Path, refused: str
) -> None:
    project.ok("sync")
    approved(project)
    before, tasks = head(project), git("rev-parse", STATE, at=remote)
    words = f'[ "$1" != {refused} ] || {{ echo "not today"; exit 1; }}'
    hook = write_program(remote / "hooks" / "update", words)
    result = merge(project)
    assert result.waits is not None
    assert "not today" in result.waits
    assert git("rev-parse", "main", at=remote) == before == head(project)
    assert git("rev-parse", STATE, at=remote) == tasks
    assert project.task("k7f2").is_merging
    hook.unlink()
    assert merge(project).is_done
    assert closed_at(remote)


def test_tasks_that_pre_push_would_refuse_are_not_pushed_with_a_merge(
    project: RunProject, remote: Path
) -> None:
    project.make("m3xq")
    approved(project)
    project.ok("sync")
    project.ok("hooks", "install", "--checkout")
    path = task_path(TaskId("m3xq"))
    content = project.store.read(path) or b""
    write_files(project.store, {path: content.replace(b"status: pending", b"status: done")})
    result = merge(project)
    assert result.waits is not None
    assert "nothing was pushed to `origin`" in result.waits
    assert not closed_at(remote)
    write_files(project.store, {path: content})
    assert merge(project).is_done


def test_a_claim_that_the_remote_keeps_keeps_the_merge_here(project: RunProject, remote: Path) -> None:
    project.settings("review: none\nhuman: when-required\n")
    project.ok("sync")
    deleted = f'[ "$1" != {CLAIM} ] || [ "$3" != {"0" * 40} ] || {{ echo "claims stay"; exit 1; }}'
    write_program(remote / "hooks" / "update", deleted)
    project.make()
    before = head(project)
    ran = project.run()
    assert "claims stay" in ran.seen
    assert project.task("k7f2").is_merging
    assert git("rev-parse", "main", at=remote) == before == head(project)
    assert not closed_at(remote)


def test_a_remote_that_takes_no_atomic_push_takes_nothing(project: RunProject, remote: Path) -> None:
    project.ok("sync")
    approved(project)
    before, tasks = head(project), git("rev-parse", STATE, at=remote)
    git("config", "receive.advertiseAtomic", "false", at=remote)
    result = merge(project)
    assert result.waits is not None
    assert "does not support --atomic push" in result.waits
    assert git("rev-parse", "main", at=remote) == before == head(project)
    assert git("rev-parse", STATE, at=remote) == tasks


def test_others_who_move_the_tasks_meanwhile_cost_no_second_test(project: RunProject, remote: Path) -> None:
    project.ok("sync")
    approved(project)
    other = Project(other_clone(project, remote))
    other.ok("init")
    gate = project.path.parent / "gate"
    more = f"cd {other.path} && $GT create Another && $GT sync && echo x >> {gate}.ran"
    project.settings(f"verify: {{test: {write_program(gate, more)}}}\n")
    assert merge(project).is_done
    assert (project.path.parent / "gate.ran").read_text() == "x\n"
    assert closed_at(remote)
    assert len(json.loads(project.ok("list", "--all", "--json"))["tasks"]) == 2


def test_a_task_that_was_given_up_elsewhere_is_not_merged(project: RunProject, remote: Path) -> None:
    project.ok("sync")
    approved(project)
    project.ok("sync")
    before = head(project)
    other = Project(other_clone(project, remote))
    other.ok("init")
    other.ok("cancel", "k7f2")
    other.ok("sync")
    with pytest.raises(RefusedError):
        merge(project)
    assert git("rev-parse", "main", at=remote) == before == head(project)


def test_a_kill_after_the_push_leaves_both_at_the_remote_and_is_known_again(
    project: RunProject, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.ok("sync")
    approved(project)
    with monkeypatch.context() as patched:
        patched.setattr(mergequeue, "move_base", interrupted)
        with pytest.raises(KeyboardInterrupt):
            merge(project)
    assert closed_at(remote)
    other = Project(other_clone(project, remote))
    other.ok("init")
    other.ok("note", "k7f2", "seen")
    other.ok("sync")
    assert merge(project).is_done
    assert head(project) == git("rev-parse", "main", at=remote)
    assert git("rev-parse", STATE, at=project.path) == git("rev-parse", STATE, at=remote)
    assert [event.type for event in project.events("k7f2")].count(EventType.MERGED) == 1
    assert project.stands() == (Status.DONE, None)
