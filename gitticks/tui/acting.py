"""The application as it acts: it calls use cases in threads, one after the other for one task, and says what came of them."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from textual.app import App
from textual.events import Key
from textual.notifications import Notify, SeverityLevel

from gitticks.actions import drafts
from gitticks.actions.context import Context
from gitticks.errors import GitticksError
from gitticks.tui.remembered import IN_DIALOGS, UnsentComments
from gitticks.tui.screens.base import refusal_of
from gitticks.tui.screens.dialogs import Seen
from gitticks.tui.widgets.chrome import ShownNotification
from gitticks.tui.widgets.lines import clean

R = TypeVar("R")
_TOAST_SECONDS, _UNTIL_READ = 4.0, 3600.0


class ActingApp(App[int], inherit_bindings=False):  # textual's ctrl-q would lose what was typed
    """What is done for a person, and said to them.

    Threads hand what they found back by `call_later`, which does nothing once the interface was left.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        super().__init__()
        self.unsent = UnsentComments(context)
        self.unsaid: list[GitticksError | str] = []
        """What was refused or warned of, until it is shown; what is left at the end the command says."""
        self._locks: dict[str, threading.Lock] = {}
        self._has_error = False

    @abstractmethod
    def look_again(self) -> None:
        """Reads anew what is shown, since something was done; from any thread."""

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
        self.look_again()
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
