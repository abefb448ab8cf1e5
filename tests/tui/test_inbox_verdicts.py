"""Verdicts and answers on Home: each entry of the inbox can be decided about, and holds for what was shown."""

from __future__ import annotations

import pytest

from gitticks.actions.context import Context
from gitticks.actions.inbox import Asked, with_changes
from gitticks.model.status import Awaiting, Status
from gitticks.tui.feed import take_snapshot
from gitticks.tui.screens.home import Home
from gitticks.tui.screens.review import Review
from gitticks.tui.screens.verdicts import look_into
from tests.support.projects import Project, make_reviewing
from tests.support.repositories import commit_file, git
from tests.tui.support import Shown, held_back, play
from tests.tui.test_review import QUESTION, STUCK, open_inbox, open_review, project, reviewing

__all__ = ["project"]


def test_a_note_meanwhile_refuses_an_approval_in_the_inbox(project: Project) -> None:
    reviewing(project)

    async def work(shown: Shown) -> None:
        await open_inbox(shown, "merges cleanly")
        await shown.press("y")
        await shown.sees("Approve k7f2")
        project.ok("note", "k7f2", "do not merge")
        await shown.press("enter")
        await shown.sees("changed since you looked", "its notes changed")
        assert project.task("k7f2").status is Status.REVIEWING
        await shown.press("escape")
        await shown.until(lambda: _read_again(shown), "the note")
        await shown.press("y")
        await shown.sees("Approve k7f2", "do not merge")
        await shown.press("enter")
        await shown.until(lambda: project.task("k7f2").status is Status.DONE, "the merge")

    play(project.path, work)


def _read_again(shown: Shown) -> bool:
    home = shown.app.screen
    assert isinstance(home, Home)
    told = home._looked["k7f2"].seen.told
    return told is not None and bool(told.notes)


def test_of_work_handed_off_again_nothing_is_shown_before_it_was_compared(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = reviewing(project)

    async def work(shown: Shown) -> None:
        await open_inbox(shown, "merges cleanly")
        home = shown.app.screen
        assert isinstance(home, Home)
        goes_on = held_back(monkeypatch, "gitticks.tui.screens.verdicts.with_changes")
        commit_file(workspace, "more.txt", "more\n", "more")
        head = git("rev-parse", "HEAD", at=workspace)
        project.change("k7f2", end_sha=head)
        await shown.until(lambda: "k7f2" not in home._looked or home._looked["k7f2"].seen.head == head)
        assert "k7f2" not in home._looked
        await shown.press("y")
        await shown.sees("more.txt", "merges 2 commits into main")
        goes_on.set()

    play(project.path, work)


def test_a_verdict_is_about_the_work_that_was_compared(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = reviewing(project)
    head = git("rev-parse", "HEAD", at=workspace)

    def move_meanwhile(context: Context, entries: tuple[Asked, ...]) -> tuple[Asked, ...]:
        compared = with_changes(context, entries)
        commit_file(workspace, "more.txt", "more\n", "more")
        project.change("k7f2", end_sha=git("rev-parse", "HEAD", at=workspace))
        return compared

    monkeypatch.setattr("gitticks.tui.screens.verdicts.with_changes", move_meanwhile)
    context = Context(directory=project.path)
    looked = look_into(context, take_snapshot(context, 1).inbox)
    assert looked["k7f2"].seen.head == head


def test_what_awaits_review_meanwhile_is_not_closed_as_a_person_s_own_work(project: Project) -> None:
    project.make("b2cd", title="By hand", awaiting=Awaiting.WORK)

    async def work(shown: Shown) -> None:
        await open_inbox(shown, "By hand")
        await shown.press("enter")
        await shown.sees("Close b2cd as done?")
        project.change("b2cd", status=Status.REVIEWING, awaiting=Awaiting.REVIEW)
        await shown.press("enter")
        await shown.reads("changed since you looked: it awaits review now, not work")

    play(project.path, work)
    assert project.task("b2cd").status is Status.REVIEWING


def test_what_is_answered_in_the_inbox_goes_back_to_its_agent_and_leaves_no_keys(project: Project) -> None:
    project.make("m3xq", title="Rename", status=Status.CLARIFICATION, awaiting=Awaiting.INPUT, body=QUESTION)

    async def work(shown: Shown) -> None:
        await open_inbox(shown, "m3xq  question", "n cancel")
        await shown.sees("enter answer")
        await shown.press("y")
        await shown.sees("your answer")
        await shown.type("formal")
        await shown.press("enter")
        await shown.sees("m3xq answered; back to its agent")
        await shown.sees("Nothing is waiting for you.")
        keys = shown.text.splitlines()[-1]
        assert "+ new task" in keys
        assert not any(word in keys for word in ("answer", "approve", "reject", "enter"))

    play(project.path, work)


def test_a_stuck_task_is_decided_about_in_the_inbox(project: Project) -> None:
    project.make("z42v", **STUCK)

    async def work(shown: Shown) -> None:
        await open_inbox(shown, "z42v  stuck", "y decide")
        assert "escalation" not in shown.text
        await shown.press("enter")
        await shown.sees("It is stuck.", "try again, with a note", "cancel it")
        await shown.press("down", "enter")
        await shown.sees("your note")
        await shown.type("use the cache")
        await shown.press("enter")
        await shown.until(lambda: project.task("z42v").status is Status.WORKING, "the next try")

    play(project.path, work)
    assert project.notes("z42v") == ["use the cache"]


def test_the_last_entry_of_a_long_inbox_is_answered_and_judged_like_the_first(project: Project) -> None:
    for number in range(20):
        project.make(f"b{number:02}d", status=Status.CLARIFICATION, awaiting=Awaiting.INPUT, priority=1)
    asks = {"status": Status.CLARIFICATION, "awaiting": Awaiting.INPUT, "body": QUESTION}
    project.make("m3xq", title="Rename", priority=3, **asks)
    make_reviewing(project, priority=3)

    async def go_to(shown: Shown, task_id: str, *words: str) -> None:
        await open_inbox(shown, *words)
        home = shown.app.view
        assert isinstance(home, Home)
        home.pane("inbox").go_to(task_id)
        await shown.until(lambda: task_id in home._looked, "the look at the entry")

    async def work(shown: Shown) -> None:
        await go_to(shown, "m3xq", "22 waiting")
        await shown.press("enter")
        await shown.sees("m3xq  Rename", "your answer")
        await shown.type("formal")
        await shown.press("enter")
        await shown.until(lambda: project.task("m3xq").status is Status.WORKING, "the answer")
        await go_to(shown, "k7f2", "21 waiting")
        await shown.sees("1 file +1", "merges cleanly")
        await shown.press("y")
        await shown.sees("Approve k7f2 into main?")

    play(project.path, work)


def test_of_many_pieces_of_work_none_is_said_to_have_no_code(project: Project) -> None:
    for number in range(11):
        make_reviewing(project, f"b{number:02}d", title=f"Work {number}", priority=number // 10)

    async def work(shown: Shown) -> None:
        await open_inbox(shown, "11 waiting")
        home = shown.app.view
        assert isinstance(home, Home)
        home.pane("inbox").go_to("b10d")
        await shown.until(lambda: home._looked["b10d"].is_whole, "the look at the entry")
        await shown.press("y")
        await shown.sees("Approve b10d into main?")
        assert "no code" not in shown.text

    play(project.path, work)


def test_work_that_could_not_be_compared_in_time_is_approved_on_its_own_page(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitticks.actions.inbox.MOST_SECONDS", 0.0)
    reviewing(project)

    async def work(shown: Shown) -> None:
        await open_inbox(shown, "1 waiting")
        await shown.press("y")
        await shown.sees("login.txt", "merges 1 commit into main")

    play(project.path, work)


def test_an_inbox_that_could_not_be_looked_into_still_says_why_nothing_can_be_decided(
    project: Project,
) -> None:
    reviewing(project)
    with (project.board / "config.yaml").open("a") as file:
        file.write("bogus: 1\n")
    git("commit", "-qam", "broken", "--no-verify", at=project.board)

    async def work(shown: Shown) -> None:
        await shown.sees("k7f2")
        await shown.press("i", "y")
        await shown.until(lambda: isinstance(shown.app.view, Review), "the review")
        await shown.sees("bogus")

    play(project.path, work)


def test_no_cancels_a_question_in_the_inbox_as_in_its_review(project: Project) -> None:
    project.make("m3xq", title="Rename", status=Status.CLARIFICATION, awaiting=Awaiting.INPUT, body=QUESTION)

    async def work(shown: Shown) -> None:
        await open_inbox(shown, "m3xq  question", "y answer  n cancel")
        await shown.press("n")
        await shown.sees("Cancel m3xq?", "the reason")
        await shown.press("escape", "escape")
        await open_review(shown, "y answer  n cancel", task_id="m3xq")
        await shown.press("n")
        await shown.sees("Cancel m3xq?", "the reason")
        await shown.type("not now")
        await shown.press("enter")
        await shown.until(lambda: project.task("m3xq").status is Status.CANCELLED, "the end")

    play(project.path, work)
