"""`python -m benchmarks.runner`: what `gt run` costs beyond its agents, by scripted agents that sleep, commit and hand over.

Every run is a whole process in a repository with so many tasks, of which it does a part; what an agent took is what the
run itself tells of it. Then a run is killed with its agents at work and begun anew, and one is left with nothing to do.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.__main__ import machine, say, scratch_folder
from benchmarks.branch import write_branch
from benchmarks.dataset import records
from benchmarks.measure import Place
from benchmarks.peers.base import repository_in, run_once
from benchmarks.permissions import measure_decision
from benchmarks.redaction import megabytes_a_second
from benchmarks.sandbox import measure_walls
from benchmarks.table import replace_results, table, verdicts
from benchmarks.targets import Target

PAGE = Path(__file__).with_name("RUNNER.md")
SLEEP_SECONDS = 1.0
AGENT = """#!/bin/sh
sleep {seconds}
echo work > "$GITTICKS_TASK.txt"
git add -A && git commit -qm "work on $GITTICKS_TASK"
printf '\\n## Handoff\\n\\n- DONE: it\\n' >> "$GITTICKS_MAILBOX/TASK.md"
echo '<promise>COMPLETE</promise>'
"""
SIZES, AGENTS = (10, 100, 1000), (1, 4, 16)
IDLE_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Measured:
    """What a run of so many tasks by so many agents at once came to.

    `agent_seconds` are those of all its agents together, `cpu_seconds` those of the run and all that it started.
    """

    size: int
    agents: int
    done: int
    seconds: float
    agent_seconds: float
    cpu_seconds: float
    peak_kilobytes: int

    @property
    def an_hour(self) -> float:
        """Returns how many tasks are done in an hour."""
        return self.done / self.seconds * 3600

    @property
    def overhead_seconds(self) -> float:
        """Returns what a task costs beyond its agent, the start of the run, its merge and the end shared out."""
        return (
            (self.seconds * self.agents - self.agent_seconds) / self.done
            if self.agents == 1
            else (self.seconds - self.agent_seconds / self.agents) / self.done
        )

    @property
    def share(self) -> float:
        """Returns which part of the time all agents could have been at work they were."""
        return self.agent_seconds / (self.seconds * self.agents)


@dataclass(frozen=True, slots=True)
class Recovery:
    """How soon a run that is begun after a kill works on: until its first session, and what an idle one takes."""

    agents: int
    seconds: float


def prepare(folder: Path, size: int, seconds: float) -> Place:
    """Makes a repository whose tasks are all ready, with an agent that works so long on each."""
    folder.mkdir(parents=True)
    place = repository_in(folder)
    plain = (
        replace(one, closed=None, blocked_by=(), parent=None)
        for one in records(4 * size, 1)
        if not one.is_epic
    )
    write_branch(folder, [one for one, _ in zip(plain, range(size), strict=False)])
    agent = folder.with_suffix(".sh")
    agent.write_text(AGENT.format(seconds=seconds))
    agent.chmod(0o755)
    settings = {
        "agents.mine.type": "command",
        "agents.mine.argv": json.dumps([str(agent)]),
        "agent": "mine",
        "review": "none",
        "human": "when-required",
        "sandbox.preset": "none",
    }
    run_once(("gt", "init"), place)
    for name, value in settings.items():
        run_once(("gt", "config", name, value), place)
    return place


def start(place: Place, *words: str) -> subprocess.Popen[str]:
    """Starts `gt run`, whose events are read as they come."""
    return subprocess.Popen(
        ["gt", "run", "--json", "--debounce", "0", *words],
        cwd=place.directory,
        env=dict(place.environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def events(process: subprocess.Popen[str]) -> Iterator[dict[str, object]]:
    """Yields what the run tells."""
    if process.stdout is None:
        raise AssertionError("the process was started with a pipe")
    yield from map(json.loads, process.stdout)


def measure_run(place: Place, size: int, agents: int, tasks: int) -> Measured:
    """Lets so many tasks be done."""
    begun = time.perf_counter()
    process = start(place, "--parallel", str(agents), "--max-iterations", str(tasks))
    spent, done = 0.0, 0
    for event in events(process):
        if event["event"] == "session.spent":
            spent += float(str(event["seconds"]))
        done += event["event"] == "task.merged"
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    seconds = time.perf_counter() - begun
    if done != tasks:
        raise RuntimeError(f"{done} of {tasks} tasks were done")
    cpu = usage.ru_utime + usage.ru_stime
    return Measured(size, agents, done, seconds, spent, cpu, usage.ru_maxrss)


def measure_recovery(place: Place, agents: int) -> Recovery:
    """Kills a run as all its agents work, and returns how soon the next one has begun as many sessions."""
    words = ("--parallel", str(agents))
    process = start(place, *words)
    _await_sessions(process, agents)
    process.kill()
    process.communicate()
    begun = time.perf_counter()
    process = start(place, *words)
    _await_sessions(process, agents)
    seconds = time.perf_counter() - begun
    process.kill()
    process.communicate()
    return Recovery(agents, seconds)


def _await_sessions(process: subprocess.Popen[str], count: int) -> None:
    for event in events(process):
        count -= event["event"] == "session.began"
        if count == 0:
            return
    raise RuntimeError("the run ended")


def measure_idle(place: Place, seconds: float) -> tuple[float, float]:
    """Returns the share of a core that a run with nothing to do takes, and how soon it begins a new task."""
    process = start(place, "--auto", "--all", "--poll", "30s")
    next(event for event in events(process) if event["event"] == "run.waits")
    time.sleep(2)
    before = _cpu(process.pid)
    time.sleep(seconds)
    share = (_cpu(process.pid) - before) / seconds
    run_once(("gt", "create", "Something new"), place)
    begun = time.perf_counter()
    next(event for event in events(process) if event["event"] == "session.began")
    wakes = time.perf_counter() - begun
    process.send_signal(signal.SIGINT)
    process.communicate()
    return share, wakes


def _cpu(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def targets(
    runs: Sequence[Measured], idle: tuple[float, float], walls: tuple[float, float]
) -> Iterator[Target]:
    """Yields what the runner is to reach, held against what was measured."""
    fewest = min(one.agents for one in runs)
    alone = [one for one in runs if one.agents == fewest]
    many = max(runs, key=lambda one: (one.agents, one.size))
    largest = max(alone, key=lambda one: one.size)
    yield Target(
        f"a task beyond its agent, {largest.size:,} tasks, merge and start of the run included",
        150,
        largest.overhead_seconds * 1000,
        "ms",
    )
    yield Target(
        f"{many.agents} agents, {many.size:,} tasks: share of the time they work",
        90,
        many.share * 100,
        "%",
        is_floor=True,
    )
    yield Target(
        f"{many.agents} agents, {many.size:,} tasks: peak memory", 150, many.peak_kilobytes / 1024, "MB"
    )
    small = min(alone, key=lambda one: one.size)
    grown = largest.overhead_seconds / small.overhead_seconds
    yield Target(f"a task beyond its agent, {largest.size:,} tasks against {small.size:,}", 1.2, grown)
    yield Target("an idle `gt run --auto`, of one core", 0.5, idle[0] * 100, "%")
    yield Target("a new task's session begins after", 500, idle[1] * 1000, "ms")
    yield Target("secrets masked in text", 20, megabytes_a_second(), "MB/s", is_floor=True)
    yield Target(
        "strict walls around a command, over the bare one", 60, walls[0] * 1000, "ms", by_cpu=walls[1] * 1000
    )
    yield Target("a permission is decided, by 40 rules", 1, measure_decision() * 1000, "ms")


def render(
    runs: Sequence[Measured],
    recoveries: Sequence[Recovery],
    idle: tuple[float, float],
    walls: tuple[float, float],
    *,
    where: str,
) -> str:
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
        verdicts(targets(runs, idle, walls)),
        table(header, lines, texts=0),
        table(("agents killed with their run", "s until all work again"), killed, texts=0),
    )
    return "\n" + "\n".join(f"{part.rstrip()}\n" for part in parts) + "\n"


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
                tasks = min(size, 10 if given.quick else 5 * agents + 15)
                say(f"{size:,} tasks, {agents} agents: {tasks} tasks")
                place = prepare(scratch / f"{size}-{agents}", size, SLEEP_SECONDS)
                runs.append(measure_run(place, size, agents, tasks))
        for agents in AGENTS:
            say(f"{agents} agents: a kill")
            recoveries.append(measure_recovery(prepare(scratch / f"kill-{agents}", 20, 60.0), agents))
        say("nothing to do")
        idle = measure_idle(prepare(scratch / "idle", 0, 0.1), 5.0 if given.quick else IDLE_SECONDS)
        say("walls")
        walls = measure_walls(scratch / "walls")
        text = render(runs, recoveries, idle, walls, where=machine(1))
        print(text, flush=True)
        if given.write:
            replace_results(PAGE, text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
