"""The application: places, data from the feed, themes; everything else is in the screens."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.screen import Screen

from gitticks.actions.context import Context
from gitticks.tui import places, theme
from gitticks.tui.acting import ActingApp
from gitticks.tui.feed import Feed
from gitticks.tui.messages import Batch, Fed, Snapshot
from gitticks.tui.remembered import Preferences
from gitticks.tui.running import error_in
from gitticks.tui.screens.base import View
from gitticks.tui.screens.dialogs import Seen
from gitticks.tui.widgets.lines import clean
from gitticks.tui.widgets.output import Output

_CLOCK_SECONDS, _LONGEST_LEAVE_SECONDS = 5.0, 60.0
_TICKS_AT_REST = 12


class GitticksApp(ActingApp):
    """gitticks in a terminal. Only a view: it reads the repository and calls use cases, and leaving stops nothing."""

    CSS_PATH = Path(__file__).with_name("gt.tcss")
    TITLE = "gitticks"
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(one.key, one.action, show=False, priority=True) for one in places.EVERYWHERE if one.is_first
    ]

    def __init__(self, context: Context) -> None:
        self.snapshot = Snapshot()
        self.look = theme.look_of(theme.NAMES[0])
        super().__init__(context)
        self.preferences = Preferences(context)
        self.feed = Feed(context, lambda: self.post_message(Fed()), self.warn)
        self._waiting: frozenset[str] | None = None
        self._ticks = 0
        self.outputs: dict[str, Output] = {}
        self._heard: dict[str, datetime] = {}
        self.run_choices: dict[str, str] = {}
        theme.use_ascii(wanted=self.preferences.get("ascii") == "true" or not theme.can_draw())
        for name in theme.NAMES:
            self.register_theme(theme.theme_of(name))
        chosen = self.preferences.get("theme")
        default = "gt-plain" if os.environ.get("NO_COLOR") else theme.NAMES[0]
        self.use_theme(chosen if chosen in theme.NAMES else default)

    def on_mount(self) -> None:
        """Opens Home, and begins to read once that was painted."""
        if theme.uses_ascii():
            self.add_class("-ascii")
        self.push_screen(places.open_place("home"))
        self._leave_at_signals()
        self.call_after_refresh(self.feed.start)
        self.set_interval(_CLOCK_SECONDS, self._go_on)

    def on_unmount(self) -> None:
        """Ends the feed; nothing else was started here that would have to be ended."""
        self.feed.stop()

    # what the feed brings

    def on_fed(self, _event: Fed) -> None:
        """Takes what is in the queue, and lets the place on top draw it."""
        if self.feed.failure is not None:
            raise self.feed.failure
        if not self.is_running:
            return  # the panes are being taken down
        has_new = False
        while self.feed.batches:
            batch = self.feed.batches.popleft()
            if batch.snapshot is not None:
                self.snapshot = batch.snapshot
                has_new = True
                self._ring(batch.snapshot)
            self._take(batch)
            self._tell(batch.run_said)
        if has_new:
            for screen in self.screen_stack:
                if isinstance(screen, View):
                    screen.redraw()

    def _tell(self, run_said: Sequence[str]) -> None:
        """Shows what a run warns of one of its tasks, and why it ended where it could not continue."""
        for line in run_said:
            kind, _, words = line.partition(": ")
            if kind == "warning" and self.snapshot.find(words.partition(":")[0]) is not None:
                self.say(words, warns=True)
        if (error := error_in(run_said)) is not None:
            self.refuse(error.message, error.hint)

    def _go_on(self) -> None:
        """Lets the ages on the screen go on, more often while a run is active."""
        self._ticks += 1
        is_busy = self.snapshot.sessions or self.snapshot.is_run_alive
        if self.snapshot.number and (is_busy or not self._ticks % _TICKS_AT_REST):
            now = self.now
            around = self.snapshot.around._replace(now=now, today=now.astimezone().date())
            self.snapshot = replace(self.snapshot, around=around)
            if isinstance(self.screen, View):
                self.screen.redraw()

    def _take(self, batch: Batch) -> None:
        for said in batch.said:
            if self._heard.get(said.task) != said.started:  # a new session begins a new page
                self._heard[said.task] = said.started
                self.outputs[said.task] = Output()
            self.outputs[said.task].take(said.pieces)
        for screen in self.screen_stack:
            if isinstance(screen, View):
                screen.take(batch)

    def _ring(self, snapshot: Snapshot) -> None:
        tasks = (one.standing.task.id for one in snapshot.inbox)
        waiting = frozenset((*tasks, *(f"question {one.number}" for one in snapshot.questions)))
        if self._waiting is not None and waiting - self._waiting and self.preferences.get("bell") != "false":
            self.bell()
        is_seen = isinstance(self.screen, View) and self.screen.shows_requests
        for one in snapshot.questions:
            is_new = self._waiting is not None and f"question {one.number}" not in self._waiting
            if is_new and not is_seen:
                asks = f"{one.agent} asks for {one.access.operation} {one.access.target}"
                self.say(f"{asks}: press i to answer", warns=True)
        self._waiting = waiting

    # places

    @property
    def view(self) -> View | None:
        """Returns the place on top, under dialogs."""
        return next((one for one in reversed(self.screen_stack) if isinstance(one, View)), None)

    def go(self, place: str, subject: str | None = None) -> None:
        """Opens a place, on a task if it is about one; a place that is open already below is gone back to."""
        for screen in reversed(self.screen_stack):
            if isinstance(screen, View) and (screen.place, screen.subject) == (place, subject):
                while self.screen is not screen:
                    self.pop_screen()
                return
        self.push_screen(places.open_place(place, subject))

    def back(self) -> None:
        """Closes the place on top; Home stays."""
        if sum(isinstance(one, View) for one in self.screen_stack) > 1:
            self.pop_screen()

    async def _replace_screen(self, screen: Screen[Any]) -> Screen[Any]:
        """Removes a screen that was closed, once it has its widgets: `on_mount` looks for them even in one left at once."""
        mounted: asyncio.Event = screen._mounted_event  # noqa: SLF001 (textual composes nothing into what it is about to remove)
        await mounted.wait()
        return await super()._replace_screen(screen)

    def action_go(self, place: str) -> None:
        self.go(place)

    def action_inbox(self) -> None:
        self.go("home")
        self.screen.set_focus(self.screen.query_one("#inbox"))

    @property
    def now(self) -> datetime:
        return self.context.now

    def look_again(self) -> None:
        self.feed.look_again()

    # look

    def use_theme(self, name: str) -> None:
        """Changes the theme: first our own styles, then the CSS variables, which redraws."""
        self.look = theme.look_of(name)
        self.theme = name

    def choose_theme(self, name: str) -> None:
        """Changes the theme and remembers it."""
        self.use_theme(name)
        self.preferences.remember("theme", name)

    def action_next_theme(self) -> None:
        at = theme.NAMES.index(self.theme) if self.theme in theme.NAMES else 0
        self.choose_theme(theme.NAMES[(at + 1) % len(theme.NAMES)])

    # leaving

    def _leave_at_signals(self) -> None:
        """Has a signal to end leave as `q` does, with the terminal as it was; a second one ends the process at once."""
        loop = asyncio.get_running_loop()

        def leave(number: signal.Signals) -> None:
            loop.remove_signal_handler(number)
            signal.signal(signal.SIGCONT, signal.SIG_DFL)
            # Whoever ends it has no screen any more, so that it must not wait for ever for anything of its own.
            loop.call_later(_LONGEST_LEAVE_SECONDS, os._exit, 128 + number)
            self._leave_dialog()
            self.exit(return_code=128 + number)

        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as under `nohup`
                loop.add_signal_handler(number, leave, number)
        if callable(resume := signal.getsignal(signal.SIGCONT)):
            # `timeout` sends it after SIGTERM, to a terminal that was never left.
            signal.signal(
                signal.SIGCONT,
                lambda *given: (
                    resume(*given) if getattr(self._driver, "_must_signal_resume", False) else None
                ),
            )

    def _leave_dialog(self) -> None:
        """Leaves an open dialog as `esc` does, which keeps what was typed."""
        if isinstance(self.screen, Seen) and self.screen.is_seen:
            self.screen.action_leave()

    @property
    def crash(self) -> Exception | None:
        """Returns the bug that ended the interface, if one did; the command reports it."""
        return self._exception

    def _fatal_error(self) -> None:
        """Leaves without textual's own traceback."""
        self._close_messages_no_wait()

    def action_ask_to_leave(self) -> None:
        self._leave_dialog()
        if not self.snapshot.is_run_alive:
            self.exit(0)
            return
        from gitticks.tui.screens.asking import ask_to_leave

        ask_to_leave(self)

    def action_suspend_process(self) -> None:
        """Stops the process, if a shell waits for it that can continue it."""
        parent = os.getppid()
        has_shell = os.getsid(parent) == os.getsid(0) and os.getpgid(parent) != os.getpgrp()
        if self.is_web or not has_shell:
            self.say("there is no shell here to go back to")
            return
        super().action_suspend_process()

    # palette

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Yields every place, key and theme by name, and every task, which is found but not listed."""
        for place, label in places.MAIN_PLACES:
            yield SystemCommand(f"go to {label}", "", partial(self.go, place))
        if isinstance(screen, View):
            for key in places.keys_of(screen.place):
                if (
                    key.action not in ("", "nothing")
                    and "," not in key.key
                    and not key.action.startswith("app.go")
                ):
                    do = partial(screen.run_action, key.action)
                    yield SystemCommand(key.label, f"{key.words} ({key.sign})", do)
        for name, label in theme.LABELS.items():
            yield SystemCommand(f"theme {label}", "", partial(self.choose_theme, name))
        for row in self.snapshot.rows:
            name = clean(f"{row.id}  {row.title}").replace("[", "\\[")  # it is read as markup
            yield SystemCommand(name, "", partial(self.go, "task", row.id), discover=False)

    def action_command_palette(self) -> None:
        if not CommandPalette.is_open(self):  # type: ignore[arg-type]
            self._leave_dialog()
            placeholder = "a command, a screen, a theme or a task"
            self.push_screen(CommandPalette(placeholder=placeholder, id="--command-palette"))
