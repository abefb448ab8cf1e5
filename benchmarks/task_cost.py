"""`python -m benchmarks.task_cost`: what one task to done costs a run, counted, whatever else the machine does."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.__main__ import scratch_folder
from benchmarks.runs import prepare
from benchmarks.table import table

FEW, MANY = 2, 8

# Runs `gt` in this process, and writes what was counted into the file that the first argument names.
_COUNTED = """
import json, os, sys, threading
counts = {"calls": 0, "opens": 0, "git": 0}
def profile(frame, event, argument):
    if event == "call":
        counts["calls"] += 1
def audit(event, given):
    if event == "open":
        counts["opens"] += 1
    elif event in ("subprocess.Popen", "os.posix_spawn"):
        counts["git"] += os.path.basename(os.fsdecode(given[0])) == "git"
report, leave = sys.argv.pop(1), os._exit
def write(code):  # the command ends without its interpreter's clean-up
    sys.setprofile(None)
    with open(report, "w") as file:
        json.dump(counts, file)
    leave(code)
os._exit = write
from gitticks.cli.entry import main
sys.addaudithook(audit)
threading.setprofile(profile)
sys.setprofile(profile)
sys.argv[0] = "gt"
main()
"""


@dataclass(frozen=True, slots=True)
class TaskCost:
    """What each further task of a run adds: calls of Python functions, files opened, git processes started."""

    calls: float
    opens: float
    git_processes: float


def measure_task_cost(folder: Path, isolation: str = "task") -> TaskCost:
    """Returns it, by two runs of so few and so many tasks."""
    few, many = (_counts(folder / str(tasks), tasks, isolation) for tasks in (FEW, MANY))
    return TaskCost(*((many[one] - few[one]) / (MANY - FEW) for one in ("calls", "opens", "git")))


def _counts(folder: Path, tasks: int, isolation: str) -> dict[str, int]:
    place = prepare(folder, tasks, 0.1, isolation=isolation)
    report = folder.with_suffix(".counts")
    subprocess.run(
        [sys.executable, "-c", _COUNTED, str(report), "run", "--debounce", "0"],
        cwd=place.directory,
        env=dict(place.environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    counted: dict[str, int] = json.loads(report.read_text())
    return counted


def main() -> None:
    """Counts, and prints a table."""
    header = ("isolation", "calls of functions", "files opened", "git processes")
    with scratch_folder() as scratch:
        costs = {one: measure_task_cost(scratch / one, one) for one in ("task", "none")}
    lines = [
        (name, f"{cost.calls:,.0f}", f"{cost.opens:.0f}", f"{cost.git_processes:.0f}")
        for name, cost in costs.items()
    ]
    print(table(header, lines, texts=1))


if __name__ == "__main__":
    main()
