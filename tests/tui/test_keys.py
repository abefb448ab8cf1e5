"""Keys of the places that a run needs, the palette, the search, the themes and the bell, on real repositories."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Status, TaskType
from gitticks.runner.run_record import LastRun, SpendingRecord
from gitticks.tui import run_settings
from gitticks.tui.messages import Batch
from gitticks.tui.screens.graph import GraphPane, GraphView
from gitticks.tui.screens.home import Home
from gitticks.tui.screens.loaded import Loaded
from gitticks.tui.screens.parallel import Parallel
from gitticks.tui.theme import NAMES
from gitticks.tui.widgets.lines import Lines, words
from tests.support.projects import Project, make_project, make_reviewing
from tests.support.repositories import git
from tests.support.runs import DONE, NO_REVIEW, RunProject
from tests.tui import made_up_places
from tests.tui.made_up import NOW, QUESTIONS, StillApp, snapshot
from tests.tui.support import NARROW, SMALL, WIDE, Shown, play


def _waits(project: RunProject) -> Path:
    """Makes an agent that works once the file is there that this returns."""
    go = project.path.parent / "go"
    project.agent(f'echo "I look at $GITTICKS_TASK"\nwhile [ ! -e {go} ]; do sleep 0.05; done\n{DONE}')
    return go


def _config(path: Path) -> str:
    listed = ["git", "config", "--list"]
    return subprocess.run(listed, cwd=path, capture_output=True, text=True, check=True).stdout


def test_epics_are_added_focused_and_stopped_side_by_side(played: RunProject) -> None:
    project = played
    project.settings(NO_REVIEW)
    go = _waits(project)
    for epic, task in (("h8d4", "k7f2"), ("c3de", "m3xq")):
        project.make(epic, title=f"Epic {epic}", type=TaskType.EPIC)
        project.make(task, title=f"Work of {task}", parent=epic)

    async def work(shown: Shown) -> None:
        app = shown.app

        def working() -> set[str]:
            return set(app.snapshot.sessions)

        await shown.sees("Epic h8d4", "Epic c3de")
        home = app.screen
        assert isinstance(home, Home)
        home.pane("roots").go_to("h8d4")
        await shown.press("enter")
        await shown.until(lambda: working() == {"k7f2"}, "the first agent")
        await shown.press("w")
        await shown.sees("Epic h8d4", "I look at k7f2", "1 agent at work")
        await shown.press("plus")
        await shown.sees("Add to the run", "Epic c3de")
        await shown.press("enter")
        await shown.sees("added to the run: c3de")
        await shown.until(lambda: working() == {"k7f2", "m3xq"}, "the second agent")
        await shown.sees("2 agents at work", "I look at m3xq")
        await shown.press("plus")
        await shown.sees("every open epic and task is running already")

        view = app.screen
        assert isinstance(view, Parallel)
        rows = [str(one.row.id) for one in view._epics]
        assert sorted(rows) == ["c3de", "h8d4"]
        for key in ("2", "1", "9"):  # there is no ninth
            await shown.press(key)
        assert view.pane("epics").key == rows[0]
        await shown.press(str(rows.index("c3de") + 1), "m")
        await shown.sees("c3de has nothing to merge: 1 of 1 tasks are open")
        await shown.press("k")
        await shown.sees("Stop c3de  Epic c3de", "after this iteration", "their work is kept")
        await shown.press("escape", "k", "down", "enter")
        await shown.sees("c3de is being stopped")
        await shown.until(lambda: working() == {"k7f2"}, "the end of the second agent")
        await shown.press(str(rows.index("h8d4") + 1), "k")
        await shown.sees("Stop h8d4")
        await shown.press("enter")
        await shown.sees("h8d4 stops after this iteration")
        go.touch()
        await shown.until(lambda: project.task("k7f2").status is Status.REVIEWING, "the hand-off")
        await shown.until(lambda: not working(), "the end of the first agent")

    play(project.path, work)
    assert project.task("m3xq").status is Status.WORKING


def test_settings_of_the_next_run_reach_it(played: RunProject) -> None:
    project = played
    project.settings(NO_REVIEW)
    go = _waits(project)
    project.make("k7f2", title="Login")

    async def work(shown: Shown) -> None:
        home = shown.app.screen
        assert isinstance(home, Home)
        await shown.sees("Login", "one for each task")
        await shown.press("s")
        await shown.until(lambda: shown.app.focused is home.pane("settings"), "the settings")
        for flag, keys in (("max-iterations", "7"), ("isolation", ""), ("auto", "")):
            home.pane("settings").go_to(flag)
            await shown.press("enter")
            if keys:
                await shown.sees("stop the run after this many iterations", "a whole number from 1 up")
                await shown.press(*keys, "enter")
        await shown.sees(
            "Iterations  7 a run",
            "Workspace   one for each task",
            "exits when nothing is ready",
            "changed for",
        )
        home.pane("settings").go_to("max-iterations")
        await shown.press("enter")
        await shown.sees("stop the run after this many iterations")
        await shown.press("backspace", "6", "enter")
        await shown.sees("Iterations  6")
        home.pane("settings").go_to("parallel")
        await shown.press("enter")
        await shown.sees("how many agents at once")
        await shown.type("99")
        await shown.press("enter")
        await shown.sees("99 is not a whole number from 1 to 64")
        await shown.press("escape")
        home.pane("settings").go_to("agent")
        await shown.press("enter")
        await shown.sees("Agent for the next run", "by settings", "mine")
        shown.app.screen.query_one("#said", Lines).go_to("mine")
        await shown.press("enter")
        await shown.until(lambda: shown.app.run_choices.get("agent") == "mine", "the agent")
        assert "parallel" not in shown.app.run_choices
        await shown.press("shift+tab", "enter")
        await shown.sees("I look at k7f2", " of 6 ")
        go.touch()
        await shown.until(lambda: not shown.app.snapshot.is_run_alive, "the end, as nothing is ready")
        await shown.until(lambda: project.task("k7f2").status is Status.REVIEWING, "the hand-off")

    play(project.path, work)


def test_a_setting_is_refused_in_plain_words_and_what_was_typed_stays(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    project.make("k7f2", title="Login")

    async def work(shown: Shown) -> None:
        home = shown.app.screen
        assert isinstance(home, Home)
        await shown.sees("Login", "no limit for the run, 10 a task", "$20 a run")
        await shown.press("s")
        home.pane("settings").go_to("max-cost")
        await shown.press("enter")
        await shown.sees("dollars, such as 5.50")
        await shown.type("5,50")
        await shown.press("enter")
        await shown.sees("5,50 is not dollars, such as 5.50")
        await shown.press("left", "left", "backspace")
        await shown.type(".")
        await shown.press("home", "dollar_sign", "enter")
        await shown.sees("Cost        $5.50 a run")
        home.pane("settings").go_to("max-duration")
        await shown.press("enter")
        await shown.sees("a time, such as 90s, 30m or 2h")
        await shown.type("90m")
        await shown.press("enter")
        await shown.sees("Time        1 h 30 min a run")
        assert run_settings.flags_of(shown.app.run_choices)[1:] == [
            "--max-cost",
            "5.50",
            "--max-duration",
            "90m",
        ]

    play(project.path, work)


def test_a_run_of_everything_takes_in_what_belongs_to_no_epic(played: RunProject) -> None:
    project = played
    project.settings(NO_REVIEW)
    project.agent(DONE)
    project.make("h8d4", title="An epic", type=TaskType.EPIC)
    project.make("k7f2", title="Below it", parent="h8d4")
    project.make("m3xq", title="Left by a run that was killed", status=Status.WORKING)

    async def work(shown: Shown) -> None:
        await shown.sees("Below it", "Left by a run")
        await shown.press("r", "r")
        await shown.sees("started: everything that is ready")
        await shown.until(lambda: len(shown.app.snapshot.inbox) == 2, "the work of both")

    play(project.path, work)


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

        assert view.chosen == "a2bc"
        if size == WIDE:
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
        await shown.sees("enter start  space select  a all  i inbox")
        await shown.press("i")
        await shown.sees("enter answer  y allow once  n deny")
        await shown.press("s")
        await shown.sees("enter change")
        assert "  a all" not in shown.text
        await shown.press("r")
        await shown.sees("enter open  v verbose")
        await shown.press("tab")
        await shown.sees("enter unfold  v verbose")

    play(tmp_path, work, WIDE, StillApp(tmp_path))


def test_with_nothing_in_the_inbox_the_page_of_an_epic_is_opened(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    project.make("k7f2", title="Keep the path")

    async def work(shown: Shown) -> None:
        await shown.sees("Keep the path")
        await shown.press("i", "t")
        await shown.sees("TASK.md", "History")

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


def test_a_stuck_task_is_tried_again_from_its_run(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    project.make("k7f2", title="Keep the path", status=Status.STUCK, awaiting=Awaiting.ESCALATION)

    async def work(shown: Shown) -> None:
        await shown.sees("1 for you")
        await shown.press("r")
        await shown.sees("Iterations", "! k7f2")
        await shown.press("y")
        await shown.sees("try again", "cancel it")
        await shown.press("enter")
        await shown.until(lambda: project.task("k7f2").status is Status.WORKING, "the next try")

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


def test_what_the_next_run_may_take_and_how_the_last_one_ended_is_seen_whole(tmp_path: Path) -> None:
    app = StillApp(tmp_path)
    reason = "the budget of the run is spent: $20.12 of $20.00 after 14 iterations on 3 tasks"

    async def work(shown: Shown) -> None:
        async def comes(spending: SpendingRecord) -> None:
            number = app.snapshot.number + 1
            around = snapshot().around._replace(live=frozenset(), left={TaskId("e4mq"): "interrupted"})
            new = replace(
                snapshot(), spending=spending, is_run_alive=False, sessions={}, around=around, number=number
            )
            app.feed.batches.append(Batch(new))
            app.feed._wake()
            await shown.until(lambda: app.snapshot.number == number, "the snapshot")

        await shown.sees("Parallel test")
        await shown.press("r")
        await shown.sees("Budget", "412k of 500k")
        await comes(SpendingRecord(ended=reason))
        await shown.sees(
            "Limits of the next run", "Cost        $20 a run", "Iterations  100 a run, 10 a task"
        )
        pane = app.screen.query_one("#budget", Lines)
        assert reason in " ".join(words(row) for row in pane.rows)
        assert pane.size.height >= len(pane.rows)
        await comes(SpendingRecord(run=LastRun(NOW)))
        await shown.sees("The last run was cut off; r continues.", "○ e4mq")
        [row] = [row for row in app.screen.query_one("#tasks", Lines).rows if row.key == "e4mq"]
        assert words(row).endswith("interrupted")

    play(tmp_path, work, WIDE, app)


def test_what_keeps_an_epic_from_being_merged_is_the_verdict_of_a_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = made_up_places.page(snapshot())
    page = replace(page, commits=dict([*page.commits.items()][:1]))
    monkeypatch.setattr(Loaded, "load", lambda self: self._take_loaded(page))

    async def work(shown: Shown) -> None:
        await shown.sees("Parallel test")
        await shown.press("w")
        await shown.sees("In progress", "Bug fixes and documentation")
        shown.app.screen.query_one("#epics", Lines).go_to("fbv2")
        await shown.press("m")
        await shown.sees("k7f2 comes first")
        [toast] = shown.app._notifications
        assert toast.message == "k7f2 comes first: waits for your verdict; review passed by gemini"
        shown.app.go("task", "k7f2")
        await shown.sees("Acceptance Criteria", " 1 commit ")

    play(tmp_path, work, WIDE, StillApp(tmp_path))
