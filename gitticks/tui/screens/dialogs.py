"""Questions and notices over a place: what will happen is spelled out, enter does it, escape does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from gitticks.tui.theme import STATUS_COLOUR, glyph
from gitticks.tui.widgets.lines import Line, Lines, clean, line

if TYPE_CHECKING:
    from gitticks.tui.app import GitticksApp

_WIDTH = 72


class Dialog(ModalScreen[Any]):
    """A title, rows, perhaps a field to type into, and what `enter` does; ends with True or the text, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back"),
        Binding("enter", "confirm", "Do it", priority=True),
    ]

    def __init__(
        self, title: str, rows: Sequence[Line], *, ask: str | None = None, do: str = "go on", text: str = ""
    ) -> None:
        super().__init__()
        self._title_text, self._rows, self._ask, self._do, self._text = title, rows, ask, do, text
        self._is_seen = False

    def compose(self) -> ComposeResult:
        """Yields the box."""
        with Vertical(id="dialog") as box:
            box.border_title = Content(clean(self._title_text))
            shown = Lines(focusable=self._ask is None, id="said", classes="plain")
            shown.rows = list(self._rows)
            shown.styles.height = min(len(self._rows), 24)
            yield shown
            if self._ask is not None:
                yield Input(self._text, placeholder=self._ask, select_on_focus=False)
            keys = Lines(focusable=False, classes="plain keys")
            keys.rows = [
                line(),
                line(
                    ("enter", "*focus"),
                    " ",
                    (self._do, "muted"),
                    "   ",
                    ("esc", "*focus"),
                    (" back", "muted"),
                ),
            ]
            yield keys

    def on_mount(self) -> None:
        """Takes `enter` only once it was seen: one typed ahead answers no question that was not shown."""
        self.query_one("#said", Lines)._settle()  # noqa: SLF001
        self.call_after_refresh(setattr, self, "_is_seen", True)

    def action_confirm(self) -> None:
        """Ends with what was typed, or True."""
        if not self._is_seen:
            return
        if self._ask is None:
            self.dismiss(result=True)
            return
        text = self.query_one(Input).value.strip()
        if text:
            self.dismiss(text)


class Notice(Dialog):
    """Something to read."""

    def __init__(self, title: str, rows: Sequence[Line]) -> None:
        super().__init__(title, rows, do="close")


class Choice(Dialog):
    """One of several: rows with keys; ends with the key that was chosen."""

    def action_confirm(self) -> None:
        """Ends with the row under the cursor."""
        if self._is_seen:
            self.dismiss(self.query_one("#said", Lines).key)

    def on_lines_chosen(self, event: Lines.Chosen) -> None:
        """Ends with the row that was clicked."""
        event.stop()
        self.dismiss(event.key)


class Search(ModalScreen[None]):
    """Finds tasks by words of id and title, and opens the one that is chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back"),
        Binding("enter", "open", "Open", priority=True),
        Binding("down", "move(1)", "Down", priority=True),
        Binding("up", "move(-1)", "Up", priority=True),
    ]

    @property
    def gt(self) -> GitticksApp:
        """Returns the application, with its own type."""
        return self.app  # type: ignore[return-value]

    def compose(self) -> ComposeResult:
        """Yields the field and what it finds."""
        with Vertical(id="dialog") as box:
            box.border_title = Content("Search")
            yield Input(placeholder="words of a title, or an id")
            yield Lines(empty="No task has these words.", focusable=True, id="found", classes="plain")

    def on_mount(self) -> None:
        """Shows all open tasks."""
        self.set_focus(self.query_one(Input))
        self._find("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Looks anew."""
        self._find(event.value)

    def _find(self, text: str) -> None:
        snapshot, wanted = self.gt.snapshot, text.casefold().split()
        found = [
            row
            for row in snapshot.rows
            if (row.is_open or wanted) and all(word in f"{row.id} {row.title}".casefold() for word in wanted)
        ]
        pane = self.query_one("#found", Lines)
        pane.key = None
        pane.show(
            line((f"{glyph(mark)} ", STATUS_COLOUR[mark]), (row.id, "muted"), "  ", row.title, key=row.id)
            for row in found
            for mark in (snapshot.mark(row),)
        )

    def action_move(self, step: int) -> None:
        """Moves in what was found."""
        self.query_one("#found", Lines).action_move(step)

    def action_open(self) -> None:
        """Opens the task."""
        key = self.query_one("#found", Lines).key
        if key is not None:
            self.dismiss(None)
            self.gt.go("task", key)

    def on_lines_chosen(self, event: Lines.Chosen) -> None:
        """Opens what was clicked."""
        event.stop()
        self.action_open()
