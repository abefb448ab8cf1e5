"""The page of a task and the graph, by keys, on real repositories."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from gitticks.model.event import ENGINE, Event, EventType
from gitticks.model.notes import Section
from gitticks.model.status import Awaiting, Status, TaskType
from gitticks.tui.remembered import IN_DIALOGS, UnsentComments
from tests.cli.test_hostile_texts import SAYS, TITLES
from tests.support.projects import Project, make_project, make_reviewing
from tests.support.repositories import git
from tests.support.stores import NOW
from tests.tui.support import NARROW, WIDE, Shown, held_back, play


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")


def test_a_task_gets_a_note_a_blocker_and_a_child(project: Project) -> None:
    project.make("h8d4", title="Login", type=TaskType.EPIC)
    project.make(
        "k7f2",
        title="Keep the path",
        parent="h8d4",
        body="Make it `so`.\n\n## Acceptance Criteria\n\n- [ ] it is so\n",
    )
    project.make("b2cd", title="Write the test")

    async def work(shown: Shown) -> None:
        await shown.sees("Write the test")
        shown.app.go("task", "k7f2")
        await shown.sees("Make it so.", "Acceptance Criteria", "○ it is so", "It has not moved yet")
        await shown.press("n")
        await shown.sees("Note on k7f2")
        await shown.type("mind the query")
        await shown.press("enter")
        await shown.sees("Notes", "mind the query")
        await shown.press("b")
        await shown.sees("k7f2 waits for")
        await shown.type("nope")
        await shown.sees("No tasks match.")
        await shown.press("enter", "ctrl+u")
        await shown.type("the test")
        await shown.sees("▌○ b2cd  Write the test", "enter block")
        await shown.press("enter")
        await shown.sees("after b2cd")
        await shown.press("g")
        await shown.sees("b2cd  Write the test ─", "→▌◌ k7f2  Keep the path")
        await shown.press("left")
        await shown.sees("▌○ b2cd", "frees      ◌ k7f2")
        await shown.press("right", "u")
        await shown.sees("k7f2 no longer waits for")
        await shown.press("enter")
        await shown.until(lambda: not project.task("k7f2").blocked_by, "the link to go")
        await shown.press("escape", "plus")
        await shown.sees("New task", "below h8d4  Login")
        await shown.type("smaller")
        await shown.press("enter")
        await shown.sees("No text yet", "in        h8d4 Login")

    play(project.path, work)
    assert "mind the query" in project.file("k7f2").entries(Section.NOTES)[0].text


async def _begin_note(shown: Shown) -> None:
    await shown.sees("Keep the path")
    shown.app.go("task", "k7f2")
    await shown.sees("It has not moved yet")
    await shown.press("n")
    await shown.sees("Note on k7f2")


def test_what_is_masked_in_a_note_is_warned_of_and_the_note_is_shared(
    project: Project, tmp_path: Path
) -> None:
    remote = tmp_path / "remote.git"
    git("init", "--quiet", "--bare", str(remote), at=tmp_path)
    git("remote", "add", "origin", str(remote), at=project.path)
    git("config", "gitticks.sync.auto", "push", at=project.path)
    project.make("k7f2", title="Keep the path")

    async def work(shown: Shown) -> None:
        await _begin_note(shown)
        await shown.type("ghp" + "_" + "a1B2" * 9)
        await shown.press("enter")
        await shown.reads("what looks like a secret was masked")

    play(project.path, work)
    # What was done last is shared as the interface is left.
    assert git("rev-parse", "gitticks/state", at=remote) == git(
        "rev-parse", "gitticks/state", at=project.path
    )


def test_what_was_typed_is_kept_while_the_editor_is_open(project: Project) -> None:
    project.make("k7f2", title="Keep the path")

    async def work(shown: Shown) -> None:
        await _begin_note(shown)
        await shown.type("half")
        await shown.press("ctrl+g")
        await shown.sees("there is no terminal here")
        assert UnsentComments(shown.app.context).on(IN_DIALOGS) == {"Note on k7f2  Keep the path": "half"}

    play(project.path, work)


def test_a_text_that_is_refused_where_no_draft_can_be_made_is_there_again(project: Project) -> None:
    project.make("k7f2", title="Keep the path")
    drafts = project.path / ".git/gitticks/drafts"

    async def work(shown: Shown) -> None:
        await _begin_note(shown)
        await shown.type("mind the query")
        drafts.write_text("in the way")
        git("update-ref", "-d", "refs/heads/gitticks/state", at=project.path)
        await shown.press("enter")
        await shown.sees("error")
        kept = UnsentComments(shown.app.context).on(IN_DIALOGS)
        assert kept == {"Note on k7f2  Keep the path": "mind the query"}

    play(project.path, work)


def test_the_page_of_a_new_task_opens_over_nothing_that_was_opened_meanwhile(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.make("k7f2", title="Keep the path")
    goes_on = held_back(monkeypatch, "gitticks.actions.update.create_task")

    async def work(shown: Shown) -> None:
        await shown.sees("Keep the path")
        shown.app.go("task", "k7f2")
        await shown.sees("It has not moved yet")
        await shown.press("plus")
        await shown.sees("New task")
        await shown.type("Smaller")
        await shown.press("enter")
        await shown.no_longer_sees("New task")
        await shown.press("n")
        await shown.sees("Note on k7f2")
        opened = shown.app.screen
        goes_on.set()
        await shown.sees("  Smaller")
        assert shown.app.screen is opened

    play(project.path, work)


def test_the_graph_hides_what_is_done_and_says_when_nothing_waits(project: Project) -> None:
    project.make("a2bc", title="First", status=Status.DONE)
    project.make("b2cd", title="Second", blocked_by=("a2bc",))

    async def work(shown: Shown) -> None:
        await shown.sees("Second")
        await shown.press("g")
        await shown.sees("No task waits for another", "d shows done ones")
        await shown.press("d")
        await shown.sees("✓ a2bc  First ─", "→▌○ b2cd  Second", "with done tasks")
        await shown.press("enter")
        await shown.sees("TASK.md")

    play(project.path, work)


def test_a_page_that_cannot_be_read_any_more_says_so_until_it_can(project: Project) -> None:
    project.make("k7f2", title="Keep the path", body="Also with a query.\n")
    file = project.board_file("k7f2")
    before = file.read_text()

    async def work(shown: Shown) -> None:
        await shown.sees("k7f2")
        shown.app.go("task", "k7f2")
        await shown.sees("Also with a query.")
        file.write_text("Also with a query.\n")
        git("commit", "-qam", "broken", "--no-verify", at=project.board)
        await shown.sees("e opens it in your editor")
        shown.app.screen.redraw()  # type: ignore[attr-defined]
        await shown.pilot.pause()
        assert "Also with a query." not in shown.text
        assert shown.text.count("e opens it in your editor") == 1
        file.write_text(before)
        git("commit", "-qam", "mended", "--no-verify", at=project.board)
        await shown.sees("Also with a query.")

    play(project.path, work)


def test_a_title_that_was_refused_is_there_again(project: Project) -> None:
    project.make("a2bc", title="First")

    async def work(shown: Shown) -> None:
        await shown.sees("First")
        await shown.press("plus")
        await shown.sees("New task")
        await shown.press("exclamation_mark", "enter")
        await shown.sees("error", "empty")
        await shown.press("escape", "plus")
        await shown.sees("New task")
        assert shown.app.screen.query_one(Input).value == "!"

    play(project.path, work)


def test_the_graph_says_whose_turn_it_is_and_not_what_was_not_begun(project: Project) -> None:
    project.make("a2bc", title="By hand", awaiting=Awaiting.WORK)
    project.make("b2cd", title="After it", blocked_by=("a2bc",))

    async def work(shown: Shown) -> None:
        await shown.sees("By hand")
        await shown.press("g")
        await shown.sees("⊙ for you  P2  By hand")
        assert "reviewing" not in shown.text

    play(project.path, work)


def test_every_arrow_moves_in_a_graph_that_is_a_list(project: Project) -> None:
    project.make("k7f2", title="Keep the path")
    project.make("b2cd", title="Write the test", blocked_by=("k7f2",))

    async def work(shown: Shown) -> None:
        await shown.sees("Keep the path")
        shown.app.go("graph")
        await shown.sees("after k7f2", "▌○ k7f2")
        await shown.press("right")
        await shown.sees("▌◌ b2cd")
        await shown.press("left")
        await shown.sees("▌○ k7f2")

    play(project.path, work, NARROW)


def test_a_cancelled_task_is_not_the_first_to_wait_for(project: Project) -> None:
    project.make("a2bc", title="Login, given up", status=Status.CANCELLED)
    for task_id in ("b2cd", "c2de"):
        project.make(task_id, title=f"Login {task_id}")

    async def work(shown: Shown) -> None:
        await shown.sees("Login b2cd")
        shown.app.go("task", "c2de")
        await shown.sees("Login c2de")
        await shown.press("b")
        await shown.sees("c2de waits for")
        await shown.type("login")
        await shown.sees("▌○ b2cd  Login b2cd", "a2bc")

    play(project.path, work)


def test_an_epic_whose_tasks_are_all_closed_waits_for_nothing(project: Project) -> None:
    project.make("e2pc", title="An epic", type=TaskType.EPIC)
    project.make("a2bc", title="First", parent="e2pc", status=Status.DONE)

    async def work(shown: Shown) -> None:
        await shown.sees("1/1", "all closed")

    play(project.path, work)


def test_a_cycle_is_named_with_its_way_out(project: Project) -> None:
    project.make("a2bc", title="First", blocked_by=("b2cd",))
    project.make("b2cd", title="Second", blocked_by=("a2bc",))

    async def work(shown: Shown) -> None:
        await shown.sees("First")
        await shown.press("g")
        await shown.sees("cycle a2bc → b2cd → a2bc", "gt unblock")

    play(project.path, work)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_hostile_texts_steer_no_place(project: Project, size: tuple[int, int]) -> None:
    ids = list(TITLES)
    for number, (task_id, title) in enumerate(TITLES.items()):
        noted = Event(EventType.WARNED, NOW, ENGINE, reason=SAYS)
        body = f"{title}\n\n## Handoff\n\n- DONE: {title}\n- UNCERTAIN: [/x] {SAYS}\n"
        blockers = (ids[number - 1],) if number else ()
        make_reviewing(project, task_id, title=f"[/x]{title}", body=body, events=[noted], blocked_by=blockers)
    question = f"## Questions\n\n### 2026-03-04T05:00:00Z · agent · \x1b[1mclaude\n\n{TITLES['rtl0']} [@click=app.quit]x\n"
    project.make("q234", title="asks", status=Status.CLARIFICATION, awaiting=Awaiting.INPUT, body=question)
    project.make("e234", title="epic [bold]", type=TaskType.EPIC)

    async def look(shown: Shown) -> None:
        await shown.until(lambda: shown.app.snapshot.number, "the tasks")
        for place in ("graph", "permissions"):
            shown.app.go(place)
            await shown.until(lambda: shown.app.screen.loaded is not None, place)  # type: ignore[attr-defined]
            harmless(shown)
        for place in ("task", "review"):
            for task_id in (*TITLES, "q234", "e234"):
                shown.app.go(place, task_id)
                await shown.until(lambda: shown.app.screen.loaded is not None, task_id)  # type: ignore[attr-defined]
                harmless(shown)
                shown.app.back()
        shown.app.go("review", "esc0")
        await shown.until(lambda: shown.app.screen.loaded is not None, "esc0")  # type: ignore[attr-defined]
        await shown.press("y")
        await shown.sees("Approve esc0")
        harmless(shown)

    play(project.path, look, size)


def harmless(shown: Shown) -> None:
    """Checks that nothing on the screen can steer it, and that no row is wider than it."""
    from rich.cells import cell_len

    from gitticks.terminal_safety import is_harmful

    text = shown.text
    assert not [one for one in text if one != "\n" and is_harmful(one)]
    assert all(cell_len(row) <= shown.app.size.width for row in text.splitlines())
