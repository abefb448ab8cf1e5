"""Verdicts, comments and answers, by keys, on real repositories."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from gitticks.model.notes import Section
from gitticks.model.status import Awaiting, Status
from tests.support.projects import Project, make_project, make_reviewing
from tests.support.repositories import commit_file, git
from tests.tui.support import Shown, play

QUESTION = "## Questions\n\n### 2026-03-04T05:00:00Z · agent · claude\n\nWhich tone, \x1b[2J[/x] friendly?\n"
HANDOFF = "## Handoff\n\n- DONE: the path is kept\n- UNCERTAIN: the [bold]cookie\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")


def reviewing(project: Project) -> Path:
    """Makes work that awaits a review, with a hand-off."""
    return make_reviewing(project, title="Keep [/x] the path", body=HANDOFF)


async def open_review(shown: Shown, *words: str, task_id: str = "k7f2") -> None:
    await shown.sees(task_id)
    shown.app.go("review", task_id)
    await shown.sees(*words)


def test_work_is_approved_with_a_comment_and_merged(project: Project) -> None:
    reviewing(project)

    async def work(shown: Shown) -> None:
        await open_review(shown, "UNCERTAIN", "the [bold]cookie", "login.txt", "merges cleanly into main")
        await shown.press("right_square_bracket", "down", "c")
        await shown.type("really")
        await shown.sees("login.txt:1", "really")
        await shown.press("enter")
        await shown.sees("1 comment")
        await shown.press("y")
        await shown.sees(
            "Merge k7f2 into main?", "1 commit", "with your 1 comment as notes", "No tests are set"
        )
        assert project.task("k7f2").status is Status.REVIEWING
        await shown.press("escape", "y")
        await shown.sees("Merge k7f2 into main?")
        await shown.press("enter")
        await shown.until(lambda: project.task("k7f2").status is Status.DONE, "the merge")
        await shown.sees("merged into main as")

    play(project.path, work)
    assert git("show", "main:login.txt", at=project.path).strip() == "k7f2"
    assert project.file("k7f2").entries(Section.NOTES)[0].text.endswith("really")


def test_work_is_rejected_with_a_sentence_and_comments(project: Project) -> None:
    reviewing(project)

    async def work(shown: Shown) -> None:
        await open_review(shown, "login.txt")
        await shown.press("right_square_bracket", "down", "c")
        await shown.sees("comment")
        await shown.type("too short")
        await shown.press("enter", "n")
        await shown.sees("Send k7f2 back", "login.txt:1", "too short")
        await shown.press("enter")  # an empty sentence sends nothing
        await shown.type("see there")
        await shown.press("enter")
        await shown.until(lambda: project.task("k7f2").status is Status.WORKING, "the rejection")

    play(project.path, work)
    texts = [note.text for note in project.file("k7f2").entries(Section.NOTES)]
    assert any("too short" in text for text in texts)
    assert any("see there" in text for text in texts)


def test_comments_outlive_the_interface_until_they_are_sent(project: Project) -> None:
    reviewing(project)

    async def comment(shown: Shown) -> None:
        await open_review(shown, "login.txt")
        await shown.press("right_square_bracket", "down", "c")
        await shown.sees("comment")
        await shown.type("too short")
        await shown.press("enter")
        await shown.sees("1 comment")

    async def remove(shown: Shown) -> None:
        await open_review(shown, "login.txt", "1 comment", "too short")
        await shown.press("right_square_bracket", "down", "c")
        await shown.sees("Empty removes it.")
        await shown.press("ctrl+u", "enter")
        await shown.no_longer_sees("too short")

    async def look(shown: Shown) -> None:
        await open_review(shown, "login.txt", "merges cleanly")
        assert "1 comment" not in shown.text

    for one in (comment, remove, look):
        play(project.path, one)


def test_what_was_typed_is_there_again_and_pasted_lines_are_one(project: Project) -> None:
    reviewing(project)

    async def work(shown: Shown) -> None:
        await open_review(shown, "login.txt")
        await shown.press("n")
        await shown.sees("Send k7f2 back")
        shown.app.post_message(events.Paste("two\n  lines\n"))
        await shown.sees("two lines")
        await shown.press("escape")
        await shown.no_longer_sees("Send k7f2 back")
        await shown.press("n")
        await shown.sees("Send k7f2 back", "two lines")

    play(project.path, work)


def test_a_new_commit_meanwhile_refuses_the_verdict(project: Project) -> None:
    workspace = reviewing(project)

    async def work(shown: Shown) -> None:
        await open_review(shown, "login.txt")
        commit_file(workspace, "more.txt", "more\n", "more")
        project.change("k7f2", end_sha=git("rev-parse", "HEAD", at=workspace))
        await shown.press("y")
        await shown.sees("Merge k7f2")
        await shown.press("enter")
        await shown.sees("changed", "r reloads")
        assert project.task("k7f2").status is Status.REVIEWING
        await shown.press("r")
        await shown.sees("more.txt")
        await shown.press("y")
        await shown.sees("2 commits")

    play(project.path, work)


def test_a_verdict_of_somebody_else_is_seen_at_once(project: Project) -> None:
    reviewing(project)

    async def work(shown: Shown) -> None:
        await open_review(shown, "login.txt")
        project.ok("reject", "k7f2", "not so")
        await shown.sees("the work changed; r reloads")
        await shown.press("y")
        await shown.sees("the work on k7f2 changed")

    play(project.path, work)


def test_a_conflict_is_shown_before_anybody_merges(project: Project) -> None:
    reviewing(project)
    commit_file(project.path, "login.txt", "something else\n", "elsewhere")

    async def work(shown: Shown) -> None:
        await open_review(shown, "conflicts in login.txt")
        await shown.press("y")
        await shown.sees("conflicts in login.txt", "does not merge cleanly")

    play(project.path, work)


def test_a_question_is_answered_with_its_context(project: Project) -> None:
    project.make("m3xq", title="Rename", status=Status.CLARIFICATION, awaiting=Awaiting.INPUT, body=QUESTION)

    async def work(shown: Shown) -> None:
        await open_review(shown, "claude asks", "\\x1b[2J[/x] friendly?", "in your editor", task_id="m3xq")
        await shown.press("y")
        await shown.sees("m3xq asks", "your answer")
        await shown.type("formal")
        await shown.press("enter")
        await shown.until(lambda: project.task("m3xq").status is Status.WORKING, "the answer")

    play(project.path, work)
    assert project.file("m3xq").entries(Section.QUESTIONS)[-1].text == "formal"


def test_without_code_an_approval_says_that_it_merges_nothing(project: Project) -> None:
    project.make("b2cd", title="Think", status=Status.REVIEWING, awaiting=Awaiting.REVIEW)

    async def work(shown: Shown) -> None:
        await open_review(shown, "No code was handed off", "merges nothing", task_id="b2cd")
        await shown.press("y")
        await shown.sees("Approve b2cd?", "nothing is merged")
        await shown.press("enter")
        await shown.until(lambda: project.task("b2cd").status is Status.DONE, "the end")

    play(project.path, work)
