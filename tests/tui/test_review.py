"""Verdicts, comments and answers, by keys, on real repositories."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from gitticks.actions.context import Context
from gitticks.model.notes import Section
from gitticks.model.status import Awaiting, Status
from gitticks.tui.screens.home import Home
from gitticks.tui.screens.review import Review, Work
from gitticks.tui.widgets import diff
from gitticks.tui.widgets.lines import Line, Lines, words
from tests.support.projects import Project, make_project, make_reviewing
from tests.support.repositories import commit_file, git
from tests.support.waiting import until
from tests.tui.support import Shown, held_back, play

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


async def open_inbox(shown: Shown, *words: str) -> None:
    """Goes to the inbox of Home, and waits until verdicts can be given there."""
    await shown.sees(*words)
    home = shown.app.view
    assert isinstance(home, Home)
    await shown.until(lambda: home._looked, "the look at the entries")
    await shown.press("i")


async def comment_on_first_line(shown: Shown, text: str) -> None:
    """Comments on the first line of the first file of a review."""
    await shown.press("right_square_bracket", "down", "c")
    await shown.sees("It goes to the agent")
    await shown.type(text)
    await shown.press("enter")
    await shown.sees("1 comment")


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
            "Approve k7f2 into main?", "1 commit", "with your 1 comment as notes", "No tests are set"
        )
        assert project.task("k7f2").status is Status.REVIEWING
        await shown.press("escape", "y")
        await shown.sees("Approve k7f2 into main?")
        await shown.press("enter")
        await shown.until(lambda: project.task("k7f2").status is Status.DONE, "the merge")
        await shown.sees("merged into main as")

    play(project.path, work)
    assert git("show", "main:login.txt", at=project.path).strip() == "k7f2"
    assert project.file("k7f2").entries(Section.NOTES)[0].text.endswith("really")


@pytest.mark.parametrize(
    ("keys", "sees"),
    [(("right_square_bracket", "down", "c"), "It goes to the agent"), (("t",), "History")],
    ids=["dialog", "place"],
)
def test_a_verdict_closes_nothing_that_was_opened_meanwhile(
    project: Project, monkeypatch: pytest.MonkeyPatch, keys: tuple[str, ...], sees: str
) -> None:
    reviewing(project)
    goes_on = held_back(monkeypatch, "gitticks.actions.verdict.approve_task")

    async def work(shown: Shown) -> None:
        await open_review(shown, "login.txt")
        await shown.press("y")
        await shown.sees("Approve k7f2")
        await shown.press("enter")
        await shown.no_longer_sees("Approve k7f2")
        await shown.press(*keys)
        await shown.sees(sees)
        opened = shown.app.screen
        goes_on.set()
        await shown.sees("merged into main as")
        assert shown.app.screen is opened

    play(project.path, work)


def test_a_new_commit_meanwhile_refuses_the_verdict(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, read = reviewing(project), Review.read

    def read_slowly(place: Review, context: Context) -> Work:
        time.sleep(0.5)
        return read(place, context)

    async def work(shown: Shown) -> None:
        await open_review(shown, "login.txt")
        await shown.press("y")
        await shown.sees("Approve k7f2")
        commit_file(workspace, "more.txt", "more\n", "more")
        project.change("k7f2", end_sha=git("rev-parse", "HEAD", at=workspace))
        await shown.press("enter")
        await shown.sees("changed", "r reloads")
        assert project.task("k7f2").status is Status.REVIEWING
        monkeypatch.setattr(Review, "read", read_slowly)
        await shown.press("r")
        shown.app.screen.redraw()  # type: ignore[attr-defined]
        await shown.sees("more.txt")
        await shown.press("y")
        await shown.sees("2 commits")

    play(project.path, work)


def test_what_is_approved_is_merged_though_the_interface_is_left_at_once(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    reviewing(project)
    goes_on = held_back(monkeypatch, "gitticks.actions.verdict.approve_task")

    async def work(shown: Shown) -> None:
        await open_review(shown, "login.txt")
        await shown.press("y")
        await shown.sees("Approve k7f2")
        await shown.press("enter")
        await shown.no_longer_sees("Approve k7f2")
        shown.app.exit(0)
        goes_on.set()

    play(project.path, work)
    until(lambda: project.task("k7f2").status is Status.DONE, "the merge")


def test_with_a_commit_since_the_hand_off_nobody_is_asked_to_approve(project: Project) -> None:
    workspace = reviewing(project)

    async def work(shown: Shown) -> None:
        await open_inbox(shown, "merges cleanly")
        await open_review(shown, "login.txt", "merges cleanly")
        commit_file(workspace, "more.txt", "more\n", "more")
        await shown.sees("the work changed; r reloads")
        await shown.press("y")
        await shown.sees("k7f2 changed since you looked")
        await shown.press("r")
        await shown.no_longer_sees("merges cleanly")
        await shown.no_longer_sees("the work changed")
        await shown.sees("new commits since it was handed off")
        await shown.press("y")
        await shown.sees("hand off again")
        assert "Approve k7f2" not in shown.text
        await shown.press("escape", "escape")
        await shown.sees("new commits since it was handed off", "For you")
        await shown.press("enter")
        await shown.sees("login.txt", "y approve")
        await shown.press("n")
        await shown.sees("Send k7f2 back")

    play(project.path, work)


def test_nobody_is_asked_to_approve_what_its_epic_merges_no_more(project: Project) -> None:
    project.make("ep1c", type="epic")
    workspace = make_reviewing(project, parent="ep1c", branch="gitticks/work/ep1c")
    git("branch", "-m", "gitticks/work/k7f2", "gitticks/work/ep1c", at=workspace)

    async def work(shown: Shown) -> None:
        await open_review(shown, "login.txt", "merged with its epic ep1c")
        project.ok("cancel", "ep1c")
        await shown.press("r")
        await shown.sees("no longer merged with its epic")
        await shown.press("y")
        await shown.sees("the work of `k7f2` is on the branch of the epic `ep1c`")
        assert "Approve k7f2" not in shown.text

    play(project.path, work)


def test_a_note_or_title_meanwhile_refuses_the_verdict(project: Project) -> None:
    reviewing(project)

    async def work(shown: Shown) -> None:
        await open_review(shown, "login.txt")
        await shown.press("y")
        await shown.sees("Approve k7f2")
        project.ok("note", "k7f2", "do not merge")
        await shown.press("enter")
        await shown.sees("k7f2 changed since you looked", "r reloads")
        assert project.task("k7f2").status is Status.REVIEWING
        await shown.press("r", "y")
        await shown.sees("Approve k7f2", "do not merge")
        await shown.press("escape")
        project.ok("update", "k7f2", "--title", "Keep the query")
        await shown.sees("the work changed; r reloads")
        await shown.press("r")
        await shown.no_longer_sees("r reloads")
        await shown.press("y")
        await shown.sees("Approve k7f2", "Keep the query")

    play(project.path, work)


def test_a_verdict_of_somebody_else_is_seen_at_once(project: Project) -> None:
    reviewing(project)

    async def work(shown: Shown) -> None:
        await open_review(shown, "login.txt")
        project.ok("reject", "k7f2", "not so")
        await shown.sees("the work changed; r reloads")
        await shown.press("y")
        await shown.sees("k7f2 changed since you looked")

    play(project.path, work)


def test_a_conflict_is_shown_before_anybody_merges(project: Project) -> None:
    reviewing(project)
    commit_file(project.path, "login.txt", "something else\n", "elsewhere")

    async def work(shown: Shown) -> None:
        await open_review(shown, "conflicts in login.txt")
        await shown.press("y")
        await shown.sees("conflicts with main in login.txt", "does not merge cleanly")

    play(project.path, work)


def test_a_question_is_answered_with_its_context(project: Project) -> None:
    project.make("m3xq", title="Rename", status=Status.CLARIFICATION, awaiting=Awaiting.INPUT, body=QUESTION)

    async def work(shown: Shown) -> None:
        await open_review(shown, "claude asks", "\\x1b[2J[/x] friendly?", "opens your editor", task_id="m3xq")
        await shown.press("y")
        await shown.sees("m3xq  Rename", "your answer")
        await shown.type("formal")
        await shown.press("enter")
        await shown.until(lambda: project.task("m3xq").status is Status.WORKING, "the answer")

    play(project.path, work)
    assert project.file("m3xq").entries(Section.QUESTIONS)[-1].text == "formal"


def test_of_a_question_that_somebody_else_answers_the_task_has_changed(project: Project) -> None:
    project.make("m3xq", title="Rename", status=Status.CLARIFICATION, awaiting=Awaiting.INPUT, body=QUESTION)

    async def work(shown: Shown) -> None:
        await open_review(shown, "claude asks", task_id="m3xq")
        project.ok("respond", "m3xq", "formal")
        await shown.sees("the task changed; r reloads")

    play(project.path, work)


@pytest.mark.parametrize(
    ("status", "awaiting", "key", "why"),
    [
        (Status.DONE, None, "y", "`b2cd` is done already"),
        (Status.DONE, None, "n", "`b2cd` is done already"),
        (Status.PENDING, None, "y", "`b2cd` is not waiting for anyone"),
        (Status.PENDING, None, "n", "`b2cd` is not waiting for anyone"),
        (Status.PENDING, Awaiting.WORK, "n", "there is nothing to reject"),
    ],
)
def test_what_waits_for_no_such_verdict_says_so_at_once(
    project: Project, status: Status, awaiting: Awaiting | None, key: str, why: str
) -> None:
    project.make("b2cd", title="Think", status=status, awaiting=awaiting)

    async def work(shown: Shown) -> None:
        await shown.until(lambda: shown.app.snapshot.number, "the tasks")
        shown.app.go("review", "b2cd")
        await shown.sees("No code was handed off", "closes" if awaiting else "not waiting")
        await shown.press(key)
        await shown.until(lambda: why in " ".join(_toasts(shown)), why)
        assert len(shown.app.screen_stack) == 3  # the default, home and the review: nothing is asked

    play(project.path, work)


def _toasts(shown: Shown) -> list[str]:
    return [one.message for one in shown.app._notifications]


def test_work_that_an_agent_reviews_can_be_sent_back_already(project: Project) -> None:
    make_reviewing(project, status=Status.AGENT_REVIEW, awaiting=None)

    async def work(shown: Shown) -> None:
        await open_review(shown, "login.txt", "not waiting for anyone", "n reject")
        await shown.press("n")
        await shown.sees("Send k7f2 back")
        await shown.type("shorter")
        await shown.press("enter")
        await shown.until(lambda: project.task("k7f2").status is Status.WORKING, "the rejection")

    play(project.path, work)


def test_without_code_an_approval_says_that_it_merges_nothing(project: Project) -> None:
    project.make("b2cd", title="Think", status=Status.REVIEWING, awaiting=Awaiting.REVIEW)

    async def work(shown: Shown) -> None:
        await open_review(shown, "No code was handed off", "merges nothing", task_id="b2cd")
        await shown.press("y")
        await shown.sees("Approve b2cd?", "nothing is merged")
        await shown.press("enter")
        await shown.until(lambda: project.task("b2cd").status is Status.DONE, "the end")

    play(project.path, work)


STUCK = {"title": "Be stuck", "status": Status.STUCK, "awaiting": Awaiting.ESCALATION}


def test_a_stuck_task_is_decided_about_in_its_review(project: Project) -> None:
    project.make("z42v", **STUCK)

    async def work(shown: Shown) -> None:
        await open_review(shown, "y decide  n cancel", "y asks what to do", task_id="z42v")
        await shown.press("y")
        await shown.sees("try again, with a note")
        await shown.press("enter")
        await shown.until(lambda: project.task("z42v").status is Status.WORKING, "the next try")
        await shown.until(lambda: isinstance(shown.app.view, Home), "the way back")

    play(project.path, work)


def test_a_review_that_cannot_be_read_again_says_so_until_it_can(project: Project) -> None:
    reviewing(project)

    async def work(shown: Shown) -> None:
        await open_review(shown, "UNCERTAIN", "login.txt", "y approve")
        config = project.board / "config.yaml"
        before = config.read_text()
        config.write_text(f"{before}bogus: 1\n")
        git("commit", "-qam", "broken", "--no-verify", at=project.board)
        await shown.press("r")
        await shown.sees("bogus")
        shown.app.screen.redraw()  # type: ignore[attr-defined]
        await shown.press("y")
        await shown.until(lambda: "bogus" in " ".join(_toasts(shown)), "the reason")
        assert not any(word in shown.text for word in ("UNCERTAIN", "y approve", "Approve k7f2"))
        config.write_text(before)
        git("commit", "-qam", "mended", "--no-verify", at=project.board)
        await shown.press("r")
        await shown.sees("UNCERTAIN", "y approve")

    play(project.path, work)


def test_changes_are_drawn_anew_only_where_they_differ(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    reviewing(project)
    made, make = [], diff.diff_rows

    def counted(*arguments: Any) -> list[Line]:
        made.append(arguments)
        return make(*arguments)

    monkeypatch.setattr(diff, "diff_rows", counted)

    async def work(shown: Shown) -> None:
        await open_review(shown, "UNCERTAIN", "login.txt")
        before = len(made)
        project.make("b2cd", title="Elsewhere")
        await shown.until(lambda: shown.app.snapshot.find("b2cd"), "the next snapshot")
        shown.app.screen.redraw()  # type: ignore[attr-defined]
        assert len(made) == before
        await comment_on_first_line(shown, "too short")
        await shown.sees("too short")
        assert len(made) > before

    play(project.path, work)


def test_a_question_can_be_read_at_once_and_the_changes_are_where_work_begins(project: Project) -> None:
    reviewing(project)
    project.make("m3xq", title="Rename", status=Status.CLARIFICATION, awaiting=Awaiting.INPUT, body=QUESTION)

    async def work(shown: Shown) -> None:
        await open_review(shown, "Which tone", task_id="m3xq")
        assert shown.app.focused is shown.app.screen.query_one("#story")
        await shown.press("escape")
        await open_review(shown, "login.txt")
        assert shown.app.focused is shown.app.screen.query_one("#diff")

    play(project.path, work, (60, 24))


def test_the_code_scrolls_sideways_as_far_as_it_goes(project: Project) -> None:
    workspace = reviewing(project)
    commit_file(workspace, "long.txt", "x" * 150 + "END\n", "long")
    project.change("k7f2", end_sha=git("rev-parse", "HEAD", at=workspace))

    async def work(shown: Shown) -> None:
        await open_review(shown, "long.txt")
        await shown.press(*["right"] * 40)
        await shown.sees("xEND")
        await shown.press(*["left"] * 40)
        await shown.sees("1 + xxx")

    play(project.path, work)


@pytest.mark.parametrize(("before", "after"), [("one\ntwo\n", None), (None, "one\ntwo\n")])
def test_a_file_that_becomes_a_link_is_shown_as_both(
    project: Project, before: str | None, after: str | None
) -> None:
    _commit_rules(project.path, before)
    workspace = reviewing(project)
    project.change("k7f2", end_sha=_commit_rules(workspace, after))
    was, now = ("one", "AGENTS.md") if before else ("AGENTS.md", "one")

    async def work(shown: Shown) -> None:
        await open_review(shown, "new file mode 120000" if before else "new file")
        await shown.until(lambda: f"\N{MINUS SIGN} {was}\n" in _changes(shown), was)
        assert f"+ {now}\n" in _changes(shown)

    play(project.path, work)


def _commit_rules(at: Path, text: str | None) -> str:
    """Commits a file of this text, or a link without one."""
    file = at / "CLAUDE.md"
    file.unlink(missing_ok=True)
    if text is None:
        file.symlink_to("AGENTS.md")
    else:
        file.write_text(text)
    git("add", "CLAUDE.md", at=at)
    git("commit", "--quiet", "-m", "rules", at=at)
    return git("rev-parse", "HEAD", at=at)


def _changes(shown: Shown) -> str:
    return "".join(f"{words(row)}\n" for row in shown.app.screen.query_one("#diff", Lines).rows)


def test_escape_takes_an_error_away_and_no_more(project: Project) -> None:
    reviewing(project)

    async def work(shown: Shown) -> None:
        await open_review(shown, "login.txt")
        shown.app.refuse("that would be a cycle")
        await shown.sees("that would be a cycle")
        await shown.press("escape")
        await shown.no_longer_sees("that would be a cycle")
        assert isinstance(shown.app.view, Review)
        await shown.press("escape")
        await shown.until(lambda: isinstance(shown.app.view, Home), "the way back")

    play(project.path, work)
