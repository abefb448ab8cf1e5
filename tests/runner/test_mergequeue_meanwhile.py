"""Merges while something else goes on: people who edit, commit or take an approval back, and kills."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from gitticks.errors import RefusedError
from gitticks.git.merges.following import FollowingCheckout
from gitticks.model.event import ENGINE, EventType
from gitticks.model.status import Awaiting, Status
from gitticks.runner import mergequeue
from gitticks.runner.merge_ahead import make_merge
from gitticks.runner.mergequeue import MergeQueue
from gitticks.runner.outcome import RunExit
from tests.runner.merges import approved, head, merge
from tests.support.agents import write_program
from tests.support.repositories import commit_file, git
from tests.support.runs import NO_PERSON, TO_REVIEW, RunProject, project
from tests.support.waiting import until

__all__ = ["project"]


class Killed(BaseException):
    """Stands for SIGKILL: nothing after it runs but what the system itself cleans up."""


def test_a_base_that_moves_during_the_tests_is_merged_again(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    approved(project)
    commits = iter(["first.txt", "second.txt"])

    def make_and_move(*given: Any, **more: Any) -> object:
        made = make_merge(*given, **more)
        if (name := next(commits, None)) is not None:
            commit_file(project.path, name, "meanwhile\n")
        return made

    monkeypatch.setattr(mergequeue, "make_merge", make_and_move)
    merge(project)
    assert {"first.txt", "second.txt", "login.txt"} <= set(project.files())
    assert project.merges() == ["k7f2"]


def test_uncommitted_changes_elsewhere_survive(project: RunProject) -> None:
    approved(project)
    (project.path / "README.md").write_text("my draft\n")
    (project.path / "new.txt").write_text("my notes\n")
    merge(project)
    assert project.stands() == (Status.DONE, None)
    assert (project.path / "README.md").read_text() == "my draft\n"
    assert (project.path / "new.txt").read_text() == "my notes\n"
    assert (project.path / "login.txt").exists()


def test_uncommitted_changes_in_the_way_make_the_merge_wait(project: RunProject) -> None:
    approved(project)
    (project.path / "login.txt").write_text("my own\n")
    before = head(project)
    result = merge(project)
    assert result.waits is not None
    assert "login.txt" in result.waits
    assert head(project) == before
    assert project.task("k7f2").is_merging
    assert (project.path / "login.txt").read_text() == "my own\n"
    ran = project.run()
    assert ran.code == RunExit.WAITS
    assert "merge waits: your uncommitted changes" in ran.out
    assert project.gt("merge").code == 1
    (project.path / "login.txt").unlink()
    assert project.gt("merge").code == 0
    assert project.stands() == (Status.DONE, None)


def test_a_person_who_is_required_by_now_is_asked(project: RunProject) -> None:
    project.settings(NO_PERSON)
    project.make()
    (project.path / "k7f2.txt").write_text("mine\n")
    project.run()
    assert project.task("k7f2").is_merging
    (project.path / "k7f2.txt").unlink()
    project.ok("config", "human", "always")
    project.gt("merge", "k7f2")
    assert project.stands() == TO_REVIEW


def test_what_is_in_the_way_is_said_before_hooks_and_tests_run(project: RunProject) -> None:
    ran = project.path.parent / "ran"
    project.settings(f"verify: {{test: 'touch {ran}'}}\n")
    approved(project)
    write_program(project.path / ".git/hooks/commit-msg", f"touch '{ran}'")
    (project.path / "login.txt").write_text("my own\n")
    assert "login.txt" in str(merge(project).waits)
    assert not ran.exists()


def test_a_head_that_moved_is_not_merged(project: RunProject) -> None:
    workspace = approved(project)
    commit_file(workspace, "late.txt", "after the approval\n")
    before = head(project)
    merge(project)
    assert head(project) == before
    assert project.stands() == (Status.WORKING, None)
    assert project.kinds().count(EventType.VOIDED) == 1


def test_a_branch_that_was_rewritten_is_not_merged(project: RunProject) -> None:
    workspace = approved(project)
    git("commit", "--quiet", "--amend", "--no-edit", "--date=2020-01-01T00:00:00Z", at=workspace)
    before, rewritten = head(project), git("rev-parse", "HEAD", at=workspace)
    merge(project)
    assert (head(project), head(project, "gitticks/work/k7f2")) == (before, rewritten)
    assert project.stands() == (Status.WORKING, None)
    assert project.kinds().count(EventType.VOIDED) == 1


def test_of_a_deleted_branch_the_approved_commit_is_merged(project: RunProject) -> None:
    approved(project)
    work = str(project.task("k7f2").end_sha)
    git("update-ref", "-d", "refs/heads/gitticks/work/k7f2", at=project.path)
    result = merge(project)
    assert result.sha == head(project)
    assert git("log", "-1", "--format=%P", at=project.path).split()[1] == work
    assert project.stands() == (Status.DONE, None)


@pytest.mark.parametrize("moves", [2, 5])
def test_a_base_that_moves_while_the_tests_run_is_merged_again_but_not_for_ever(
    project: RunProject, moves: int
) -> None:
    approved(project)
    said = project.path.parent / "said"
    said.touch()
    project.settings(
        f"verify: {{test: 'echo tested >> {said}; n=$(grep -c tested {said}); "
        f"until [ $(grep -c moved {said}) -ge $n ]; do sleep 0.05; done'}}\n"
    )

    def move() -> None:
        for number in range(moves):
            until(lambda: said.read_text().count("tested") > number, "the tests")  # noqa: B023
            commit_file(project.path, f"meanwhile-{number}.txt", "x\n")
            with said.open("a") as file:
                file.write("moved\n" * (1 if number < moves - 1 else 9))

    mover = threading.Thread(target=move)
    mover.start()
    result = merge(project)
    mover.join()
    assert f"meanwhile-{moves - 1}.txt" in project.files()
    if moves < mergequeue._TRIES:
        assert (result.sha, project.stands()) == (head(project), (Status.DONE, None))
        assert project.merges() == ["k7f2"]
    else:
        assert result.waits == "its base branch kept moving"
        assert project.task("k7f2").is_merging


def test_killed_after_the_base_moved_it_is_not_merged_twice(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    approved(project)

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(MergeQueue, "_close", die)
        with pytest.raises(Killed):
            merge(project)
    landed = head(project)
    assert project.task("k7f2").is_merging
    for late in (
        ["reject", "k7f2", "no"],
        ["update", "k7f2", "--verdict", "rejected"],
        ["cancel", "k7f2", "no"],
        ["update", "k7f2", "--status", "cancelled"],
        ["update", "k7f2", "--awaiting", "review"],
    ):
        assert project.gt(*late).seen == (
            "--- 3\nerror: `k7f2` is merged into main already\n\nhint: `gt merge k7f2` closes it\n"
        )
    editor = {"GIT_EDITOR": "sed -i 's/^status: .*/status: cancelled/'"}
    edited = project.gt("edit", "k7f2", environment=editor)
    assert (edited.code, project.task("k7f2").is_merging) == (3, True)
    assert "`k7f2` is merged into main already" in edited.err
    commit_file(project.path, "later.txt", "the person goes on\n")
    result = merge(project)
    assert result.sha == landed
    assert project.merges() == ["k7f2"]
    assert project.task("k7f2").merged_sha == landed
    assert not project.workspace().exists()


def test_killed_before_the_checkout_followed_it_is_no_merge_by_hand(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    approved(project)

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(FollowingCheckout, "update", die)
        with pytest.raises(Killed):
            merge(project)
    assert git("status", "--porcelain", at=project.path) != ""
    project.ok("status")
    assert project.task("k7f2").is_merging
    project.run()
    assert project.stands() == (Status.DONE, None)
    assert project.last(EventType.MERGED).actor == ENGINE
    assert git("status", "--porcelain", at=project.path) == ""


def test_killed_before_the_base_moved_it_is_merged_later(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    approved(project)
    before = head(project)

    def die(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(mergequeue, "move_base", die)
        with pytest.raises(Killed):
            merge(project)
    assert head(project) == before
    assert merge(project).sha == head(project)
    assert project.merges() == ["k7f2"]


@pytest.mark.parametrize(
    ("words", "stands"),
    [
        (["update", "k7f2", "--awaiting", "review"], (Status.REVIEWING, Awaiting.REVIEW)),
        (["reject", "k7f2", "rename it"], (Status.WORKING, None)),
        (["review", "k7f2", "--reject", "rename it", "--no-resume"], (Status.WORKING, None)),
    ],
)
def test_an_approval_taken_back_during_the_tests_wins(
    project: RunProject,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    stands: tuple[Status, Awaiting | None],
) -> None:
    approved(project)
    before = head(project)

    def take_back(*_: object) -> tuple[None, str]:
        project.ok(*words)
        return None, ""

    monkeypatch.setattr(MergeQueue, "_verify", take_back)
    with pytest.raises(RefusedError):
        merge(project)
    assert head(project) == before
    assert project.stands() == stands


def test_a_base_that_is_gone_makes_the_merge_wait(project: RunProject) -> None:
    approved(project)
    project.change("k7f2", base="nowhere")
    ran = project.run()
    assert ran.code == RunExit.WAITS
    assert "the base branch `nowhere` does not exist here" in ran.out
