"""The keys that start, add to, stop and set up runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Status, TaskType
from gitticks.runner.run_record import LastRun, SpendingRecord
from gitticks.tui import run_settings, running
from gitticks.tui.messages import Batch
from gitticks.tui.screens.base import Loaded
from gitticks.tui.screens.home import Home
from gitticks.tui.screens.parallel import Parallel
from gitticks.tui.widgets.lines import Lines, words
from tests.support.projects import make_project
from tests.support.repositories import git
from tests.support.runs import DONE, NO_REVIEW, PASS, RunProject
from tests.tui import made_up_places
from tests.tui.made_up import NOW, StillApp, snapshot
from tests.tui.support import WIDE, Shown, held_back, play


def _waits(project: RunProject) -> Path:
    """Makes an agent that works once the file is there that this returns."""
    go = project.path.parent / "go"
    project.agent(f'echo "I look at $GITTICKS_TASK"\nwhile [ ! -e {go} ]; do sleep 0.05; done\n{DONE}')
    return go


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
        await shown.sees("Tasks of h8d4", "I look at k7f2")  # the run's place opens once it is active
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


@pytest.mark.parametrize(("key", "sees"), [("plus", "New task"), ("w", "In all")], ids=["dialog", "place"])
def test_a_run_that_starts_takes_nobody_from_where_they_have_gone(
    played: RunProject, monkeypatch: pytest.MonkeyPatch, key: str, sees: str
) -> None:
    project = played
    project.settings(NO_REVIEW)
    _waits(project)
    project.make("k7f2", title="Login")
    goes_on = held_back(monkeypatch, "gitticks.tui.screens.asking.start_run")

    async def work(shown: Shown) -> None:
        await shown.sees("Login")
        await shown.press("enter", key)
        await shown.sees(sees)
        opened = shown.app.screen
        goes_on.set()
        await shown.sees("started: k7f2")
        assert shown.app.screen is opened

    play(project.path, work)


def test_the_agents_to_choose_from_are_not_shown_over_what_was_opened_meanwhile(
    played: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    played.make("k7f2", title="Login")
    goes_on = held_back(monkeypatch, "gitticks.tui.run_settings.agents_here")

    async def work(shown: Shown) -> None:
        home = shown.app.screen
        assert isinstance(home, Home)
        await shown.sees("Login", "one for each task")
        await shown.press("s")
        home.pane("settings").go_to(run_settings.AGENT)
        await shown.press("enter", "plus")
        await shown.sees("New task")
        opened = shown.app.screen
        goes_on.set()
        await shown.until(lambda: "Home._choose_agent" not in home._reading, "the agents")
        assert shown.app.screen is opened

    play(played.path, work)


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
    project.make("n5vt", title="Stopped by a person", status=Status.WORKING)
    project.ok("stop", "n5vt")

    async def work(shown: Shown) -> None:
        await shown.sees("Below it", "Left by a run", "Stopped by a person")
        await shown.press("r", "r")
        await shown.sees("Start a run of everything?", "Below it", "Left by a run", "Agents work on 2 tasks")
        assert not shown.app.snapshot.is_run_alive
        await shown.press("enter")
        await shown.sees("started: everything that is ready")
        await shown.until(lambda: len(shown.app.snapshot.inbox) == 2, "the work of both")

    play(project.path, work)


def test_more_than_a_few_are_started_only_after_their_number_was_confirmed(played: RunProject) -> None:
    project = played
    project.settings(NO_REVIEW)
    project.agent(DONE)
    project.make("h8d4", title="An epic", type=TaskType.EPIC)
    ids = ("k7f2", "m3xq", "b2cd", "c3de", "d4ef")
    for number, one in enumerate(ids):
        project.make(one, title=f"Work {number}", parent="h8d4" if number < 2 else None)

    async def work(shown: Shown) -> None:
        await shown.sees("An epic", "Work 4")
        await shown.press("a")
        await shown.sees("No open requests.")
        await shown.press("escape", "A")
        await shown.sees("4 selected")
        await shown.press("enter")
        await shown.sees("Start 4 epics and tasks?", "Agents work on 5 open tasks, each when it is ready.")
        await shown.press("escape")
        await shown.no_longer_sees("Start 4")
        assert not shown.app.snapshot.is_run_alive
        await shown.press("enter")
        await shown.sees("Start 4 epics and tasks?")
        await shown.press("enter")
        await shown.sees("started: 4 epics and tasks")
        await shown.until(lambda: len(shown.app.snapshot.inbox) == 5, "the work of all")

    play(project.path, work)


def test_the_iterations_of_a_run_are_those_of_workers(played: RunProject) -> None:
    project = played
    project.agent(f'if [ "$GITTICKS_ROLE" = reviewer ]; then\n{PASS}else\n{DONE}fi\n')
    project.make("k7f2", title="Login")

    async def work(shown: Shown) -> None:
        await shown.sees("Login")
        await shown.press("enter")
        await shown.sees("review passed", "handed off", "1 so far")

    play(project.path, work)


def test_a_run_may_be_started_before_anything_is_ready(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    project.make("k7f2", title="Keep the path", status=Status.STUCK, awaiting=Awaiting.ESCALATION)

    async def work(shown: Shown) -> None:
        await shown.sees("1 for you")
        await shown.press("r", "r")
        await shown.sees("Agents have nothing to do now, and work on what becomes ready.")

    play(project.path, work)


def test_what_the_run_has_not_taken_yet_is_not_said_to_be_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(tmp_path / "project")
    monkeypatch.setattr(running, "is_run_alive_at", lambda _: True)
    monkeypatch.setattr(running, "add_to_run", lambda *_: False)
    said = running.start_run(Context(directory=project.path), [TaskId("k7f2")], [])
    assert said == "the run adds k7f2 when it next looks for work"


def test_settings_that_cannot_be_read_say_so_where_they_would_be(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    project.make("k7f2", title="Keep the path")
    with (project.board / "config.yaml").open("a") as file:
        file.write("bogus: 1\n")
    git("commit", "-qam", "broken", "--no-verify", at=project.board)

    async def work(shown: Shown) -> None:
        await shown.sees("Keep the path", "bogus")
        assert "Parallel    " not in shown.text

    play(project.path, work)


def test_a_stuck_task_is_tried_again_from_its_run(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    project.make("k7f2", title="Keep the path", status=Status.STUCK, awaiting=Awaiting.ESCALATION)

    async def work(shown: Shown) -> None:
        await shown.sees("1 for you")
        await shown.press("r")
        await shown.sees("Iterations", "! k7f2")
        await shown.press("y")
        await shown.sees("y decide")
        await shown.press("y")
        await shown.sees("try again", "cancel it")
        await shown.press("enter")
        await shown.until(lambda: project.task("k7f2").status is Status.WORKING, "the next try")

    play(project.path, work)


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
    page = page._replace(commits=dict([*page.commits.items()][:1]))
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


def test_what_ends_a_run_is_said_with_its_hint(tmp_path: Path) -> None:
    app = StillApp(tmp_path)

    async def work(shown: Shown) -> None:
        await shown.sees("Parallel test")
        said = ("error: no agent was found", "", "hint: `gt trust` shows what would run")
        app.feed.batches.append(Batch(None, run_said=said))
        app.feed._wake()
        await shown.sees("no agent was found", "`gt trust` shows what would run")

    play(tmp_path, work, WIDE, app)


def test_what_is_added_to_a_run_is_what_the_cursor_is_on_and_nothing_that_waits_for_a_person(
    tmp_path: Path,
) -> None:
    app = StillApp(tmp_path)

    async def work(shown: Shown) -> None:
        await shown.sees("Parallel test")
        number = app.snapshot.number + 1
        app.feed.batches.append(Batch(replace(snapshot(), sessions={}, number=number)))
        app.feed._wake()
        await shown.until(lambda: app.snapshot.number == number, "the snapshot")
        await shown.press("w")
        await shown.sees("In progress", "Benchmark suite")
        shown.app.screen.query_one("#epics", Lines).go_to("t5b8")
        await shown.press("plus")
        await shown.sees("Add to the run", "Benchmark suite")
        found = shown.app.screen.query_one("#found", Lines)
        assert found.key == "t5b8" != found.keys[0]
        offered = [row for row in app.snapshot.rows if row.id in found.keys]
        assert offered
        assert all(row.is_open and row.awaiting is None and row.status != "stuck" for row in offered)
        await shown.type("no such title")
        await shown.sees("No tasks match.")

    play(tmp_path, work, WIDE, app)
