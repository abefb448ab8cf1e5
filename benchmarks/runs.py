"""Runs of `gt run` with scripted agents, started and timed as whole processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.branch import write_branch
from benchmarks.dataset import records
from benchmarks.measure import Place
from benchmarks.peers.base import repository_in, run_once

AGENT = """#!/bin/sh
sleep {seconds}
echo work > "$GITTICKS_TASK.txt"
git add -A && git commit -qm "work on $GITTICKS_TASK"
printf '\\n## Handoff\\n\\n- DONE: it\\n' >> "$GITTICKS_MAILBOX/TASK.md"
echo '<promise>COMPLETE</promise>'
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a run of so many tasks by so many agents at once came to.

    `agent_seconds` are those of all its agents together, `cpu_seconds` those of the run and all that it started.
    `iteration_seconds` is what each session but the first took beyond its agent, if there was one at a time.
    """

    size: int
    agents: int
    done: int
    seconds: float
    agent_seconds: float
    cpu_seconds: float
    peak_kilobytes: int
    iteration_seconds: float

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
    """How soon a run that is started after a kill works on: until its first session, and what an idle one takes."""

    agents: int
    seconds: float


def prepare(
    folder: Path,
    size: int,
    seconds: float,
    *,
    files: int = 0,
    human: str = "when-required",
    isolation: str = "task",
) -> Place:
    """Makes a repository of so many files whose tasks are all ready, with an agent that works so long on each."""
    folder.mkdir(parents=True)
    place = repository_in(folder)
    for number in range(files):
        file = folder / f"part{number % 100}" / f"{number}.txt"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"{number}\n")
    run_once(("git", "add", "-A"), place)
    run_once(("git", "commit", "--quiet", "--allow-empty", "--message", "files"), place)
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
        "agents": {"mine": {"type": "command", "argv": [str(agent)]}},
        "agent": "mine",
        "review": "none",
        "human": human,
        "isolation": isolation,
        "sandbox": {"preset": "none"},
        "limits": {"in_review": 1000},
    }
    run_once(("gt", "init"), place)
    with (folder / ".gitticks/config.yaml").open("a") as config:
        config.writelines(f"{name}: {json.dumps(value)}\n" for name, value in settings.items())
    run_once(("git", "-C", ".gitticks", "commit", "--quiet", "--message", "settings", "config.yaml"), place)
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
    spent, ends, done = [], [], 0
    for event in events(process):
        if event["event"] == "session.spent":
            spent.append(float(str(event["seconds"])))
            ends.append(time.perf_counter())
        done += event["event"] == "task.moved" and event["target"] == "done"
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    seconds = time.perf_counter() - begun
    if done != tasks:
        raise RuntimeError(f"{done} of {tasks} tasks were done")
    cpu = usage.ru_utime + usage.ru_stime
    iteration = (ends[-1] - ends[0] - sum(spent[1:])) / max(1, len(ends) - 1)
    return Measured(size, agents, done, seconds, sum(spent), cpu, usage.ru_maxrss, iteration)


def measure_recovery(place: Place, agents: int) -> Recovery:
    """Kills a run as all its agents work, and returns how soon the next one has started as many sessions."""
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
    before = cpu_of(process.pid)
    time.sleep(seconds)
    share = (cpu_of(process.pid) - before) / seconds
    run_once(("gt", "create", "Something new"), place)
    begun = time.perf_counter()
    next(event for event in events(process) if event["event"] == "session.began")
    wakes = time.perf_counter() - begun
    process.send_signal(signal.SIGINT)
    process.communicate()
    return share, wakes


def cpu_of(process: int) -> float:
    """Returns the seconds of processor time that a process has taken, and the children that it waited for."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
