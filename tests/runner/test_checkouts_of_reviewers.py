"""The checkouts of reviewers: each has one of its own, which goes when its answer is in."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

from gitticks.actions.context import Context
from gitticks.actions.run import run_context
from gitticks.git.repository import discover
from gitticks.git.worktrees import worktrees_lock
from gitticks.model.settings import Settings
from gitticks.runner.finishing import recover
from gitticks.runner.review_checkouts import ReviewCheckouts, remove_review_checkout
from tests.runner.test_council import APPROVED, BLOCKING, council, review
from tests.support.agents import processes_with
from tests.support.repositories import git
from tests.support.runs import DONE, TO_REVIEW, RunProject, project
from tests.support.waiting import until
from tests.support.workspaces import TASK

__all__ = ["project"]


def test_a_single_reviewer_works_in_a_checkout_of_its_own(project: RunProject) -> None:
    place = project.path.parent / "place"
    project.settings("isolation: task\n")
    project.agent(
        f'if [ "$GITTICKS_ROLE" = reviewer ]; then pwd > {place}; echo x >> login.txt; git commit -qam meddle\n'
        f"printf '\\n## Review\\n\\nPASS\\n' >> \"$GITTICKS_MAILBOX/TASK.md\"; exit; fi\n{DONE}"
    )
    project.make()
    assert project.run().code == 3
    assert project.stands() == TO_REVIEW
    assert Path(place.read_text().strip()).name == "k7f2"
    assert "reviews" in place.read_text()
    assert git("rev-parse", "gitticks/work/k7f2", at=project.path) == project.task("k7f2").end_sha


def test_a_killed_council_leaves_no_checkout_whoever_was_done_before(project: RunProject) -> None:
    slow = 'touch "$0.begun"; sleep 600\n'
    council(project, one=APPROVED, two=APPROVED, three=slow)
    project.make()
    reviews = project.path / ".gitticks-work" / "reviews"
    with project.running() as process:
        until(
            lambda: (
                list(project.path.parent.glob("*.sh.begun"))
                and [one.name for one in reviews.glob("*")] == ["k7f2.3"]
            ),
            "the last reviewer alone",
        )
        process.send_signal(signal.SIGKILL)
    until(lambda: not processes_with(project.mark), "the end of every reviewer")
    run = run_context(Context(directory=project.path), lambda _: None)
    until(lambda: run.sessions.dead() != [], "the end of its supervisors")
    assert recover(run) == ["k7f2"]
    assert not reviews.exists()


def test_the_folder_of_the_checkouts_stays_while_git_makes_one_in_it(project: RunProject) -> None:
    repository = project.store.repository
    folder = project.path / ".gitticks-work" / "reviews"
    folder.mkdir(parents=True)
    removal = threading.Thread(target=remove_review_checkout, args=(repository, folder / "k7f2.1"))
    with worktrees_lock(repository):
        removal.start()
        removal.join(0.3)
        assert folder.is_dir()
    removal.join()
    assert not folder.exists()


def test_a_dead_review_outside_of_the_reviews_folder_removes_nothing(project: RunProject) -> None:
    kept = project.path / "file.txt"
    kept.write_text("mine\n")
    reviews = ReviewCheckouts(discover(project.path), Settings(), os.environ, print)
    for path in (project.path, project.path / ".gitticks-work" / "k7f2"):
        reviews.remove_of(TASK, path)
    assert kept.read_text() == "mine\n"
    assert (project.path / ".git").is_dir()


def test_a_reviewer_that_breaks_its_checkout_has_answered(project: RunProject) -> None:
    council(project, one=f"rm -rf .git .gt/../*\n{BLOCKING}", more="council: {rounds: 1}\n")
    project.make()
    project.run()
    assert review(project).startswith("FAIL")
