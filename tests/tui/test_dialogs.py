"""Dialogs: their keys, what is typed in them, and what they say."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from textual import events
from textual.notifications import Notification
from textual.widgets._toast import Toast

from gitticks.tui.screens.dialogs import Dialog, Field
from gitticks.tui.widgets.lines import Lines, line, words
from tests.support.projects import Project, make_project
from tests.tui.made_up import StillApp
from tests.tui.support import WIDE, Shown, play


@pytest.mark.parametrize("key", ["plus", "slash", "question_mark", "ctrl+p", "ctrl+c"])
def test_dialogs_leave_ctrl_z_and_ctrl_c_their_meaning(tmp_path: Path, key: str) -> None:
    async def work(shown: Shown) -> None:
        await shown.sees("Parallel test")
        assert shown.app.snapshot.is_run_alive
        await shown.press(key)
        await shown.until(lambda: shown.app.screen.is_modal and shown.app.screen.is_mounted, "the dialog")
        await shown.press("ctrl+z")
        await shown.sees("there is no shell here to go back to")
        await shown.press("ctrl+c")
        await shown.sees("A run is active", "stop after this iteration")
        await shown.press("escape")
        await shown.until(lambda: key == "ctrl+p" or not shown.app.screen.is_modal, "the way back")

    play(tmp_path, work, WIDE, StillApp(tmp_path))


@pytest.mark.parametrize(
    ("burst", "sees"), [("/tests for", "▌◐ e4mq"), ("+Half a title", "start with ! for an epic")]
)
def test_what_is_typed_in_one_burst_with_the_key_that_opens_a_dialog_is_in_its_field(
    tmp_path: Path, burst: str, sees: str
) -> None:
    async def work(shown: Shown) -> None:
        await shown.sees("Parallel test")
        for one in burst:
            shown.app.post_message(events.Key(keys.get(one, one), one))
        await shown.sees(sees, burst[1:])
        await shown.type(" run")
        await shown.sees(f"{burst[1:]} run")

    keys = {"/": "slash", "+": "plus", " ": "space"}
    play(tmp_path, work, WIDE, StillApp(tmp_path))


@pytest.mark.parametrize(
    "leave",
    [("escape", "q"), ("ctrl+c",), ("ctrl+q", "escape", "q"), ("ctrl+p", "escape", "q")],
    ids=["q", "ctrl-c", "ctrl-q", "palette"],
)
def test_a_text_that_was_not_sent_is_there_in_the_next_interface(
    tmp_path: Path, leave: tuple[str, ...]
) -> None:
    project = make_project(tmp_path / "project")
    project.make("k7f2", title="Keep the path")

    async def begin(shown: Shown) -> None:
        await shown.sees("Keep the path")
        await shown.press("plus")
        await shown.sees("start with ! for an epic")
        await shown.press("enter")
        await shown.reads("the text is empty, nothing was changed")
        await shown.type("Half a title")
        await shown.press(*leave)

    async def finish(shown: Shown) -> None:
        await shown.sees("Keep the path")
        await shown.press("plus")
        await shown.sees("start with ! for an epic", "Half a title")
        await shown.press("enter")
        await shown.until(lambda: len(shown.app.snapshot.rows) == 2, "the task")
        await shown.press("plus")
        await shown.sees("start with ! for an epic")
        assert shown.app.screen.query_one(Field).value == ""

    play(project.path, begin)
    play(project.path, finish)


def test_what_a_dialog_says_is_broken_anew_to_the_terminal(tmp_path: Path) -> None:
    async def work(shown: Shown) -> None:
        await shown.sees("Parallel test")
        said = "The words of a dialog that is wider than the terminal becomes, all of them"
        shown.app.push_screen(Dialog("Read", [line(said)]))
        await shown.sees("terminal becomes")
        pane = shown.app.screen.query_one("#said", Lines)
        for width in (40, 120):
            await shown.pilot.resize_terminal(width, 30)
            await shown.until(
                lambda: max(len(words(row)) for row in pane.rows) < pane.size.width, "the new width"
            )
            assert " ".join(" ".join(words(row) for row in pane.rows).split()) == said
        assert len(pane.rows) <= 2

    play(tmp_path, work, WIDE, StillApp(tmp_path))


def test_a_message_that_expires_in_the_moment_in_which_it_is_shown_stops_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, shown_late = Toast.__init__, []

    def made_too_late(self: Toast, notification: Notification) -> None:
        time.sleep(max(0.0, notification.time_left) + 0.05)
        shown_late.append(notification)
        made(self, notification)

    monkeypatch.setattr(Toast, "__init__", made_too_late)

    async def work(shown: Shown) -> None:
        while not shown_late:  # one that has expired before it is looked at is never made into a toast
            shown.app.notify("saved", timeout=0.2)
            await shown.pilot.pause(0.02)
        await shown.press("question_mark")
        await shown.sees(": keys", "all commands by name")

    play(project.path, work)
