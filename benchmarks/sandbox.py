"""What walls around a command cost: the time until it has started and ended behind them, over that of the bare one."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.peers.base import repository_in
from gitticks.git.checkouts import checkout_at
from gitticks.git.repository import discover
from gitticks.git.worktrees import add_worktree
from gitticks.model.settings import SandboxPreset, SandboxSettings
from gitticks.sandbox.enclosure import enclosed
from gitticks.sandbox.walls import walls_of

_ROUNDS = 21
_COMMAND = ("/bin/true",)


def measure_walls(scratch: Path, preset: SandboxPreset = SandboxPreset.STRICT) -> tuple[float, float]:
    """Returns the median seconds that walls take, and those of the processor.

    In it are the git directory of its own, the look at this machine, bubblewrap and the limits.
    """
    walls = walls_of(SandboxSettings(preset))
    assert walls is not None  # noqa: S101 - asked for walls
    scratch.mkdir(parents=True, exist_ok=True)
    repository = discover(repository_in(scratch).directory)
    workspace = scratch / "workspace"
    add_worktree(repository, workspace, branch="work", commit="HEAD")
    checkout = checkout_at(repository, workspace)

    def bare() -> None:
        subprocess.run(_COMMAND, check=True)

    def walled() -> None:
        with enclosed(walls, repository, checkout, os.environ) as enclosure:
            subprocess.run(enclosure.around(_COMMAND), check=True, env=enclosure.environment(os.environ))

    walled()  # once before, so that what is loaded late counts for neither
    taken = [(_timed(bare), _timed(walled)) for _ in range(_ROUNDS)]
    seconds = statistics.median(after[0] - before[0] for before, after in taken)
    return seconds, statistics.median(after[1] - before[1] for before, after in taken)


def _timed(action: Callable[[], None]) -> tuple[float, float]:
    """Returns the seconds that it took, and those of the processor, its children's among them."""
    begun, used = time.perf_counter(), sum(os.times()[:4])
    action()
    return time.perf_counter() - begun, sum(os.times()[:4]) - used
