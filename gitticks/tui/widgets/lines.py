"""The one list behind every pane: tasks, inbox, output, diff. Only visible rows are ever drawn."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip

from gitticks.cli.text import visible, wrap
from gitticks.tui.theme import Look, glyph, writable

Span = tuple[str, str]
"""A text and the token of its colour."""
_MOST_STRIPS = 2_000
_AROUND_TITLES = 4
_PARTS = re.compile(r"\s+|\S+")
_LONGEST_TEXT = 4_000
"""A longer text is cut before it is measured; no screen is so wide."""


class Line(NamedTuple):
    """A row: spans from the left, spans at the right edge, the entry it belongs to, and the token of a tint behind it."""

    left: tuple[Span, ...] = ()
    right: tuple[Span, ...] = ()
    key: str | None = None
    tint: str | None = None


def line(
    *left: Span | str, right: Iterable[Span | str] = (), key: str | None = None, tint: str | None = None
) -> Line:
    """Returns a row; a bare text is plain foreground."""
    return Line(_spans(left), _spans(right), key, tint)


def _spans(parts: Iterable[Span | str]) -> tuple[Span, ...]:
    return tuple((one, "fg") if isinstance(one, str) else one for one in parts)


def harmless(text: str) -> str:
    """Writes out what could steer the terminal, of a text of any length."""
    return writable(visible(text.expandtabs(4)))


def clean(text: str) -> str:
    """Writes out what could steer the terminal: the one door through which foreign text reaches the screen."""
    return harmless(text[:_LONGEST_TEXT])


def words(row: Line) -> str:
    """Returns what a row says, without colours."""
    return "".join(text for text, _ in (*row.left, *row.right))


def broken(row: Line, width: int) -> list[Line]:
    """Returns a row as rows of this width, broken between words; what has no room at its right is below.

    Rows that begin with a word and a space of their own go on below what follows them.
    """
    right = sum(cell_len(text) for text, _ in row.right)
    room = width - right - 1 if right else width
    if sum(cell_len(harmless(text)) for text, _ in row.left) <= room:
        return [row]
    has_label = len(row.left) > 2 and not row.left[1][0].strip()  # noqa: PLR2004 (label, space, text)
    indent = sum(cell_len(text) for text, _ in row.left[:2]) if has_label else 0
    found: list[list[Span]] = [[]]
    used = 0
    for text, token in [*row.left, *((("  ", "fg"), *row.right) if right else ())]:
        for part in _PARTS.findall(harmless(text)):
            for word in chop_cells(part, max(1, width - indent)):
                size = cell_len(word)
                if used + size > width and used > indent:
                    found.append([(" " * indent, "fg")] if indent else [])
                    used = indent
                    if not word.strip():
                        continue
                found[-1].append((word, token))
                used += size
    return [Line(tuple(spans), key=row.key, tint=row.tint) for spans in found]


def fit(row: Line, width: int, look: Look) -> list[Segment]:
    """Returns the row's segments at exactly this width; the right part stays whole, the left part gives way."""
    right = _cut(row.right, width, look)
    left = _cut(row.left, max(0, width - right.cell_length - (1 if right else 0)), look)
    gap = width - left.cell_length - right.cell_length
    return [*left, Segment(" " * max(0, gap)), *right]


def _cut(spans: Iterable[Span], room: int, look: Look) -> Strip:
    """Returns the spans in at most `room` columns, with a sign where something was cut off."""
    strip = Strip(Segment(clean(text), look[token]) for text, token in spans if text)
    if strip.cell_length <= room:
        return strip
    sign = [Segment(glyph("more"), look["faint"])] if room > 0 else []
    return Strip([*strip.crop(0, max(0, room - 1)), *sign])


class Lines(ScrollView, can_focus=True):
    """Rows with a cursor over entries; the cursor is bound to an entry's key. Follows its end where `follow` asks for it.

    Scrolling up ends that, `anchor` resumes. `moved_at` is when another entry last came under the cursor by itself.
    With `is_led` another widget moves the cursor.
    """

    @dataclass
    class Moved(Message):
        """The cursor stands on another entry."""

        lines: Lines
        key: str

    @dataclass
    class Chosen(Message):
        """Enter, or so many clicks on an entry as its pane asks for: two, that no stray one starts or opens anything."""

        lines: Lines
        key: str

    class Resized(Message):
        """The rows were made for another width: a scrollbar came or went."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("end,G", "move(1000000)", "Last", show=False),
        Binding("home", "move(-1000000)", "First", show=False),
        Binding("enter", "choose", "Open", show=False),
    ]

    title = var("")

    def __init__(
        self,
        title: str = "",
        *,
        empty: str = "",
        follow: bool = False,
        focusable: bool = True,
        id: str | None = None,  # noqa: A002 (textual's)
        classes: str = "pane",
        clicks: int = 2,
        is_led: bool = False,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.clicks, self.is_led = clicks, is_led
        self.can_focus = focusable
        self.empty, self.follow = empty, follow
        self.rows: list[Line] = []
        self.key: str | None = None
        self._made_for = 0
        self.moved_at = 0.0
        self._kept: dict[tuple[Line, int, int], Strip] = {}
        self._keys: list[str] | None = None
        self._figure = ("", "muted")
        self.title = title

    def on_mount(self) -> None:
        if self.follow:
            self.anchor()

    def watch_title(self) -> None:
        self._frame()

    def say(self, text: str, token: str = "muted") -> None:
        """Shows one figure in the bottom border; beside the title where there is a rule and no frame."""
        self._figure = (text, token)
        self._frame()

    def _frame(self) -> None:
        text, token = self._figure
        figure = Content.styled(clean(text), f"$gt-{token}")
        title = Content(clean(self.title))  # a str would be read as markup
        has_frame = not self.is_attached or self.screen.has_class("-wide")
        has_room = title.cell_length + figure.cell_length + _AROUND_TITLES <= self.size.width
        is_beside = not has_frame and text and (has_room or token != "muted")
        self.border_title = Content("  ").join((title, figure)) if is_beside else title
        self.border_subtitle = figure if text else None

    def show(self, rows: Iterable[Line]) -> None:
        """Replaces the rows; the cursor stays on its entry, and on the nearest if that is gone."""
        before, at = self.keys, 0
        if self.key in before:
            at = before.index(self.key)
        self.rows = list(rows)
        self._made_for = self.inner_width
        self._keys = None
        keys = self.keys
        moved = self.key not in keys
        if moved:
            self.key = keys[min(at, len(keys) - 1)] if keys else None
        self.virtual_size = Size(0, len(self.rows))
        self.refresh()
        if moved and self.key is not None:
            self.moved_at = time.monotonic()
            if before:
                self.post_message(self.Moved(self, self.key))

    @property
    def at_tail(self) -> bool:
        """True while it follows its end."""
        return self.is_anchored and not self._anchor_released

    @property
    def inner_width(self) -> int:
        """Returns what a row can take; `size` counts the column under the scrollbar too."""
        return max(0, self.scrollable_content_region.width - 2)

    @property
    def keys(self) -> list[str]:
        """Returns the entries, top to bottom."""
        if self._keys is None:
            self._keys = list(dict.fromkeys(row.key for row in self.rows if row.key))
        return self._keys

    @property
    def _is_lit(self) -> bool:
        return self.has_focus or self.is_led

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._kept.clear()

    def on_mouse_scroll_down(self) -> None:
        """Follows again at the end, also after a turn of the wheel that moved nothing."""
        self.call_after_refresh(self._check_anchor)

    def on_focus(self) -> None:
        self._draw_entry(self.key)

    on_blur = on_focus

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        if self.rows and self.inner_width != self._made_for:
            self._made_for = self.inner_width
            self.post_message(self.Resized())
        at = self.scroll_offset.y + y
        if not self.rows and self.empty:
            return self._empty_line(y, width)
        if at >= len(self.rows):
            return Strip.blank(width, self.rich_style)
        row = self.rows[at]
        has_cursor = row.key is not None and row.key == self.key and self.can_focus
        state = has_cursor + 2 * self._is_lit
        kept = self._kept.get((row, width, state))
        if kept is None:
            if len(self._kept) > _MOST_STRIPS:
                self._kept.clear()
            kept = self._kept[row, width, state] = self._drawn(row, width, has_cursor=has_cursor)
        return kept

    def _empty_line(self, y: int, width: int) -> Strip:
        said = wrap(self.empty, max(8, width - 4))
        row = line((f" {said[y]}", "muted")) if y < len(said) else Line()
        return self._drawn(row, width, has_cursor=False)

    def _drawn(self, row: Line, width: int, *, has_cursor: bool) -> Strip:
        look: Look = self.app.look  # type: ignore[attr-defined]
        base = self.rich_style
        tint = ("raised" if self._is_lit else row.tint or "trace") if has_cursor else row.tint
        if tint:
            base += look[f"^{tint}"]
        mark = glyph("bar") if has_cursor and self._is_lit else " "
        segments = [Segment(mark, look["focus"]), *fit(row, max(0, width - 2), look), Segment(" ")]
        return Strip(segments).adjust_cell_length(width).apply_style(base)

    def action_move(self, step: int) -> None:
        """Moves by entries where there are some, else scrolls, as in an entry that is higher than the pane."""
        self.release_anchor()
        keys = self.keys
        first, height = self._place(self.key)
        above = self.scroll_offset.y - first
        unseen = height - self.size.height - above if step > 0 else above
        if not keys or (height > self.size.height and unseen > 0):
            most = min(unseen, self.size.height - 1) if keys else abs(step)
            self.scroll_relative(y=most if step > 0 else -most, animate=False, force=True)
            return
        at = keys.index(self.key) if self.key in keys else 0
        self.go_to(keys[max(0, min(len(keys) - 1, at + step))])

    def action_page(self, pages: int) -> None:
        height = max(1, self.size.height - 1)
        rows_an_entry = max(1, len(self.rows) // max(1, len(self.keys)))
        self.action_move(pages * max(1, height // rows_an_entry))

    def go_to(self, key: str) -> None:
        """Puts the cursor on an entry and shows it whole."""
        if key == self.key or key not in self.keys:
            return
        before, self.key = self.key, key
        self.show_entry()
        self._draw_entry(before)
        self._draw_entry(key)
        self.post_message(self.Moved(self, key))

    def show_entry(self) -> None:
        """Shows the whole of the entry under the cursor."""
        first, height = self._place(self.key)
        self.scroll_to_region(Region(0, first, 1, height), animate=False, immediate=True)

    @property
    def shows_end(self) -> bool:
        """True if the end of the entry under the cursor is on the screen."""
        first, height = self._place(self.key)
        top = self.scroll_offset.y
        return top < first + height <= top + self.size.height

    def _draw_entry(self, key: str | None) -> None:
        """Draws an entry's rows alone: a moving cursor is to send little through a slow line."""
        first, height = self._place(key)
        if height:
            self.refresh_lines(first, height)

    def _place(self, key: str | None) -> tuple[int, int]:
        at = [number for number, row in enumerate(self.rows) if key is not None and row.key == key]
        return (at[0], at[-1] - at[0] + 1) if at else (0, 0)

    def action_choose(self) -> None:
        if not self.key:
            raise SkipAction  # the screen may have something to say
        self.post_message(self.Chosen(self, self.key))

    def on_click(self, event: events.Click) -> None:
        """Moves the cursor there, and chooses the entry after as many clicks as the pane asks for."""
        at = self.scroll_offset.y + event.get_content_offset_capture(self).y
        key = self.rows[at].key if 0 <= at < len(self.rows) else None
        if key is None or not self.can_focus:
            return
        is_chosen = event.chain == self.clicks and (key == self.key or self.clicks == 1)
        if key != self.key:
            self.release_anchor()
            self.go_to(key)
        if is_chosen:
            self.action_choose()
