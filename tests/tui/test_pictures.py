"""The places as pictures: what a change does to them is seen before anybody is surprised."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from textual import events

from gitticks.actions.context import Context
from gitticks.errors import RefusedError
from gitticks.tui.screens.dashboard import Dashboard
from gitticks.tui.screens.dialogs import Dialog, Search
from tests.support.waiting import LONGEST_SECONDS
from tests.tui.made_up import ITERATIONS, StillApp
from tests.tui.support import NARROW, SMALL, WIDE, Shown, check_picture, play


@pytest.mark.parametrize(("size", "theme"), [(WIDE, "gt-dark"), (SMALL, "gt-light")], ids=["large", "small"])
def test_places_look_as_they_did(tmp_path: Path, size: tuple[int, int], theme: str) -> None:
    async def look(shown: Shown) -> None:
        shown.app.use_theme(theme)
        await shown.sees("Parallel test", "m3xq")
        await shown.press("i", "down", "down", "down")
        if size == WIDE:
            await shown.sees("UNCERTAIN", "merges cleanly")
        await check_picture(shown, "home")
        shown.app.go("run", "h8d4")
        await shown.sees("e4mq", "pytest tests/worker")
        view = shown.app.screen
        assert isinstance(view, Dashboard)
        view._take_iterations(ITERATIONS)
        await shown.sees("handed off")
        await check_picture(shown, "run")
        await shown.press("w")
        await shown.sees("3 of 8", "In all")
        await check_picture(shown, "parallel")

    play(tmp_path, look, size, StillApp(tmp_path))


def test_on_a_telephone_the_focused_pane_is_open_and_ascii_is_enough(tmp_path: Path) -> None:
    async def look(shown: Shown) -> None:
        await shown.sees("Parallel test", "For you")
        assert "Rename the error page" not in shown.text
        await shown.press("i")
        await shown.sees("Rename the error", "Which tone: friendly")
        assert "Parallel test" not in shown.text
        await check_picture(shown, "home")
        shown.app.go("run", "h8d4")
        await shown.sees("e4mq")
        view = shown.app.screen
        assert isinstance(view, Dashboard)
        view._take_iterations(ITERATIONS)
        await shown.press("tab", "tab")
        await shown.sees("━Iterations", "review failed")
        await shown.until(lambda: view.pane("iterations").size.height > NARROW[1] - 6, "the whole height")

    play(tmp_path, look, NARROW, StillApp(tmp_path))


def test_a_key_typed_ahead_answers_no_question_that_was_not_shown(tmp_path: Path) -> None:
    async def hurry(shown: Shown) -> None:
        await shown.sees("Parallel test", "m3xq")
        await shown.press("i", "down", "down", "down")
        for key, character in (("y", "y"), ("enter", None)):
            shown.app.post_message(events.Key(key, character))
        await shown.sees("Approve k7f2 into main?")
        await shown.press("tab")
        assert "Approve k7f2 into main?" in shown.text
        await shown.press("escape")
        await shown.no_longer_sees("Approve k7f2")

    play(tmp_path, hurry, WIDE, StillApp(tmp_path))


def test_a_dialog_is_ended_once_however_often_enter_is_typed(tmp_path: Path) -> None:
    async def hurry(shown: Shown) -> None:
        await shown.sees("Parallel test", "m3xq")
        await shown.press("slash")
        await shown.sees("words of a title")
        for _ in range(2):
            shown.app.post_message(events.Key("enter", None))
        await shown.sees("TASK.md")
        await shown.press("escape")
        await shown.sees("Parallel test", "m3xq")

    play(tmp_path, hurry, WIDE, StillApp(tmp_path))


def test_what_is_closed_before_it_was_drawn_takes_nothing_down(tmp_path: Path) -> None:
    async def hurry(shown: Shown) -> None:
        app = shown.app
        await shown.sees("Parallel test", "m3xq")
        for place in ("task", "review", "graph", "permissions"):
            app.go(place, "k7f2")
            app.back()
        for dialog in (Search(), Dialog("Note", [], ask="note", kept_as="note")):
            app.push_screen(dialog)
            dialog.action_leave()
        await shown.press("down")
        await shown.sees("Parallel test", "m3xq")

    play(tmp_path, hurry, WIDE, StillApp(tmp_path))


def test_a_bug_in_a_use_case_is_reported_and_takes_nothing_else_down(tmp_path: Path) -> None:
    def broken(_context: Context) -> None:
        raise ZeroDivisionError

    async def look(shown: Shown) -> None:
        await shown.sees("Parallel test")
        shown.app.act(broken, "done")
        await shown.sees("error", "ZeroDivisionError")
        await shown.press("down")
        await shown.no_longer_sees("ZeroDivisionError")

    play(tmp_path, look, WIDE, StillApp(tmp_path))


def test_what_is_refused_after_the_interface_was_left_is_said_by_the_command(tmp_path: Path) -> None:
    app, has_begun, goes_on = StillApp(tmp_path), threading.Event(), threading.Event()

    def refuse(_context: Context) -> None:
        has_begun.set()
        goes_on.wait(LONGEST_SECONDS)
        raise RefusedError("it changed")

    async def leave(shown: Shown) -> None:
        await shown.sees("Parallel test")
        app.act(refuse, "done")
        await shown.until(has_begun.is_set, "the call")
        app.exit(0)
        goes_on.set()

    play(tmp_path, leave, WIDE, app)
    assert [str(one) for one in app.unsaid] == ["it changed"]


def test_a_bug_of_the_interface_reaches_the_command_that_reports_it(tmp_path: Path) -> None:
    app = StillApp(tmp_path)

    async def look(shown: Shown) -> None:
        await shown.sees("Parallel test")
        app.feed.failure = ZeroDivisionError()
        app.feed._wake()
        await shown.until(lambda: app.crash is not None, "the crash")

    with pytest.raises(ZeroDivisionError):
        play(tmp_path, look, WIDE, app)
