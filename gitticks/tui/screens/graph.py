"""Graph: to be filled."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget

from gitticks.tui.screens.base import View
from gitticks.tui.widgets.lines import Lines


class GraphView(View):
    """Graph."""

    place = "graph"

    def body(self) -> Iterable[Widget]:
        """Yields the panes."""
        yield Lines("Graph", id="main", empty="Nothing is shown here yet.")
