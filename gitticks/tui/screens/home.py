"""Home: which epics to run, and all that waits for you."""

from __future__ import annotations

from collections.abc import Iterable

from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from gitticks.tui.screens.base import View
from gitticks.tui.widgets import tasks
from gitticks.tui.widgets.lines import Lines, line


class Home(View):
    """What now?"""

    place = "home"

    def body(self) -> Iterable[Widget]:
        """Yields the panes."""
        with Horizontal():
            with Vertical(classes="left sized", id="left"):
                yield Lines(
                    "Epics", id="epics", empty="No epics yet. + makes one; gt import brings your old tasks."
                )
            with Vertical(classes="right"):
                yield Lines("For you", id="inbox", empty="Nothing waits for you. Agents go on by themselves.")

    def draw(self) -> None:
        """Fills the panes."""
        epics, inbox = self.pane("epics"), self.pane("inbox")
        if self.snapshot.problem:
            epics.show([line((self.snapshot.problem, "bad")), line((self.snapshot.hint or "", "muted"))])
            return
        width = epics.inner_width
        epics.show(tasks.epic(self.snapshot, row, width, is_chosen=False) for row in self.snapshot.epics)
        inbox.show(tasks.inbox(self.snapshot.inbox, self.snapshot.around.now, inbox.inner_width))
        inbox.say(f"{len(self.snapshot.inbox)} wait" if self.snapshot.inbox else "")
