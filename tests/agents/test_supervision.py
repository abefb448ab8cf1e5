"""Bad agents: each has exactly one end, in time and within bounds, and nothing of it is left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import gitticks
from gitticks.agents import process
from gitticks.agents.base import Command, EndReason, Limits
from gitticks.agents.process import StopRequest, run_supervised
from gitticks.flocks import is_lock_held
from tests.support.agents import BAD_AGENTS, FLOOD_BYTES, bad_agent, processes_with
from tests.support.processes import described, family
from tests.support.waiting import LONGEST_SECONDS, until

LIMITS = Limits(total_seconds=2.0, grace_seconds=0.5)
BY_ITSELF = {
    "prints nothing": (0, None),
    "exits with 9": (9, None),
    "leaves daemons": (0, None),
    "kills its process group": (None, 9),
    "flees from session to session": (0, None),
}
FLOODS = ("floods stdout", "floods stderr", "prints one endless line")
SUPERVISOR_KILLED = ("kills its parent", "kills both its parents", "stops its parent")
RUNNER = """
import json, os, resource, sys
from pathlib import Path
from gitticks.agents.process import Command, Limits, run_supervised

settings = json.loads(sys.argv[1])
limits = Limits(**settings["limits"])
command = Command(tuple(settings["argv"]), Path(settings["cwd"]), {"PATH": os.environ["PATH"]})
lock = Path(settings["cwd"], "lock")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
show = (lambda line: print(line, flush=True)) if settings["shows"] else (lambda line: None)
ended = run_supervised(command, limits, show, lock=lock)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
tree = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(json.dumps([ended.reason, ended.exit_code, ended.dropped_bytes, after - before, tree]))
"""


@pytest.fixture
def mark() -> str:
    """Returns a text that only the processes of one test carry."""
    return f"mark-{uuid.uuid4().hex}"


def runner(
    folder: Path, argv: tuple[str, ...], *, shows: bool = False, **limits: float
) -> subprocess.Popen[str]:
    """Starts a process of its own that supervises a command."""
    settings = json.dumps({"argv": argv, "cwd": str(folder), "limits": limits, "shows": shows})
    return subprocess.Popen([sys.executable, "-c", RUNNER, settings], stdout=subprocess.PIPE, text=True)


def stop_once_stopped(stop: StopRequest) -> None:
    """Asks for a stop as soon as a process below this one is stopped by a signal."""
    until(lambda: any(described(one).startswith(f"{one} T ") for one in family(os.getpid())), "SIGSTOP")
    stop.request()


@pytest.mark.parametrize("name", [name for name in BAD_AGENTS if name not in FLOODS])
def test_a_bad_agent_has_one_end_and_no_survivor(
    tmp_path: Path, mark: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits, stop = LIMITS, StopRequest()
    if name in BY_ITSELF or name in SUPERVISOR_KILLED:
        limits = Limits(total_seconds=LONGEST_SECONDS, grace_seconds=0.5)
    environment = {"PATH": os.environ["PATH"], "PROBE": mark}
    command = Command(bad_agent(tmp_path, name, mark), tmp_path, environment)
    with ThreadPoolExecutor(1) as pool:
        if name == "stops its parent":
            monkeypatch.setattr(process, "_PATIENCE_SECONDS", 1.5)
            pool.submit(stop_once_stopped, stop)
        ended = run_supervised(command, limits, stop=stop)
    assert processes_with(mark) == []
    assert not ended.survived
    if name in BY_ITSELF:
        assert (ended.reason, ended.exit_code, ended.signal) == (EndReason.EXITED, *BY_ITSELF[name])
    elif name in SUPERVISOR_KILLED:
        assert ended.reason is EndReason.KILLED
    else:
        assert ended.reason is EndReason.TIMED_OUT


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_costs_no_more_memory_than_its_limit(tmp_path: Path, mark: str, name: str) -> None:
    with runner(tmp_path, bad_agent(tmp_path, name, mark), output_bytes=16_000_000) as process_:
        answer, _ = process_.communicate()
    reason, exit_code, dropped_bytes, grown_kilobytes, tree_kilobytes = json.loads(answer.splitlines()[-1])
    assert (reason, exit_code) == ("exited", 0)
    assert FLOOD_BYTES - 17_000_000 < dropped_bytes < FLOOD_BYTES
    assert grown_kilobytes < 20_000
    assert tree_kilobytes < 20_000 + 16_000 + 20_000, "an interpreter, the limit, and what copying costs"


def test_a_killed_runner_takes_everything_with_it(tmp_path: Path, mark: str) -> None:
    argv = bad_agent(tmp_path, "ignores TERM", mark)
    body = Path(argv[3]).read_text().replace("time.sleep(600)\n", "say('ready')\ntime.sleep(600)\n")
    Path(argv[3]).write_text(body)
    with runner(tmp_path, argv, shows=True, grace_seconds=0.5) as process_:
        assert process_.stdout is not None
        assert process_.stdout.readline() == "ready\n"
        assert len(processes_with(mark)) > 3
        assert is_lock_held(tmp_path / "lock")
        process_.kill()
        process_.wait()
        until(lambda: not is_lock_held(tmp_path / "lock"), "the end of what held the lock")
    assert processes_with(mark) == [], "the lock is free only when nothing is left"


def test_the_supervisor_loads_little() -> None:
    words = (
        "import sys; sys.path.append('.'); import gitticks.agents.supervision.supervisor; print(*sys.modules)"
    )
    top = Path(gitticks.__file__).parents[1]
    loaded = subprocess.check_output([sys.executable, "-I", "-S", "-c", words], cwd=top, text=True).split()
    assert not {"subprocess", "pathlib", "asyncio", "logging", "dataclasses"} & set(loaded)
