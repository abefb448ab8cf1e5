"""The baselines: Python's own start-up, below which no program written in it can come."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.peers.base import Command, Job, Prepared, Work, place_in

CLICK = "python: import click"
CLICK_AND_PYGIT2 = "python: import click, pygit2"
"""The baselines that ratios refer to: of every command, and of those that write."""

_START_UPS: dict[str, Command] = {
    "python -I -S": (sys.executable, "-I", "-S", "-c", ""),
    "python": (sys.executable, "-c", ""),
    CLICK: (sys.executable, "-c", "import click"),
    CLICK_AND_PYGIT2: (sys.executable, "-c", "import click, pygit2"),
}


def start_ups(folder: Path) -> Prepared:
    """Returns what any program costs that is written in Python with these libraries; there are no tasks."""
    rows = {(Work.START, name): Job((command,)) for name, command in _START_UPS.items()}
    return Prepared(place_in(folder), rows)
