"""Comments on lines in the review: they go along with any verdict, once, and stay with their line until then."""

from __future__ import annotations

import pytest
from textual import events

from gitticks.actions.context import Context
from gitticks.model.notes import Section
from gitticks.model.status import Awaiting, Status
from gitticks.tui.remembered import UnsentComments
from tests.support.projects import Project, make_reviewing
from tests.support.repositories import commit_file, git
from tests.tui.support import Shown, held_back, play
from tests.tui.test_review import (
    STUCK,
    comment_on_first_line,
    open_inbox,
    open_review,
    project,
    reviewing,
)

__all__ = ["project"]


@pytest.mark.parametrize(("text", "feedback"), [("see there", "see there"), ("", "see the comments")])
def test_work_is_rejected_with_comments_and_a_sentence_or_none(
    project: Project, text: str, feedback: str
) -> None:
    reviewing(project)

    async def work(shown: Shown) -> None:
        await open_review(shown, "login.txt")
        await shown.press("right_square_bracket", "down", "c")
        await shown.sees("comment")
        await shown.type("too short")
        await shown.press("enter", "n")
        await shown.sees("Send k7f2 back", "login.txt:1", "too short")
        await shown.type(text)
        await shown.press("enter")
        await shown.until(lambda: project.task("k7f2").status is Status.WORKING, "the rejection")

    play(project.path, work)
    texts = [note.text for note in project.file("k7f2").entries(Section.NOTES)]
    assert any("too short" in one for one in texts)
    assert any(feedback in one for one in texts)


def test_what_changes_after_the_comments_refuses_the_verdict_and_they_are_sent_once(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    reviewing(project)
    project.change("k7f2", asked_at=project.task("k7f2").created)
    goes_on = held_back(monkeypatch, "gitticks.actions.verdict.reject_task")

    async def reject(shown: Shown) -> None:
        await shown.press("n")
        await shown.sees("Send k7f2 back", "too short")
        await shown.type("see there")
        await shown.press("enter")

    async def work(shown: Shown) -> None:
        await open_review(shown, "login.txt")
        await shown.press("right_square_bracket", "down", "c")
        await shown.sees("It goes to the agent")
        await shown.type("too short")
        await shown.press("enter")
        await reject(shown)
        await shown.until(lambda: project.notes("k7f2"), "the comment")
        project.ok("update", "k7f2", "--title", "Keep the query")
        goes_on.set()
        await shown.reads("changed since you looked: its title changed")
        await shown.sees("the work changed; r reloads")
        await shown.press("r")
        await shown.no_longer_sees("r reloads")
        await reject(shown)
        await shown.until(lambda: project.task("k7f2").status is Status.WORKING, "the rejection")

    play(project.path, work)
    assert sum("too short" in one for one in project.notes("k7f2")) == 1


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


def test_comments_that_were_sent_are_gone_although_the_interface_was_left_at_once(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    reviewing(project)
    goes_on = held_back(monkeypatch, "gitticks.actions.verdict.approve_task")

    async def work(shown: Shown) -> None:
        await open_review(shown, "login.txt")
        await comment_on_first_line(shown, "well done")
        await shown.press("y")
        await shown.sees("Approve k7f2", "with your 1 comment as notes")
        await shown.press("enter")
        await shown.until(lambda: project.notes("k7f2"), "the comment")
        shown.app.exit(0)
        goes_on.set()

    play(project.path, work)
    assert project.task("k7f2").approval is not None or not project.task("k7f2").is_open
    assert UnsentComments(Context(directory=project.path)).on("k7f2") == {}


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


def test_an_answer_takes_the_comments_along(project: Project) -> None:
    make_reviewing(project, status=Status.WORKING, awaiting=Awaiting.CHECKPOINT)

    async def work(shown: Shown) -> None:
        await open_review(shown, "login.txt")
        await comment_on_first_line(shown, "too short")
        await shown.press("y")
        await shown.sees("your answer", "with your 1 comment as notes")
        await shown.type("go on")
        await shown.press("enter")
        await shown.until(lambda: project.task("k7f2").awaiting is None, "the answer")
        await shown.until(lambda: not shown.app.unsent.on("k7f2"), "the end of the comments")

    play(project.path, work)
    quoted, answer = project.notes("k7f2")
    assert (quoted.split("\n\n")[-1], answer) == ("too short", "go on")


def test_a_decision_on_a_stuck_task_takes_the_comments_along(project: Project) -> None:
    make_reviewing(project, **STUCK)

    async def work(shown: Shown) -> None:
        await open_review(shown, "login.txt")
        await comment_on_first_line(shown, "too short")
        await shown.press("escape")
        await open_inbox(shown, "k7f2  stuck")
        await shown.press("enter")
        await shown.sees("1 comment", "y decide")
        await shown.press("escape")
        await shown.sees("k7f2  stuck")
        await shown.press("y")
        await shown.sees("1 comment", "your comments on it are not sent yet")
        await shown.press("y")
        await shown.sees("try again, with a note")
        await shown.press("enter")
        await shown.until(lambda: project.task("k7f2").status is Status.WORKING, "the next try")
        await shown.until(lambda: not shown.app.unsent.on("k7f2"), "the end of the comments")

    play(project.path, work)
    assert [one.split("\n\n")[-1] for one in project.notes("k7f2")] == ["too short"]


def test_a_comment_stays_with_the_line_that_it_was_written_on(project: Project) -> None:
    workspace = reviewing(project)

    async def work(shown: Shown) -> None:
        await open_review(shown, "login.txt")
        await comment_on_first_line(shown, "too short")
        commit_file(workspace, "login.txt", "something else\nk7f2\n", "more")
        project.change("k7f2", end_sha=git("rev-parse", "HEAD", at=workspace))
        await shown.sees("the work changed; r reloads")
        await shown.press("r")
        await shown.sees("login.txt:1  of an earlier version", "something else", "1 comment")
        rows = [row for row in shown.text.splitlines() if "k7f2" in row or "too short" in row]
        assert "too short" in rows[-2], "below the line as it was, above the changes"
        await shown.press("home", "c")
        await shown.sees("Empty removes it.")
        await shown.type(" and dull")
        await shown.press("enter", "n")
        await shown.sees("Send k7f2 back", "login.txt:1", "too short and dull")
        await shown.press("enter")
        await shown.until(lambda: project.task("k7f2").status is Status.WORKING, "the rejection")

    play(project.path, work)
    said = "On `login.txt`, line 1 of an earlier version:\n\n    k7f2\n\ntoo short and dull"
    assert project.notes("k7f2")[0] == said
