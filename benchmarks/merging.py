"""How quick the merge queue is beyond the tests of each merge: approved tasks over a base of many files."""

from __future__ import annotations

import time
from pathlib import Path

from benchmarks.peers.base import run_once
from benchmarks.runs import events, prepare, start

FILES = 10_000


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
