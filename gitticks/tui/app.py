"""The application: places, data from the feed, themes; everything else is in the screens."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.events import Key
from textual.notifications import Notify, SeverityLevel
from textual.screen import Screen

from gitticks.actions import drafts
from gitticks.actions.context import Context
from gitticks.errors import GitticksError
from gitticks.tui import places, theme
from gitticks.tui.feed import Feed
from gitticks.tui.messages import Batch, Fed, Snapshot
from gitticks.tui.remembered import IN_DIALOGS, Preferences, UnsentComments
from gitticks.tui.running import error_in
from gitticks.tui.screens.base import View, refusal_of
from gitticks.tui.screens.dialogs import Seen
from gitticks.tui.widgets.chrome import ShownNotification
from gitticks.tui.widgets.lines import clean
from gitticks.tui.widgets.output import Output

R = TypeVar("R")
_TOAST_SECONDS, _UNTIL_READ = 4.0, 3600.0
_CLOCK_SECONDS, _LONGEST_LEAVE_SECONDS = 5.0, 60.0
_TICKS_AT_REST = 12


class GitticksApp(App[int], inherit_bindings=False):  # textual's ctrl-q would lose what was typed
    """gitticks in a terminal. Only a view: it reads the repository and calls use cases, and leaving stops nothing."""

    CSS_PATH = Path(__file__).with_name("gt.tcss")
    TITLE = "gitticks"
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(one.key, one.action, show=False, priority=True) for one in places.EVERYWHERE if one.is_first
    ]

    def __init__(self, context: Context) -> None:
        self.context = context
        self.snapshot = Snapshot()
        self.look = theme.look_of(theme.NAMES[0])
        super().__init__()
        self.preferences = Preferences(context)
        self.feed = Feed(context, lambda: self.post_message(Fed()), self.warn)
        self._locks: dict[str, threading.Lock] = {}
        self.unsaid: list[GitticksError | str] = []
        """What was refused or warned of, until it is shown; what is left at the end the command says."""
        self._waiting: frozenset[str] | None = None
        self._has_error = False
        self._ticks = 0
        self.outputs: dict[str, Output] = {}
        self._heard: dict[str, datetime] = {}
        self.run_choices: dict[str, str] = {}
        self.unsent = UnsentComments(context)
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

    # use cases: threads hand what they found back by `call_later`, which does nothing once the interface was left

    def look_up(
        self,
        find: Callable[[Context], R],
        done: Callable[[R], object],
        failed: Callable[[Exception], object],
    ) -> None:
        """Reads in a thread, and hands what it found to `done`, or the error to `failed`."""

        def read() -> None:
            context = self.context.renewed()
            try:
                found = find(context)
            except Exception as error:  # noqa: BLE001 (a bug is reported, and takes nothing else down)
                self.call_later(failed, error)
            else:
                self.call_later(done, found)
            finally:
                if "index" in context.__dict__:
                    context.index.close()

        self.run_worker(read, thread=True, exit_on_error=False)

    def ask(self, dialog: Seen, then: Callable[[Any], object]) -> None:
        """Opens a dialog, and hands what it ends with to `then`, unless it is left."""

        def ended(found: object) -> None:
            if found is not None:
                then(found)

        self.push_screen(dialog, ended)

    def act(
        self,
        do: Callable[[Context], R],
        done: Callable[[R], str | None] | str,
        *,
        task: str | None = None,
        text: str = "",
        kept_as: str = "",
    ) -> None:
        """Calls `do` with a fresh context in a thread, one after the other for one `task`.

        `done` gets what came of it, back in the interface's thread, and returns what is to be said, or is that itself.
        A refusal is shown until a key is pressed, as the command would show it, and where `text`, which a person
        wrote for it, is kept, at least for the dialog that asks for it again, `kept_as` that. Leaving waits for its end.
        """
        lock = self._locks.setdefault(task or "", threading.Lock())
        self.run_worker(partial(self._do, do, done, lock, text, kept_as), thread=True, exit_on_error=False)

    def wait_for(self, do: Callable[[Context], str], *, task: str) -> None:
        """Calls `do` as `act` does and says what it returns, in a thread that leaving does not wait for.

        For what takes as long as tests do, and continues in a process of its own.
        """
        lock = self._locks.setdefault(task, threading.Lock())
        threading.Thread(target=self._do, args=(do, str, lock), name=task, daemon=True).start()

    def _do(
        self,
        do: Callable[[Context], R],
        done: Callable[[R], str | None] | str,
        lock: threading.Lock,
        text: str = "",
        kept_as: str = "",
    ) -> None:
        context = self.context.renewed()
        with lock:
            try:
                found = do(context)
            except Exception as error:  # noqa: BLE001 (a bug is reported, and takes nothing else down)
                where = done if isinstance(done, str) else "the interface"
                message, hint = refusal_of(error, where)
                refused = GitticksError(message, hint=hint)
                if text.strip():
                    self._keep_text(context, text, refused, kept_as)
                self._show_later(refused)
                return
            finally:
                if warnings := context.all_warnings:
                    self._show_later("\n".join(f"warning: {one}" for one in warnings))
        self.feed.look_again()
        self.call_later(self._done, found, done)

    def warn(self, words: str) -> None:
        """Shows a warning, from any thread."""
        self._show_later(f"warning: {words}")

    def _show_later(self, words: GitticksError | str) -> None:
        self.unsaid.append(words)
        self.call_later(self._show, words)

    def _show(self, words: GitticksError | str) -> None:
        if self.return_code is not None:
            return
        self.unsaid.remove(words)
        if isinstance(words, str):
            self.say(words, warns=True)
        else:
            self.refuse(words.message, words.hint)

    def _keep_text(self, context: Context, text: str, refused: GitticksError, kept_as: str) -> None:
        try:
            drafts.keep_text(context, text, refused)
        except (GitticksError, OSError):  # such as a full disk, which may be why it was refused
            if kept_as:
                self.unsent.change(IN_DIALOGS, {kept_as: text})

    def _done(self, found: R, done: Callable[[R], str | None] | str) -> None:
        if self.is_running and (words := done if isinstance(done, str) else done(found)):
            self.say(words)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Shows a notification; its text is no markup unless that is said."""
        seconds = _TOAST_SECONDS if timeout is None else timeout
        self.post_message(Notify(ShownNotification(message, title, severity, seconds, markup)))

    def say(self, words: str, *, warns: bool = False) -> None:
        """Says something in a corner for some seconds."""
        seconds = _TOAST_SECONDS * (3 if warns else 1)
        self.notify(clean(words), timeout=seconds, severity="warning" if warns else "information")

    def refuse(self, message: str, hint: str | None = None) -> None:
        """Says what went wrong and what to do, until a key is pressed."""
        words = f"{clean(message)}\n{clean(hint)}" if hint else clean(message)
        self.clear_notifications()
        self._has_error = True
        self.notify(words, title="error", severity="error", timeout=_UNTIL_READ)

    async def on_event(self, event: Any) -> None:
        """Takes an error off the screen at the next key; escape does no more than that."""
        if self._has_error and isinstance(event, Key):
            self._has_error = False
            self.clear_notifications()
            if event.key == "escape":
                return
        # A key that comes back from where it was sent may have been typed before a dialog was there.
        is_back = isinstance(event, Key) and event.is_forwarded
        if not (is_back and isinstance(self.screen, Seen) and self.screen.takes(event)):
            await super().on_event(event)

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
