"""A run from beginning to end in the interface alone, on a real repository with a real agent."""

from __future__ import annotations

import subprocess
from functools import partial
from pathlib import Path

import pytest

from gitticks.model.status import Awaiting, Status, TaskType
from gitticks.runner.liveness import REQUESTS_FOLDER
from gitticks.runner.questions import Questions
from gitticks.tui.feed import Feed
from gitticks.tui.screens.home import Home
from tests.support.projects import make_project
from tests.support.runs import COMMIT, DONE, HANDOFF, NO_REVIEW, RunProject
from tests.tui.support import NARROW, Shown, play

_AGENT = f"""\
echo "[/x] [bold red]hostile[/] \\033[2J at $GITTICKS_TASK"
if [ "$GITTICKS_TASK" = m3xq ] && ! grep -q friendly "$GITTICKS_MAILBOX/TASK.md"; then
  echo '<promise>INPUT_NEEDED: Which tone: friendly or formal?</promise>'
else
  {COMMIT}  {HANDOFF}  echo '<promise>COMPLETE</promise>'
fi
"""


def test_what_an_agent_said_that_ended_between_two_looks_is_shown(
    played: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = played
    project.settings(NO_REVIEW)
    project.agent(f'echo "I look at $GITTICKS_TASK"\n{DONE}')
    project.make("k7f2", title="Login")
    monkeypatch.setattr(
        Feed, "_follow", lambda *_: None
    )  # as if each session began and ended between two looks

    async def work(shown: Shown) -> None:
        await shown.sees("Login")
        await shown.press("enter")
        await shown.sees("Tasks of k7f2")
        await shown.sees("I look at k7f2")

    play(project.path, work)


def test_all_that_an_agent_said_in_its_second_session_stays(played: RunProject) -> None:
    project = played
    project.settings(NO_REVIEW)
    go = project.shared / "go"
    wait = f'while [ ! -e "{go}-$session" ]; do sleep 0.05; done'
    count = f'echo >> "{go}"; session=$(wc -l < "{go}")'
    project.agent(
        f'{count}; echo "I begin $session"; {wait}; echo "I end $session"; [ "$session" != 1 ] || exit 0\n{DONE}'
    )
    project.make("k7f2", title="Login")

    async def work(shown: Shown) -> None:
        await shown.sees("Login")
        await shown.press("enter")
        await shown.sees("Tasks of k7f2", "I begin 1")
        go.with_name("go-1").touch()
        await shown.sees("I begin 2")
        go.with_name("go-2").touch()
        await shown.sees("I begin 2", "I end 2")

    play(project.path, work)


def _home(shown: Shown) -> Home:
    assert isinstance(shown.app.view, Home)
    return shown.app.view


def _is_looked_at(shown: Shown, task_id: str, awaiting: Awaiting) -> bool:
    looked = _home(shown)._looked.get(task_id)
    return looked is not None and looked.seen.awaiting is awaiting


def _is_under_cursor(shown: Shown, task_id: str, left: int) -> bool:
    """True once the cursor of the inbox is on a task, and nothing is listed that was approved already."""
    pane = _home(shown).pane("inbox")
    pane.go_to(task_id)
    return len(shown.app.snapshot.inbox) == left and pane.key == task_id


def test_a_run_is_started_answered_approved_and_ended_by_keys(played: RunProject) -> None:
    project = played
    project.settings(NO_REVIEW)
    project.agent(_AGENT)
    project.make("h8d4", title="Parallel [/x] execution", type=TaskType.EPIC)
    project.make("k7f2", title="Login loses [bold]the URL", parent="h8d4")
    project.make("m3xq", title="Rename the page", parent="h8d4")

    def is_at(task_id: str, status: Status) -> bool:
        return project.task(task_id).status is status

    async def work(shown: Shown) -> None:
        app = shown.app
        await shown.sees("Parallel [/x] execution", "ready", "Nothing is waiting for you")
        await shown.press("space")
        await shown.sees("1 selected, enter starts it")
        await shown.press("enter")
        await shown.until(lambda: app.snapshot.is_run_alive, "the run")
        await shown.sees("Tasks of h8d4", "asks you", "your review", "Iterations", "handed off")
        await shown.sees("[/x] [bold red]hostile[/] \\x1b[2J at")  # what the agent printed, harmless

        await shown.press("escape", "i")
        await shown.sees("Which tone: friendly or formal?", "For you")
        await shown.until(lambda: len(app.snapshot.inbox) == 2, "two entries")
        _home(shown).pane("inbox").go_to("m3xq")
        await shown.sees("m3xq  question", "y answer")
        await shown.until(partial(_is_looked_at, shown, "m3xq", Awaiting.INPUT), "the look at it")
        await shown.press("enter")
        await shown.sees("your answer", "^g your editor")
        await shown.type("friendly")
        await shown.press("enter")
        await shown.until(partial(is_at, "m3xq", Status.REVIEWING), "the second hand-off")

        for task_id, left in (("k7f2", 2), ("m3xq", 1)):
            await shown.until(partial(_is_looked_at, shown, task_id, Awaiting.REVIEW), "the look at the work")
            await shown.until(partial(_is_under_cursor, shown, task_id, left), "the cursor")
            await shown.press("y")
            await shown.sees(f"Approve {task_id} into main?", "merges cleanly into main")
            await shown.press("enter")
            await shown.until(partial(is_at, task_id, Status.DONE), "the merge")

        await shown.press("w")
        await shown.sees("In all", "In progress")
        await shown.press("p")
        await shown.until(lambda: app.snapshot.is_paused, "the pause")
        await shown.sees("paused")
        await shown.press("p")
        await shown.until(lambda: not app.snapshot.is_paused, "the end of the pause")
        await shown.press("ctrl+c")
        await shown.sees("A run is active", "stop after this iteration")
        await shown.press("down", "enter")
        await shown.until(lambda: not app.snapshot.is_run_alive, "the end of the run")

    play(project.path, work)
    assert sorted(project.merges()) == ["k7f2", "m3xq"]


def test_mistakes_are_reported_and_lose_nothing(played: RunProject) -> None:
    project = played
    project.make("k7f2", title="Login", awaiting=Awaiting.INPUT, status=Status.CLARIFICATION)
    project.make("b2cd", title="Not begun")

    async def work(shown: Shown) -> None:
        app = shown.app
        await shown.sees("Login", "Not begun")
        await shown.press("i")
        await shown.until(partial(_is_looked_at, shown, "k7f2", Awaiting.INPUT), "the look at it")
        await shown.press("enter")
        await shown.sees("your answer")
        project.ok("respond", "k7f2", "formal")  # somebody else was faster
        await shown.type("friendly")
        await shown.press("enter")
        await shown.sees("error", "k7f2", "your text is kept in")
        await shown.press("s")
        await shown.until(lambda: not app._notifications, "the error to go at a key")

        app.run_choices = {"agent": "nobody"}  # which there is not
        await shown.press("shift+tab")
        _home(shown).pane("roots").go_to("b2cd")
        await shown.press("enter")
        await shown.sees("there is no agent `nobody`")
        assert not app.snapshot.is_run_alive
        await shown.press("plus")
        await shown.sees("New task", "title")
        await shown.type("Made here")
        await shown.press("enter")
        await shown.sees("Made here")
        await shown.press("slash")
        await shown.sees("Search")
        await shown.type("made")
        await shown.press("enter")
        await shown.until(lambda: app.view is not None and app.view.place == "task", "its page")
        await shown.press("question_mark")
        await shown.sees(": keys", "all commands by name")
        await shown.press("escape", "escape", "less_than_sign")
        await shown.until(lambda: "gitticks.ui.home-left" in _config(project), "the remembered size")

    play(project.path, work)
    assert "friendly" not in str(project.file("k7f2").data)
    [kept] = project.path.glob(".git/gitticks/drafts/*/TEXT.md")
    assert kept.read_text() == "friendly\n"


def test_sizes_of_panes_are_chosen_and_remembered(played: RunProject) -> None:
    project = played
    project.make("k7f2", title="Login")
    chosen: list[tuple[int, int]] = []

    def sizes(shown: Shown) -> tuple[int, int]:
        left = _home(shown).query_one("#left")
        return left.outer_size.width, _home(shown).pane("settings").outer_size.height

    async def choose(shown: Shown) -> None:
        await shown.sees("Login", "Run settings")
        across, down = sizes(shown)
        await shown.press("s", "equals_sign", "equals_sign", "greater_than_sign")
        await shown.until(lambda: sizes(shown) == (across + 4, down + 2), "the new sizes")
        await shown.press("shift+tab", "minus")  # what is above its edge grows where this shrinks
        await shown.until(lambda: sizes(shown) == (across + 4, down + 3), "the other side of the edge")
        chosen.append(sizes(shown))
        await shown.until(
            lambda: "gitticks.ui.home-settings-height" in _config(project), "the remembered size"
        )

    async def again(shown: Shown) -> None:
        await shown.sees("Login")
        await shown.until(lambda: sizes(shown) == chosen[0], "the remembered sizes")

    async def in_one_column(shown: Shown) -> None:
        await shown.sees("Login")
        await shown.until(lambda: sizes(shown) == (NARROW[0], 1), "the whole width")

    play(project.path, choose)
    play(project.path, again)
    play(project.path, in_one_column, NARROW)


def test_in_a_low_terminal_the_list_keeps_its_rows(played: RunProject) -> None:
    played.make("k7f2", title="Login")

    async def look(shown: Shown) -> None:
        await shown.sees("[ ] k7f2", "Login", "Run settings")

    play(played.path, look, (120, 12))


def _config(project: RunProject) -> str:
    return subprocess.run(
        ["git", "config", "--list"], cwd=project.path, capture_output=True, text=True, check=True
    ).stdout


def test_outside_of_a_repository_every_place_says_so_and_what_to_do(tmp_path_factory: object) -> None:
    from tempfile import TemporaryDirectory  # outside of any repository that the tests' own folder lies in

    async def look(shown: Shown) -> None:
        def is_at(place: str) -> bool:
            return shown.app.view is not None and shown.app.view.place == place

        await shown.reads("is not in a git repository")
        await shown.press("A", "space", "t", "e", "i", "s", "enter")
        assert shown.app.focused is _home(shown).pane("problem")
        await shown.reads("is not in a git repository")
        for place in ("run", "parallel", "graph", "permissions"):
            shown.app.go(place)
            await shown.until(partial(is_at, place), place)
            await shown.reads("is not in a git repository")
            assert "No " not in shown.text.replace("No tasks to show", "")
        project = make_project(Path(folder))
        project.make("k7f2", title="Login")
        shown.app.go("home")
        await shown.sees("Epics and tasks", "Login")
        questions = Questions(project.path / ".git/gitticks")
        await shown.until(lambda: questions.is_attended, "somebody to ask")
        await shown.until(lambda: shown.app.focused is _home(shown).pane("roots"), "the focus")

    with TemporaryDirectory() as folder:
        play(Path(folder), look)


def test_in_an_empty_inbox_each_key_that_would_answer_says_so(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    project.make("k7f2", title="Keep the path")

    async def work(shown: Shown) -> None:
        await shown.sees("Keep the path")
        await shown.press("i")
        for key in ("A", "enter", "y", "n"):
            await shown.press(key)
            await shown.reads("nothing is waiting for an answer")
            assert not _home(shown)._chosen
            shown.app.clear_notifications()

    play(project.path, work)


def test_where_nothing_can_be_written_the_interface_shows_what_there_is(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    project.make("k7f2", title="Keep the path")
    # In the way of the folder that would be made, as any refusal to write is.
    (project.path / ".git/gitticks" / REQUESTS_FOLDER).write_text("")

    async def work(shown: Shown) -> None:
        await shown.sees("Keep the path")
        project.make("b2cd", title="Elsewhere")
        await shown.sees("Elsewhere")

    play(project.path, work)
