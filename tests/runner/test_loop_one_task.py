"""One task's way through the loop: work, review, signals, answers, and what reaches the next iteration."""

from __future__ import annotations

import json

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Awaiting, Status
from gitticks.runner.outcome import RunExit
from tests.support.repositories import git
from tests.support.runs import COMMIT, DONE, FAIL, HANDOFF, NO_REVIEW, PASS, TO_REVIEW, RunProject, project

__all__ = ["project"]


def reviewer(work: str, review: str) -> str:
    """Returns an agent that works and reviews."""
    return f"if [ $GITTICKS_ROLE = reviewer ]; then\n{review}\nelse\n{work}\nfi\n"


class TestOneTask:
    def test_work_review_person_merge(self, project: RunProject) -> None:
        project.agent(reviewer(DONE, PASS))
        project.make()
        assert project.run().code == RunExit.WAITS
        assert project.stands() == TO_REVIEW
        assert project.file("k7f2").data.count(b"PASS, fine") == 1
        assert project.gt("approve", "k7f2").code == 0
        assert project.stands() == (Status.DONE, None)
        assert project.merges() == ["k7f2"]

    def test_a_reviewer_that_crashes_twice_is_named_and_finished_work_is_reviewed_again(
        self, project: RunProject
    ) -> None:
        project.agent(reviewer(DONE, "exit 1"))
        project.make()
        assert project.run().code == RunExit.STUCK
        inbox = project.ok("inbox")
        assert "stuck: its reviewer `mine` crashed: exit code 1\n" in inbox
        assert 'gt handoff k7f2 --done "…" && gt complete k7f2' in inbox
        project.ok("handoff", "k7f2", "--done", "as before")
        project.ok("complete", "k7f2")
        project.agent(reviewer("exit 1", PASS))
        assert project.run().code == RunExit.WAITS
        assert project.stands() == TO_REVIEW

    def test_a_review_belongs_to_the_iteration_that_it_reviews(self, project: RunProject) -> None:
        numbers = project.path.parent / "numbers"
        judge = f"if [ $GITTICKS_ROUND = 1 ]; then {FAIL}else {PASS}fi"
        project.agent(f'echo "$GITTICKS_ROLE $GITTICKS_ITERATION" >> "{numbers}"\n{reviewer(DONE, judge)}')
        project.make()
        project.run()
        expected = ["worker 1", "reviewer 1", "worker 2", "reviewer 2"]
        assert numbers.read_text().splitlines() == expected
        worklog = json.loads(project.ok("review", "k7f2", "--json"))["review"]["worklog"]
        assert [f"{one['role']} {one['iteration']}" for one in worklog] == expected
        assert "2 iterations" in project.ok("show", "k7f2")

    def test_a_failed_review_goes_back_with_its_words(self, project: RunProject) -> None:
        look = f'if grep -q "FAIL, not yet" "$GITTICKS_MAILBOX/prompt.md"; then touch "{project.path.parent}/read"; fi\n'
        judge = f"if [ $GITTICKS_ROUND = 1 ]; then {FAIL}else {PASS}fi"
        project.agent(reviewer(look + DONE, judge))
        project.make()
        assert project.run().code == RunExit.WAITS
        assert project.stands() == TO_REVIEW
        assert (project.path.parent / "read").exists()
        assert project.task("k7f2").review_round == 2

    def test_the_second_failed_review_is_stuck(self, project: RunProject) -> None:
        project.agent(reviewer(DONE, FAIL))
        project.make()
        assert project.run().code == RunExit.STUCK
        assert project.task("k7f2").failed_reviews == 2

    def test_no_verdict_twice_is_stuck(self, project: RunProject) -> None:
        project.agent(reviewer(DONE, "echo I like it"))
        project.make()
        assert project.run().code == RunExit.STUCK
        assert project.last(EventType.CRASHED).reason == "the review has no verdict"

    def test_a_reviewer_that_moves_the_branch_voids_its_own_review(self, project: RunProject) -> None:
        mark = project.path.parent / "once"
        move = f"{COMMIT}git update-ref refs/heads/gitticks/work/k7f2 HEAD\n"
        once = f'if [ ! -e "{mark}" ]; then touch "{mark}"; {move}fi\n'
        project.agent(reviewer(DONE, once + PASS))
        project.make()
        project.run()
        assert project.kinds().count(EventType.VOIDED) == 1
        assert project.stands() == TO_REVIEW
        assert project.task("k7f2").end_sha == git("rev-parse", "gitticks/work/k7f2", at=project.path)

    @pytest.mark.parametrize(
        ("said", "stands"),
        [
            ("<promise>INPUT_NEEDED: Which port?</promise>", (Status.CLARIFICATION, Awaiting.INPUT)),
            ("<promise>BLOCKED: Which port?</promise>", (Status.CLARIFICATION, Awaiting.INPUT)),
            ("<promise>ESCALATE: It is too big.</promise>", (Status.CLARIFICATION, Awaiting.ESCALATION)),
            ("<promise>CHECKPOINT: Half is done.</promise>", (Status.WORKING, Awaiting.CHECKPOINT)),
            ("<promise>EJECT: Do it yourself.</promise>", (Status.WORKING, Awaiting.WORK)),
            ("<promise>APPROVAL_NEEDED: Costs money.</promise>", (Status.REVIEWING, Awaiting.APPROVAL)),
            ("<promise>CONTENT_REVIEW: Read it.</promise>", (Status.REVIEWING, Awaiting.CONTENT)),
            ("STATUS: DONE", TO_REVIEW),
            ('{"status": "completed", "summary": "all of it"}', TO_REVIEW),
            (
                '{"status": "needs_input", "question": "Which port?"}',
                (Status.CLARIFICATION, Awaiting.INPUT),
            ),
        ],
    )
    def test_each_signal(
        self, project: RunProject, said: str, stands: tuple[Status, Awaiting | None]
    ) -> None:
        project.settings(NO_REVIEW)
        project.agent(f"{COMMIT}{HANDOFF}echo '{said}'")
        project.make()
        project.run()
        assert project.stands() == stands

    def test_status_continue_asks_for_the_next_iteration(self, project: RunProject) -> None:
        project.settings(NO_REVIEW)
        project.agent(f"if [ $GITTICKS_ITERATION = 1 ]; then echo 'STATUS: CONTINUE'; else {DONE}fi")
        project.make()
        project.run()
        assert project.stands() == TO_REVIEW
        assert project.task("k7f2").usage.iterations == 2

    def test_an_answer_brings_the_task_back(self, project: RunProject) -> None:
        project.settings(NO_REVIEW)
        project.agent(
            f'if grep -q "Port 8080" "$GITTICKS_MAILBOX/prompt.md"; then {DONE}'
            "else echo '<promise>INPUT_NEEDED: Which port?</promise>'; fi"
        )
        project.make()
        assert project.run().code == RunExit.WAITS
        project.ok("respond", "k7f2", "Port 8080")
        project.run()
        assert project.stands() == TO_REVIEW

    def test_a_note_reaches_the_next_iteration(self, project: RunProject) -> None:
        project.settings(NO_REVIEW)
        project.agent(f'if grep -q "Use tabs" "$GITTICKS_MAILBOX/prompt.md"; then {DONE}fi')
        project.make()
        project.run("--max-iterations", "1")
        project.ok("note", "k7f2", "Use tabs")
        project.run("--max-iterations", "1")
        assert project.stands() == TO_REVIEW

    def test_learnings_reach_the_next_iteration(self, project: RunProject) -> None:
        project.settings(NO_REVIEW)
        project.agent(
            f'if grep -q "port is taken" "$GITTICKS_MAILBOX/prompt.md"; then {DONE}'
            'else echo "The port is taken." > "$GITTICKS_MAILBOX/learnings.md"; fi'
        )
        project.make()
        project.run("--max-iterations", "2")
        assert project.stands() == TO_REVIEW
