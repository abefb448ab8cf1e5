"""What is around every place: the row of places at the top, the keys at the bottom, and notifications in a corner."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual.notifications import Notification
from textual.strip import Strip
from textual.widget import Widget

from gitticks.tui import places
from gitticks.tui.theme import glyph
from gitticks.tui.widgets.lines import Line, Span, fit, line

if TYPE_CHECKING:
    from gitticks.tui.messages import Snapshot
    from gitticks.tui.screens.base import View

NARROW, COMPACT = 70, 100
"""Below these widths there is one column, or frames give way to rules."""
_SHORTEST_TOAST_SECONDS = 0.01


class Bar(Widget):
    """One row, drawn as a line of spans."""

    def line(self, width: int) -> Line:
        """Returns what the row says at this width."""
        raise NotImplementedError

    def render_line(self, y: int) -> Strip:  # noqa: ARG002 (textual's)
        width = max(0, self.size.width - 2)
        segments = fit(self.line(width), width, self.app.look)  # type: ignore[attr-defined]
        return Strip([Segment(" "), *segments, Segment(" ")]).apply_style(self.rich_style)


class TopBar(Bar):
    """Where you are at the left; at the right what runs, what waits for you, what it costs."""

    def __init__(self, view: View) -> None:
        super().__init__()
        self._view = view

    def line(self, width: int) -> Line:
        view = self._view
        left: list[Span | str] = [("gt", "*focus"), "  "]
        is_main = view.place in dict(places.MAIN_PLACES)
        if is_main and width + 2 >= COMPACT:
            for place, label in places.MAIN_PLACES:
                colour = "*strong" if place == view.place else "muted"
                left += [(label, f"{colour}@app.go('{place}')"), "  "]
        else:
            if not is_main and width + 2 >= NARROW:
                left += [("Home", "muted@app.go('home')"), (f" {glyph('in')} ", "faint")]
            left.append((view.heading, "*strong"))
        found = line(*left, right=figures(view.snapshot, width))
        return found._replace(right=tuple((text, f"{token}@app.inbox") for text, token in found.right))


def figures(snapshot: Snapshot, width: int) -> list[Span | str]:
    """Returns what runs, what waits and what it costs, as wide as there is room."""
    running, waiting = len(snapshot.sessions), snapshot.waiting
    is_wide = width + 2 >= NARROW
    found: list[Span | str] = []
    if snapshot.is_paused:
        found += [("paused", "*waits"), "  "]
    is_waiting = snapshot.is_run_alive and not running
    number = "" if is_waiting and is_wide else f" {running}"
    found.append((f"{glyph('working')}{number}", "busy" if running or is_waiting else "muted"))
    word = " run waiting" if is_waiting else " running"
    found += [(word if is_wide else "", "muted"), "  "]
    found.append((f"{glyph('reviewing')} {waiting}", "*waits" if waiting else "muted"))
    found.append((" for you" if is_wide else "", "muted"))
    cost = cost_words(snapshot)
    return [*found, "  ", (cost, "muted")] if is_wide and cost else found


def cost_words(snapshot: Snapshot) -> str:
    """Returns what the run has cost, against its limit if it has one; else what all tasks have cost."""
    of_run = next((one.words for one in snapshot.budgets if one.metric == "cost" and one.task is None), None)
    if of_run:
        return of_run
    total = sum(one.cost for one in snapshot.details.values())
    return f"${total:.2f}" if total else ""


class Shown(NamedTuple):
    """A key in a row of keys, how it is written there, and what it does."""

    key: str
    sign: str
    label: str


_HELP = Shown("question_mark", "?", "help")


class Keys(Bar):
    """Keys and what they do; a click on one is that key."""

    def __init__(self, *keys: Shown) -> None:
        super().__init__()
        self._keys = keys

    def keys(self) -> Iterable[Shown]:
        """Returns the keys, of which the first are shown, as many as there is room for."""
        return self._keys

    def line(self, width: int) -> Line:
        spans: list[Span] = []
        used = -2
        for key in self.keys():
            used += cell_len(key.sign) + cell_len(key.label) + 3
            if spans and used > width:
                break
            spans += [*_spans(key), ("  ", "fg")]
        return line(*spans[:-1])


def _spans(key: Shown) -> tuple[Span, ...]:
    does = f"@app.simulate_key('{key.key}')"
    return (key.sign, f"*focus{does}"), (f" {key.label}", f"muted{does}")


class KeyBar(Keys):
    """The keys that matter here, the most important first; what does not fit is in the help (`?`)."""

    def keys(self) -> Iterable[Shown]:
        pane = self.screen.focused.id if self.screen.focused is not None else None
        labels = getattr(self.screen, "labels", {})
        for key in places.keys_of(getattr(self.screen, "place", "home")):
            label = labels.get(key.key, key.elsewhere.get(pane or "", key.label))
            if key.in_footer and label:
                yield Shown(key.key.partition(",")[0], key.sign, label)

    def line(self, width: int) -> Line:
        right = _spans(_HELP)
        return super().line(width - sum(cell_len(text) for text, _ in right) - 3)._replace(right=right)


class ShownNotification(Notification):
    """A notification with time left while it is shown: textual never comes back from a timer of negative time.

    A toast that is made in the moment in which its notification expires would ask for one.
    """

    @property
    def time_left(self) -> float:
        return max(_SHORTEST_TOAST_SECONDS, super().time_left)

    @property
    def has_expired(self) -> bool:
        return super().time_left <= 0
