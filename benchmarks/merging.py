"""How quick the merge queue is beyond the tests of each merge, and the forecast of conflicts, over a base of many files."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from benchmarks.measure import Place
from benchmarks.peers.base import run_once
from benchmarks.runs import events, prepare, start
from gitticks.git.merges.forecast import forecast
from gitticks.git.repository import discover

FILES, BRANCHES = 10_000, 20
_SHARED = "shared.txt"


def measure_merges(folder: Path, tasks: int) -> float:
    """Returns how many merges a run makes in a second, the first of them left out."""
    place = prepare(folder, tasks, 0.0, files=FILES, human="always")
    process = start(place, "--parallel", "2")
    handed_over = [
        str(event["task"])
        for event in events(process)
        if event["event"] == "task.moved" and event["target"] == "reviewing"
    ]
    process.wait()
    run_once(("gt", "approve", *handed_over, "--no-wait"), place)
    process = start(place)
    merged = [time.perf_counter() for event in events(process) if event["event"] == "task.merged"]
    process.wait()
    if len(merged) != tasks:
        raise RuntimeError(f"{len(merged)} of {tasks} tasks were merged")
    return (tasks - 1) / (merged[-1] - merged[0])


def measure_forecast(folder: Path) -> tuple[float, float]:
    """Returns the seconds of a forecast of branches that all change one file, and those of the processor.

    So each has to be merged with each, and with a base that has moved.
    """
    place = prepare(folder, 0, 0.0, files=FILES)
    base = _git(place, "branch", "--show-current")
    _change(place, "before", {})
    heads = {}
    for number in range(BRANCHES):
        name = f"branch-{number}"
        _git(place, "checkout", "-q", "-b", name, base)
        heads[name] = _change(place, name, {4 * number + 4: name})
    _git(place, "checkout", "-q", base)
    tip = _change(place, "moved", {0: "moved"})
    begun, used = time.perf_counter(), sum(os.times()[:4])
    found = forecast(discover(place.directory), tip, heads)
    seconds, cpu = time.perf_counter() - begun, sum(os.times()[:4]) - used
    if found:
        raise RuntimeError("conflicts are foreseen where there are none")
    return seconds, cpu


def _change(place: Place, name: str, lines: dict[int, str]) -> str:
    """Commits one file with some lines changed, and another one."""
    text = "".join(f"{lines.get(one, one)}\n" for one in range(4 * BRANCHES + 8))
    (place.directory / _SHARED).write_text(text)
    (place.directory / f"{name}.txt").write_text("new\n")
    _git(place, "add", "-A")
    _git(place, "commit", "-q", "-m", name)
    return _git(place, "rev-parse", "HEAD")


def _git(place: Place, *words: str) -> str:
    done = subprocess.run(
        ["git", *words],
        cwd=place.directory,
        env=dict(place.environment),
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()
