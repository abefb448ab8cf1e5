"""`python -m benchmarks.runner`: what `gt run` costs beyond its agents, by scripted agents that sleep, commit and hand over.

Every run is a whole process in a repository with so many tasks, of which it does a part; what an agent took is what the
run itself tells of it. Then a run is killed with its agents at work and started over, and one is left with nothing to do.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.__main__ import machine, say, scratch_folder
from benchmarks.merging import BRANCHES, FILES, measure_forecast, measure_merges
from benchmarks.permissions import measure_decision
from benchmarks.redaction import megabytes_a_second
from benchmarks.runs import Measured, Recovery, measure_idle, measure_recovery, measure_run, prepare
from benchmarks.sandbox import measure_walls
from benchmarks.screen import measure_screen
from benchmarks.table import replace_results, table, verdicts
from benchmarks.targets import Target

PAGE = Path(__file__).with_name("RUNNER.md")
SLEEP_SECONDS = 1.0
SIZES, AGENTS = (10, 100, 1000), (1, 4, 16)
IDLE_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Beside:
    """What is measured beside the runs.

    Attributes:
        here: a run whose agent works in the person's own checkout.
        merges_a_second: of the merge queue, over a base of many files.
        forecast: the seconds of a forecast of conflicts; and by time of the processor.
        screen: what part of a run's processor time the interface takes beside it.
        idle: the share of a core that an idle run takes.
        wakes: how soon an idle run begins a new task, in seconds.
        walls: what strict walls cost a command, in seconds; and by time of the processor.
    """

    here: Measured
    merges_a_second: float
    forecast: tuple[float, float]
    screen: float
    idle: float
    wakes: float
    walls: tuple[float, float]


def targets(runs: Sequence[Measured], beside: Beside) -> Iterator[Target]:
    """Yields what the runner is to reach, held against what was measured."""
    fewest = min(one.agents for one in runs)
    alone = [one for one in runs if one.agents == fewest]
    many = max(runs, key=lambda one: (one.agents, one.size))
    largest = max(alone, key=lambda one: one.size)
    small = min(alone, key=lambda one: one.size)
    grown = largest.overhead_seconds / small.overhead_seconds
    crowd = f"{many.agents} agents, {many.size:,} tasks"
    took, walls = largest.iteration_seconds * 1000, beside.walls
    yield Target(f"an iteration beyond its agent, worktree included, {largest.size:,} tasks", 150, took, "ms")
    here = beside.here.iteration_seconds * 1000
    yield Target("an iteration beyond its agent, in your own checkout", 50, here, "ms")
    whole = f"a task beyond its agent, {largest.size:,} tasks"
    yield Target(f"{whole}, merge and start of the run included", 150, largest.overhead_seconds * 1000, "ms")
    yield Target(f"{whole} against {small.size:,}", 1.2, grown)
    yield Target(f"{crowd}: share of the time they work", 90, many.share * 100, "%", is_floor=True)
    yield Target(f"{crowd}: peak memory", 150, many.peak_kilobytes / 1024, "MB")
    yield Target("the interface beside a run, of the run's CPU", 10, beside.screen * 100, "%")
    yield Target(
        f"merges over a base of {FILES:,} files", 5, beside.merges_a_second, "a second", is_floor=True
    )
    forecast = f"conflicts among {BRANCHES} branches of {FILES:,} files are foreseen in"
    yield Target(forecast, 2, beside.forecast[0], "s", by_cpu=beside.forecast[1])
    yield Target("an idle `gt run --auto`, of one core", 0.5, beside.idle * 100, "%")
    yield Target("a new task's session begins after", 200, beside.wakes * 1000, "ms")
    yield Target("secrets masked in text", 20, megabytes_a_second(), "MB/s", is_floor=True)
    yield Target(
        "strict walls around a command, over the bare one", 60, walls[0] * 1000, "ms", by_cpu=walls[1] * 1000
    )
    for rules in (40, 800):
        yield Target(f"a permission is decided, by {rules} rules", 1, measure_decision(rules) * 1000, "ms")


def render(runs: Sequence[Measured], recoveries: Sequence[Recovery], beside: Beside, *, where: str) -> str:
    """Returns the tables, under a sentence about where and when."""
    header = (
        "tasks",
        "agents",
        "done",
        "s",
        "tasks an hour",
        "beyond the agent, ms a task",
        "agents at work, %",
        "CPU ms a task",
        "MB",
    )
    lines = [
        (
            f"{one.size:,}",
            str(one.agents),
            str(one.done),
            f"{one.seconds:.1f}",
            f"{one.an_hour:,.0f}",
            f"{one.overhead_seconds * 1000:.0f}",
            f"{one.share * 100:.0f}",
            f"{one.cpu_seconds / one.done * 1000:.0f}",
            f"{one.peak_kilobytes / 1024:.0f}",
        )
        for one in runs
    ]
    killed = [(str(one.agents), f"{one.seconds:.1f}") for one in recoveries]
    parts: Iterable[str] = (
        where,
        verdicts(targets(runs, beside)),
        table(header, lines, texts=0),
        table(("agents killed with their run", "s until all work again"), killed, texts=0),
    )
    return "\n" + "\n".join(f"{part.rstrip()}\n" for part in parts) + "\n"


def measure_beside(scratch: Path, tasks: int, idle_seconds: float) -> Beside:
    """Measures it with so many tasks each."""
    say("in the person's own checkout")
    here = measure_run(prepare(scratch / "here", tasks, 0.1, isolation="none"), tasks, 1, tasks)
    say("merges")
    merges = measure_merges(scratch / "merges", tasks)
    foreseen = measure_forecast(scratch / "forecast")
    say("the interface")
    screen = measure_screen(prepare(scratch / "screen", tasks, SLEEP_SECONDS), 4, tasks)
    say("nothing to do")
    idle, wakes = measure_idle(prepare(scratch / "idle", 0, 0.1), idle_seconds)
    say("walls")
    return Beside(here, merges, foreseen, screen, idle, wakes, measure_walls(scratch / "walls"))


def main(arguments: list[str]) -> int:
    """Measures and prints; `--write` puts the tables into the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runner", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few tasks: does it work at all?")
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/RUNNER.md")
    given = parser.parse_args(arguments)
    sizes = (10, 100) if given.quick else SIZES
    runs, recoveries = [], []
    with scratch_folder() as scratch:
        for size in sizes:
            for agents in AGENTS:
                tasks = min(size, max(10, 4 * agents) if given.quick else 5 * agents + 15)
                say(f"{size:,} tasks, {agents} agents: {tasks} tasks")
                place = prepare(scratch / f"{size}-{agents}", size, SLEEP_SECONDS)
                runs.append(measure_run(place, size, agents, tasks))
        for agents in AGENTS:
            say(f"{agents} agents: a kill")
            recoveries.append(measure_recovery(prepare(scratch / f"kill-{agents}", 20, 60.0), agents))
        beside = measure_beside(scratch, 3 if given.quick else 12, 5.0 if given.quick else IDLE_SECONDS)
        text = render(runs, recoveries, beside, where=machine(1))
        print(text, flush=True)
        if given.write:
            replace_results(PAGE, text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
