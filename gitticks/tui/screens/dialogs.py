"""Questions and notices over a place: what will happen is spelled out, enter does it, escape does not."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from gitticks.tui.remembered import IN_DIALOGS
from gitticks.tui.theme import STATUS_COLOUR, glyph
from gitticks.tui.widgets.chrome import Keys, Shown
from gitticks.tui.widgets.lines import Line, Lines, broken, clean, line, words

if TYPE_CHECKING:
    from gitticks.tui.app import GitticksApp

DIALOG_WIDTH = 68
"""What the rows of a question are made for; in a narrower terminal they are broken."""
_WIDTH, _AROUND = 76, 7
_OTHER_ROWS = 6
"""Of a dialog: its frame, its padding, and the row of keys with what is above it."""


class Seen(ModalScreen[Any]):
    """Takes `enter` only once it was seen, and until it is answered: one typed ahead answers nothing that was not shown."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Back")]

    @property
    def gt(self) -> GitticksApp:
        return self.app  # type: ignore[return-value]

    @property
    def is_seen(self) -> bool:
        """True while it is on top: keys typed before it was there came before this, and later ones must not end it twice."""
        return self.is_mounted and self.is_active

    def takes(self, key: events.Key) -> bool:
        """Gives its field a key that was typed ahead of it, once that is there; False if the key writes nothing there."""
        if not key.is_printable:
            return False
        if not self.is_mounted:
            self.call_later(self.takes, key)
        elif self.is_active and isinstance(self.focused, Input):
            self.focused.post_message(events.Key(key.key, key.character))
        else:
            return False
        return True

    def action_leave(self) -> None:
        self.dismiss(None)


class Field(Input):
    """One line to type into, which takes pasted lines as one."""

    def _on_paste(self, event: events.Paste) -> None:
        """Takes all of the lines; textual would drop all but the first."""
        event.prevent_default()
        event.stop()
        self.replace(" ".join(event.text.split()), *self.selection)


class Dialog(Seen):
    """A title, rows, perhaps a field to type into, and what `enter` does; ends with True or the text, or None.

    A text that may be longer, which `is_prose`, can be written in the editor.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "confirm", "Do it", priority=True),
        Binding("ctrl+g", "write", "Editor", priority=True),
        *(
            Binding(key, f"scroll({rows})", "Scroll", show=False)
            for key, rows in (("up", -1), ("down", 1), ("pageup", -10), ("pagedown", 10))
        ),
    ]

    def __init__(
        self,
        title: str,
        rows: Sequence[Line],
        *,
        ask: str | None = None,
        do: str = "go on",
        text: str = "",
        may_be_empty: bool = False,
        is_prose: bool = False,
        kept_as: str = "",
    ) -> None:
        super().__init__()
        self._title_text, self._rows, self._ask, self._do, self._text = title, rows, ask, do, text
        self._may_be_empty, self._is_prose = may_be_empty, is_prose
        self.kept_as = kept_as or (title if is_prose else "")

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog") as box:
            box.border_title = Content(clean(self._title_text))
            shown = Lines(focusable=self._ask is None, id="said", classes="plain", clicks=1)
            yield shown
            if self._ask is not None:
                begun = self.gt.unsent.on(IN_DIALOGS).get(self.kept_as, self._text)
                yield Field(begun, placeholder=self._ask, select_on_focus=False)
            editor = (Shown("ctrl+g", "^g", "your editor"),) if self._is_prose else ()
            yield Keys(Shown("enter", "enter", self._do), *editor, Shown("escape", "esc", "back"))

    def on_mount(self) -> None:
        """Shows the rows, and takes what is typed from now on."""
        while self._rows and not self._rows[-1].left:
            self._rows = self._rows[:-1]
        self._lay_out()
        if self._ask is not None:
            self.set_focus(self.query_one(Input))

    def on_resize(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        shown = self.query_one("#said", Lines)
        columns, lines = self.app.size
        rows = [
            part for row in self._rows for part in broken(row, min(_WIDTH, columns * 96 // 100) - _AROUND)
        ]
        shown.styles.height = min(
            len(rows), max(1, lines * 92 // 100 - _OTHER_ROWS - 2 * (self._ask is not None))
        )
        shown.show(rows)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Leaves `enter` to the field where there is one: a key typed after others is to be read after them."""
        return self._ask is None if action == "confirm" else action != "write" or self._is_prose

    def action_leave(self) -> None:
        """Ends with None; what was typed is there again when the same is asked again, if it has a name for that."""
        if self.kept_as and self.is_seen:
            typed = self.query_one(Input).value.strip()
            self._keep("" if typed == self._text else typed)
        self.dismiss(None)

    def _keep(self, text: str) -> None:
        if self.gt.unsent.on(IN_DIALOGS).get(self.kept_as, "") != text:
            self.gt.unsent.change(IN_DIALOGS, {self.kept_as: text})

    def action_write(self) -> None:
        """Ends with what a person writes in their editor, below what was typed; goes on if they write nothing new."""
        view = self.gt.view
        if view is None or not self.is_seen:
            return
        from gitticks.cli.editor import make_sheet, written_below
        from gitticks.tui.editing import with_terminal

        field = self.query_one(Input)
        sheet = make_sheet([self._title_text, "", *map(words, self._rows)], text=field.value)

        def write() -> None:
            with written_below(self.gt.context.renewed(), sheet, "TEXT.md", field.value) as text:
                if text not in ("", field.value):
                    self._keep("")
                    self.dismiss(text)

        self._keep(field.value.strip())  # closing the terminal meanwhile ends the process
        with_terminal(view, write)
        self.refresh(layout=True)

    def action_scroll(self, rows: int) -> None:
        self.query_one("#said", Lines).scroll_relative(y=rows, animate=False)

    def action_confirm(self) -> None:
        if self.is_seen:
            self.dismiss(result=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value.strip()
        if not self.is_seen:
            return
        if text or self._may_be_empty:
            self._keep("")
            self.dismiss(text)
        else:
            self.gt.say("the text is empty, nothing was changed")


class Choice(Dialog):
    """One of several: rows with keys; ends with the key that was chosen. The cursor begins at `at`, if that is given."""

    def __init__(self, title: str, rows: Sequence[Line], *, do: str, at: str | None = None) -> None:
        super().__init__(title, rows, do=do)
        self._at = at

    def on_mount(self) -> None:
        super().on_mount()
        if self._at is not None:
            self.query_one("#said", Lines).go_to(self._at)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Leaves `enter` to the rows: typed right after an arrow it is to be read after that."""
        return action not in ("confirm", "write")

    def on_lines_chosen(self, event: Lines.Chosen) -> None:
        event.stop()
        if self.is_seen:
            self.dismiss(event.key)


class Search(Seen):
    """Finds tasks by words of id and title, the cursor first `at` one; ends with the id of the one that is chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move(1)", "Down", priority=True),
        Binding("up", "move(-1)", "Up", priority=True),
    ]

    def __init__(
        self,
        title: str = "Search",
        *,
        do: str = "open",
        without: Collection[str] = (),
        at: str | None = None,
    ) -> None:
        super().__init__()
        self._title_text, self._do, self._without, self._at = title, do, without, at

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog") as box:
            box.border_title = Content(clean(self._title_text))
            yield Input(placeholder="words of a title, or an id")
            yield Lines(empty="No tasks match.", id="found", classes="plain", clicks=1, is_led=True)
            yield Keys(Shown("enter", "enter", self._do), Shown("escape", "esc", "back"))

    def on_mount(self) -> None:
        self.set_focus(self.query_one(Input))
        self._find("")
        if self._at is not None:
            self.query_one("#found", Lines).go_to(self._at)

    def on_input_changed(self, event: Input.Changed) -> None:
        self._find(event.value)

    def _find(self, text: str) -> None:
        snapshot, wanted = self.gt.snapshot, text.casefold().split()
        rows = sorted(snapshot.rows, key=lambda row: not row.is_open)
        found = [
            row
            for row in rows
            if row.id not in self._without
            and (row.is_open or wanted)
            and all(word in f"{row.id} {row.title}".casefold() for word in wanted)
        ]
        pane = self.query_one("#found", Lines)
        pane.key = None
        pane.show(
            line((f"{glyph(mark)} ", STATUS_COLOUR[mark]), (row.id, "muted"), "  ", row.title, key=row.id)
            for row in found
            for mark in (snapshot.mark(row),)
        )

    def action_move(self, step: int) -> None:
        self.query_one("#found", Lines).action_move(step)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._open()

    def _open(self) -> None:
        key = self.query_one("#found", Lines).key
        if key is not None and self.is_seen:
            self.dismiss(key)

    def on_lines_chosen(self, event: Lines.Chosen) -> None:
        event.stop()
        self._open()
