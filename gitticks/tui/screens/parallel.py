"""Parallel: to be filled."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget

from gitticks.tui.screens.base import View
from gitticks.tui.widgets.lines import Lines


class Parallel(View):
    """Parallel."""

    place = "parallel"

    def body(self) -> Iterable[Widget]:
        """Yields the panes."""
        yield Lines("Parallel", id="main", empty="Nothing is shown here yet.")
