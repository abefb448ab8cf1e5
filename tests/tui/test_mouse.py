"""The mouse: a click selects, a double click opens, and bars, dialogs and the wheel do what they look like."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from textual.events import MouseEvent, MouseScrollDown, MouseScrollUp
from textual.widget import Widget

from gitticks.model.ids import TaskId
from gitticks.tui.messages import Batch, Said
from gitticks.tui.screens.dialogs import Choice, Dialog
from gitticks.tui.transcript import Piece
from gitticks.tui.widgets.lines import Lines, line
from gitticks.tui.widgets.output import Output
from tests.tui.made_up import StillApp, ago
from tests.tui.support import WIDE, Shown, play


def _pane(shown: Shown, name: str) -> Lines:
    return shown.app.screen.query_one(f"#{name}", Lines)


async def _click(shown: Shown, words: str, times: int = 1) -> None:
    """Clicks on the first of these words on the screen."""
    await shown.sees(words)
    at = next((row.index(words), y) for y, row in enumerate(shown.text.splitlines()) if words in row)
    await shown.pilot.click(offset=at, times=times)


def test_a_click_selects_and_a_second_opens(tmp_path: Path) -> None:
    async def work(shown: Shown) -> None:
        started: list[str] = []
        shown.app.act = lambda what, *_, **__: started.append(what)  # type: ignore[method-assign]
        await shown.sees("Parallel test", "Which tone")
        await _click(shown, "Parallel test")  # the row that has the cursor already
        await _click(shown, "Benchmark suite")
        roots = _pane(shown, "roots")
        await shown.until(lambda: roots.key == "t5b8", "the cursor")
        assert not started, "a single click starts nothing"
        await _click(shown, "Login loses")
        await shown.sees("k7f2  review", "UNCERTAIN")
        assert shown.app.focused is _pane(shown, "inbox")
        await _click(shown, "Login loses", times=2)
        await shown.until(lambda: shown.app.view and shown.app.view.place == "review", "the review")

    play(tmp_path, work, WIDE, StillApp(tmp_path))


def test_places_keys_and_the_inbox_are_clicked_in_the_bars(tmp_path: Path) -> None:
    async def work(shown: Shown) -> None:
        def is_at(place: str) -> bool:
            return shown.app.view is not None and shown.app.view.place == place

        await shown.sees("Parallel test")
        for label in ("Run", "Parallel", "Home"):
            await _click(shown, f"  {label}  ")
            await shown.pilot.click(offset=(shown.text.splitlines()[0].index(label), 0))
            await shown.until(partial(is_at, label.lower()), label)
        await _click(shown, "settings  ")
        await shown.until(lambda: shown.app.focused is _pane(shown, "settings"), "the settings")
        await _click(shown, "for you")
        await shown.until(lambda: shown.app.focused is _pane(shown, "inbox"), "the inbox")
        await _click(shown, "? help")
        await shown.sees("Home: keys")
        await _click(shown, "esc back")
        await shown.no_longer_sees("Home: keys")

    play(tmp_path, work, WIDE, StillApp(tmp_path))


def test_dialogs_are_answered_by_clicks(tmp_path: Path) -> None:
    found: list[object] = []

    async def work(shown: Shown) -> None:
        await shown.sees("Parallel test")
        choice = Choice("Which?", [line("this one", key="this"), line("that one", key="that")], do="take it")
        shown.app.push_screen(choice, found.append)
        await _click(shown, "that one")
        await shown.until(lambda: found == ["that"], "the choice")
        shown.app.push_screen(Dialog("Words?", [], ask="words", do="say it"), found.append)
        await shown.sees("Words?")
        await shown.type("so")
        await _click(shown, "enter say it")
        await shown.until(lambda: found == ["that", "so"], "the words")
        await shown.press("slash")
        await _click(shown, "zn9k")
        await shown.until(lambda: shown.app.view and shown.app.view.subject == "zn9k", "the task's page")

    play(tmp_path, work, WIDE, StillApp(tmp_path))


def test_an_output_is_left_and_followed_again_at_its_end(tmp_path: Path) -> None:
    async def work(shown: Shown) -> None:
        output = Output()
        output.take(Piece(f"line {number}") for number in range(200))
        await shown.sees("Parallel test")
        shown.app.outputs["e4mq"] = output
        shown.app.go("run", "h8d4")
        await shown.sees("line 199")
        pane = _pane(shown, "output")
        for _ in range(2):  # the first shows the scrollbar
            await _scroll(shown, pane, MouseScrollUp)
        await shown.no_longer_sees("line 199")
        assert "line 190" in shown.text, "what is just above, and not the beginning"
        for _ in range(2):
            await _scroll(shown, pane, MouseScrollDown)
        await shown.until(lambda: pane.at_tail and "line 199" in shown.text, "the end")
        shown.app.screen.set_focus(pane)
        await shown.press("up", "up", "up")
        await shown.no_longer_sees("line 198")
        assert "line 190" in shown.text
        output.take([Piece("line 200"), Piece("pytest", "run", "7", ("212 passed",), failed=False)])
        await shown.press("f")
        shown.app.screen._draw_output(refresh=True)  # type: ignore[attr-defined]
        await _click(shown, "pytest")
        await shown.sees("212 passed")

    play(tmp_path, work, WIDE, StillApp(tmp_path))


def test_the_place_in_an_output_stays_whatever_the_terminal_and_the_agent_do(tmp_path: Path) -> None:
    async def work(shown: Shown) -> None:
        app, output = shown.app, Output()
        output.take(Piece(f"line {number}") for number in range(200))
        await shown.sees("Parallel test")
        app.outputs["e4mq"] = output
        app.go("run", "h8d4")
        await shown.sees("line 199")
        pane = _pane(shown, "output")
        app.screen.set_focus(pane)
        await shown.press("home", "pagedown")
        await shown.until(lambda: pane.scroll_offset.y, "the second page")
        place, width = pane.scroll_offset.y, pane.size.width
        assert not pane.at_tail
        await shown.pilot.resize_terminal(100, 36)
        await shown.until(lambda: pane.size.width < width, "the new size")
        await shown.pilot.pause()
        assert (pane.at_tail, pane.scroll_offset.y) == (False, place)

        app.go("task", "e4mq")
        app.go("graph", "e4mq")
        await shown.until(lambda: app.screen.is_mounted, "the graph")
        app.feed.batches.append(Batch(None, (Said(TaskId("e4mq"), ago(4), (Piece("line 200"),)),)))
        app.feed._wake()
        await shown.until(lambda: not app.feed.batches, "the taking")
        app.go("run", "h8d4")
        await shown.sees("Tasks of h8d4", f"line {place}")
        assert (pane.at_tail, pane.scroll_offset.y) == (False, place)
        await shown.press("f")
        await shown.sees("line 200")

    play(tmp_path, work, WIDE, StillApp(tmp_path))


async def _scroll(shown: Shown, pane: Widget, turn: type[MouseEvent]) -> None:
    await shown.pilot._post_mouse_events([turn], widget=pane, offset=(5, 5))
    await shown.pilot.pause()
