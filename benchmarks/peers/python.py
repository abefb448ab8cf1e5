"""The baselines: Python's own start-up, below which no program written in it can come."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.dataset import Record
from benchmarks.peers.base import Command, Prepared, Work, place_in

CLICK = "import click"
"""The baseline that ratios refer to."""


class Python:
    """The baselines: what any program costs that is written in Python with these libraries."""

    program = sys.executable

    def prepare(self, folder: Path, tasks: Sequence[Record]) -> Prepared:
        """Returns the start-up of click, and of click with pygit2; the tasks play no part."""
        del tasks
        rows: dict[tuple[Work, str], tuple[Command, ...]] = {
            (Work.START, f"python: {imports}"): ((sys.executable, "-c", imports),)
            for imports in (CLICK, "import click, pygit2")
        }
        return Prepared(place_in(folder), rows)
