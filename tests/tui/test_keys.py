"""The keys of the palette, the search, the themes, the bell and the graph, on real repositories."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from textual import events

from gitticks.model.status import Awaiting, Status
from gitticks.tui.messages import Batch
from gitticks.tui.places import keys_of
from gitticks.tui.screens.graph import GraphPane, GraphView
from gitticks.tui.screens.home import Home
from gitticks.tui.theme import NAMES
from tests.support.projects import Project, make_project, make_reviewing
from tests.support.repositories import git
from tests.tui.made_up import NOW, QUESTIONS, StillApp, snapshot
from tests.tui.support import NARROW, SMALL, WIDE, Shown, play


def _config(path: Path) -> str:
    listed = ["git", "config", "--list"]
    return subprocess.run(listed, cwd=path, capture_output=True, text=True, check=True).stdout


def test_the_palette_finds_commands_places_tasks_and_themes(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    project.make("k7f2", title="Keep [bold]the path")

    async def choose(shown: Shown, words: str, *shows: str) -> None:
        await shown.press("ctrl+p")
        await shown.sees("a command, a screen")
        await shown.type(words)
        await shown.sees(*shows)
        await shown.press("down", "enter")

    async def work(shown: Shown) -> None:
        app = shown.app

        def is_at(place: str) -> bool:
            return app.view is not None and app.view.place == place

        await shown.sees("Keep [bold]the path")
        names = [one.title for one in app.get_system_commands(app.screen)]
        assert "approve" in names
        assert "start" not in names, "enter does it, on what the cursor is on"
        await choose(shown, "high contrast", "theme high contrast")
        await shown.until(lambda: app.theme == "gt-contrast", "the theme")
        await choose(shown, "go to graph", "go to Graph")
        await shown.until(partial(is_at, "graph"), "the graph")
        await choose(shown, "the path", "k7f2  Keep [bold]the path")
        await shown.until(partial(is_at, "task"), "the task's page")
        await choose(shown, "note", "add a note")
        await shown.sees("Note on k7f2")
        await shown.press("escape")
        await choose(shown, "nothing of that name", "No matches found")
        await shown.press("escape")
        await shown.until(partial(is_at, "task"), "the way back")

    play(project.path, work)
    assert "gitticks.ui.theme=gt-contrast" in _config(project.path)


def test_a_place_with_keys_of_its_own_to_move_lists_only_those() -> None:
    assert "move (also j and k)" in [key.words for key in keys_of("home")]
    for place in ("parallel", "graph"):
        assert len([key for key in keys_of(place) if key.label == "move"]) == 1


def test_the_search_finds_words_in_any_order_and_says_if_there_are_none(tmp_path: Path) -> None:
    async def work(shown: Shown) -> None:
        await shown.sees("Parallel test")
        await shown.press("slash")
        await shown.sees("words of a title, or an id")
        await shown.type("crashed pool")
        await shown.sees("▌◌ mqp7  Worker pool: restart")
        await shown.type(" zebra")
        await shown.sees("No tasks match.")
        await shown.press("enter")
        assert "Search" in shown.text, "there is nothing to open"
        await shown.press(*["backspace"] * 18)
        await shown.type("worker")
        await shown.sees("Settings for the worker pool")  # done, and found where words ask for it
        await shown.press("down", "enter")
        await shown.until(lambda: shown.app.view and shown.app.view.place == "task", "the task's page")

    play(tmp_path, work, WIDE, StillApp(tmp_path))


def test_themes_go_round_and_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project(tmp_path / "project")
    project.make("k7f2", title="Keep the path")

    async def go_round(shown: Shown) -> None:
        await shown.sees("Keep the path")
        for name in (*NAMES[1:], NAMES[0], NAMES[1]):
            await shown.press("ctrl+t")
            await shown.until(partial(_has_theme, shown, name), name)
            assert "Keep the path" in shown.text

    async def look(shown: Shown) -> None:
        await shown.sees("Keep the path")
        assert shown.app.theme == NAMES[1]

    async def without_colour(shown: Shown) -> None:
        await shown.sees("Keep the path")
        colours = {
            segment.style.color.triplet
            for strip in shown.app.screen._compositor.render_strips(shown.app.size)
            for segment in strip
            if segment.style and segment.style.color and segment.style.color.triplet
        }
        assert all(one.red == one.green == one.blue for one in colours)

    play(project.path, go_round)
    play(project.path, look)
    project.ok("config", "agent")  # what the interface remembers is no setting that a command stumbles over
    subprocess.run(["git", "config", "--unset", "gitticks.ui.theme"], cwd=project.path, check=True)
    monkeypatch.setenv("NO_COLOR", "1")
    play(project.path, without_colour)


def _is_in(shown: Shown, place: str) -> bool:
    return shown.app.view is not None and shown.app.view.place == place


def _has_theme(shown: Shown, name: str) -> bool:
    return shown.app.theme == name


class RingingApp(StillApp):
    """Counts its bells."""

    bells = 0

    def bell(self) -> None:
        """Counts one."""
        self.bells += 1


def test_the_bell_rings_once_for_what_is_new(tmp_path: Path) -> None:
    app = RingingApp(tmp_path)

    async def work(shown: Shown) -> None:
        async def comes(questions: int, entries: int) -> None:
            new = replace(
                snapshot(),
                questions=QUESTIONS[:questions],
                inbox=snapshot().inbox[:entries],
                number=app.snapshot.number + 1,
            )
            app.feed.batches.append(Batch(new))
            app.feed._wake()
            await shown.until(lambda: app.snapshot.number == new.number, "the snapshot")

        await shown.sees("Parallel test")
        assert app.bells == 0, "what waited already when it was opened"
        await comes(questions=0, entries=3)
        assert app.bells == 0
        await comes(questions=1, entries=3)
        await shown.sees("? network    api.github.com")
        assert app.bells == 1
        assert not app._notifications, "the request is on the screen"
        await comes(questions=1, entries=2)
        assert app.bells == 1, "something was answered"
        await comes(questions=2, entries=3)
        assert app.bells == 2
        app.preferences.remember("bell", "false")
        await comes(questions=0, entries=0)
        await comes(questions=0, entries=3)
        assert app.bells == 2
        await shown.press("r")
        await shown.until(partial(_is_in, shown, "run"), "the run")
        await comes(questions=1, entries=3)
        await shown.reads("codex asks for network api.github.com: press i to answer")

    play(tmp_path, work, WIDE, app)


def test_after_midnight_it_is_another_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = StillApp(tmp_path)

    async def work(shown: Shown) -> None:
        await shown.sees("Parallel test")
        later = NOW + timedelta(days=1)
        monkeypatch.setattr(StillApp, "now", later)
        app._go_on()
        assert app.snapshot.around.today == later.astimezone().date()

    play(tmp_path, work, WIDE, app)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["drawn", "list"])
def test_the_graph_is_walked(tmp_path: Path, size: tuple[int, int]) -> None:
    project = make_project(tmp_path / "project")
    for task_id, blockers in (("a2bc", ()), ("b2cd", ("a2bc",)), ("c3de", ("a2bc",)), ("d4ef", ("b2cd",))):
        project.make(task_id, title=f"Task {task_id}", blocked_by=blockers)

    async def walk(shown: Shown) -> None:
        await shown.until(lambda: shown.app.snapshot.number, "the tasks")
        await shown.press("g")
        await shown.sees("a2bc", "d4ef")
        view = shown.app.screen
        assert isinstance(view, GraphView)

        async def goes(key: str, to: str) -> None:
            await shown.press(key)
            await shown.until(lambda: view.chosen == to, f"{key} to {to}")

        async def hurries(key: str, times: int, to: str) -> None:
            for _ in range(times):
                shown.app.post_message(events.Key(key, None))
            await shown.until(lambda: view.chosen == to, f"{times} {key} to {to}")

        assert view.chosen == "a2bc"
        if size == WIDE:
            await hurries("right", 2, "d4ef")
            await hurries("left", 2, "a2bc")
            for key, to in (("right", "b2cd"), ("right", "d4ef"), ("left", "b2cd"), ("down", "c3de")):
                await goes(key, to)
            await goes("k", "b2cd")
            pane = view.query_one(GraphPane)
            row = next(y for y, text in enumerate(shown.text.splitlines()) if "c3de" in text)
            at = (shown.text.splitlines()[row].index("c3de"), row)
            await shown.pilot.click(offset=at)
            await shown.until(lambda: view.chosen == "c3de", "the task that was clicked")
            assert shown.app.focused is pane
        else:
            await hurries("down", 3, "d4ef")
            await hurries("up", 3, "a2bc")
            for to in ("b2cd", "c3de", "d4ef"):
                await goes("down", to)
            await shown.sees("after b2cd")
            await goes("up", "c3de")
        await shown.press("enter")
        await shown.until(lambda: shown.app.view and shown.app.view.subject == "c3de", "its page")
        await shown.press("r")
        await shown.until(lambda: shown.app.view and shown.app.view.place == "run", "the run")

    play(project.path, walk, size)


@pytest.mark.parametrize("size", [WIDE, SMALL, NARROW], ids=["wide", "small", "narrow"])
def test_ascii_is_enough_in_every_place(tmp_path: Path, size: tuple[int, int]) -> None:
    project = make_project(tmp_path / "project")
    make_reviewing(project, title="Keep the path", body="## Handoff\n\nDONE: it\n")
    for number in range(size[1]):  # more than there is room for
        project.make(f"t{number // 8 + 2}{number % 8 + 2}a", title="Another", blocked_by=("k7f2",))
    git("config", "gitticks.ui.ascii", "true", at=project.path)

    async def look(shown: Shown) -> None:
        await shown.sees("Another")
        for place in ("home", "run", "parallel", "graph", "permissions", "review", "task"):
            shown.app.go(place, "k7f2" if place in ("review", "task") else None)
            await shown.until(partial(_is_in, shown, place), place)
            await shown.until(lambda: shown.app.screen.query("Lines"), "its panes")
            await shown.pilot.pause(0.2)
            assert shown.text.isascii(), shown.text
            await shown.press("question_mark")
            await shown.sees(": keys")
            assert shown.text.isascii(), shown.text
            await shown.press("escape")
        await shown.press("ctrl+p")
        await shown.sees("a command, a screen")
        assert shown.text.isascii(), shown.text

    play(project.path, look, size)


def test_the_bottom_row_names_the_keys_of_the_focused_pane(tmp_path: Path) -> None:
    async def work(shown: Shown) -> None:
        await shown.sees("enter start  space select  A all  i inbox")
        await shown.press("i")
        await shown.sees("enter answer  y allow once  n deny")
        await shown.press("s")
        await shown.sees("enter change")
        assert "  A all" not in shown.text
        await shown.press("r")
        await shown.sees("enter open  v verbose")
        await shown.press("tab")
        await shown.sees("enter unfold  v verbose")

    play(tmp_path, work, WIDE, StillApp(tmp_path))


@pytest.mark.parametrize("pane", ["i", "s"], ids=["inbox", "settings"])
def test_nothing_is_selected_beside_the_epics(tmp_path: Path, pane: str) -> None:
    async def work(shown: Shown) -> None:
        home = shown.app.view
        assert isinstance(home, Home)
        await shown.sees("enter start  space select  A all")
        await shown.press(pane, "space", "A")
        assert not home._chosen

    play(tmp_path, work, WIDE, StillApp(tmp_path))


def test_with_nothing_in_the_inbox_the_page_of_an_epic_is_opened(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    project.make("k7f2", title="Keep the path")

    async def work(shown: Shown) -> None:
        await shown.sees("Keep the path")
        await shown.press("i", "t")
        await shown.sees("TASK.md", "History")

    play(project.path, work)


def test_a_verdict_is_on_the_task_under_the_cursor_also_beside_the_inbox(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    for task_id in ("k7f2", "m3xq"):
        project.make(task_id, title=f"Ask {task_id}", awaiting=Awaiting.INPUT, status=Status.CLARIFICATION)
    project.make("b2cd", title="Not begun")

    async def work(shown: Shown) -> None:
        home = shown.app.view
        assert isinstance(home, Home)
        await shown.sees("Ask k7f2", "Ask m3xq", "Not begun")
        await shown.until(lambda: len(home._looked) == 2, "the look at them")
        inbox = home.pane("inbox")
        for task_id in (*inbox.keys, *inbox.keys):
            home.pane("roots").go_to(task_id)
            await shown.sees("enter start", "y answer  n cancel")
            await shown.press("n")
            await shown.sees(f"Cancel {task_id}?")
            await shown.press("escape", "s", "y")
            await shown.sees(f"{task_id}  Ask", "your answer")
            await shown.press("escape", "shift+tab")
        home.pane("roots").go_to("b2cd")
        for key in ("y", "n"):
            await shown.press(key)
            await shown.reads("no verdict on b2cd is wanted; i goes to the inbox")
            assert shown.app.focused is home.pane("roots")
            shown.app.clear_notifications()

    play(project.path, work)


def test_a_task_is_opened_from_home_and_from_parallel(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    make_reviewing(project, title="Keep the path")

    async def work(shown: Shown) -> None:
        for key in ("i", "w"):
            await shown.sees("Keep the path")
            await shown.press(key)
            await shown.sees("waits for")
            await shown.press("t")
            await shown.sees("TASK.md", "History")
            await shown.press("escape")

    play(project.path, work)


def test_a_file_that_is_there_is_not_exported_over(tmp_path: Path) -> None:
    project: Project = make_project(tmp_path / "project")
    project.make("k7f2", title="Keep the path")
    (project.path / "audit-export.jsonl").write_text("mine\n")

    async def work(shown: Shown) -> None:
        await shown.sees("Keep the path")
        shown.app.go("permissions")
        await shown.sees("No decisions yet")
        await shown.press("e")
        await shown.sees("Export the decisions", "filters and verifies.")
        await shown.press("enter")
        await shown.sees("error", "audit-export.jsonl")

    play(project.path, work)
    assert (project.path / "audit-export.jsonl").read_text() == "mine\n"


def test_an_export_to_the_folder_of_an_unknown_user_is_no_bug(tmp_path: Path) -> None:
    project: Project = make_project(tmp_path / "project")
    project.make("k7f2", title="Keep the path")

    async def work(shown: Shown) -> None:
        await shown.sees("Keep the path")
        shown.app.go("permissions")
        await shown.sees("No decisions yet")
        await shown.press("e")
        await shown.sees("Export the decisions")
        await shown.press("ctrl+u")
        await shown.type("~no-such-user/x.csv")
        await shown.press("enter")
        await shown.reads("~no-such-user/x.csv`: no such file or directory")

    play(project.path, work)
