"""A run shares tasks as `sync.auto` says: it picks from what others did, and they see what it does while it goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.model.status import Status
from tests.support.clones import Clone
from tests.support.repositories import git
from tests.support.runs import NO_REVIEW, RunProject, project
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]


@pytest.fixture
def remote(project: RunProject) -> Path:
    """A bare remote that both clones share tasks by; work goes to a person at once."""
    project.settings(NO_REVIEW)
    path = project.path.parent / "remote.git"
    git("clone", "--quiet", "--bare", str(project.path), str(path), at=project.path)
    git("remote", "add", "origin", str(path), at=project.path)
    return path


@pytest.fixture
def other(project: RunProject, remote: Path) -> Clone:
    path = project.path.parent / "other"
    git("clone", "--quiet", str(remote), str(path), at=project.path)
    clone = Clone(path)
    clone.ok("init")
    return clone


def remote_tip(remote: Path) -> str:
    return git("rev-parse", "gitticks/state", at=remote)


def test_by_push_the_remote_has_what_a_run_did(project: RunProject, remote: Path) -> None:
    git("config", "gitticks.sync.auto", "push", at=project.path)
    task = project.create()
    assert project.run().code == 3
    assert project.task(task).status is Status.REVIEWING
    assert remote_tip(remote) == project.tip()


def test_by_both_a_run_takes_what_others_made_and_off_does_neither(
    project: RunProject, other: Clone, remote: Path
) -> None:
    task = other.create()
    other.ok("sync")
    assert project.run().code == 0
    git("config", "gitticks.sync.auto", "both", at=project.path)
    assert project.run(task).code == 3
    assert project.task(task).status is Status.REVIEWING
    assert remote_tip(remote) == project.tip()
    assert other.task(task).status is Status.PENDING


def test_while_a_run_goes_on_tasks_go_and_come(project: RunProject, other: Clone, remote: Path) -> None:
    git("config", "gitticks.sync.auto", "both", at=project.path)
    with project.running("--auto", "--all", "--poll", "1") as process:
        task = other.create()
        other.ok("sync")

        def is_handed_off() -> bool:
            other.ok("sync")
            return other.task(task).status is Status.REVIEWING

        until(is_handed_off, "the hand-off")
        assert process.poll() is None
        project.interrupt(process)
        process.communicate(timeout=LONGEST_SECONDS)
    assert remote_tip(remote) == project.tip()


@pytest.mark.parametrize(
    ("has_answered", "said"),
    [
        (True, "not shared yet: `origin` cannot be reached"),
        (
            False,
            "not shared: there is no repository at `http://127.0.0.1:9/none.git`, the address of `origin`",
        ),
    ],
)
def test_a_remote_that_is_away_is_warned_of_once_and_stops_nothing(
    project: RunProject, remote: Path, said: str, *, has_answered: bool
) -> None:
    git("config", "gitticks.sync.auto", "push", at=project.path)
    task = project.create()
    nowhere = "http://127.0.0.1:9/none.git"
    if has_answered:
        git("config", f"url.{nowhere}.insteadOf", str(remote), at=project.path)
    else:
        git("remote", "set-url", "origin", nowhere, at=project.path)
    ran = project.run()
    assert ran.code == 3
    assert project.task(task).status is Status.REVIEWING
    assert [(ran.out + ran.err).count(words) for words in (said, "not shared")] == [1, 1]
