"""`python -m benchmarks.interface`: how fluid the terminal interface is: 1,000 tasks, and 16 agents that print.

The run is real; its agents print fifty lines a second each and do nothing else. The interface is a process of its own
on a pseudo-terminal of 180 columns and 50 rows, driven by keys: a key is answered when the cursor's mark is drawn again.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.__main__ import machine, say, scratch_folder
from benchmarks.measure import Place
from benchmarks.runs import prepare
from benchmarks.table import replace_results, table, verdicts
from benchmarks.targets import Target

PAGE = Path(__file__).with_name("INTERFACE.md")
AGENT = """#!{python}
import sys, time
words = "pool queue worker test lock job result retry limit path state sign redirect commit merge".split()
number = 0
while True:
    number += 1
    print(number, *(words[(number * each) % len(words)] for each in range(1, 4 + number % 9)), flush=True)
    time.sleep(0.02)
"""
TASKS, AGENTS = 1_000, 16
_MARK = "▌".encode()
_DOWN, _UP = "\x1b[B", "\x1b[A"
_ROWS, _COLUMNS = 50, 180
_LONGEST_SECONDS, _PAUSE_SECONDS = 60.0, 0.13


@dataclass(frozen=True, slots=True)
class Fluidity:
    """What a place of the interface came to: answers to keys in milliseconds, CPU of one core without keys, memory."""

    place: str
    agents: int
    keys: tuple[float, ...]
    cpu_percent: float
    kilobytes: int

    def at(self, share: float) -> float:
        """Returns the time in which so many of the keys were answered."""
        return sorted(self.keys)[min(len(self.keys) - 1, int(share * len(self.keys)))]


class View:
    """The interface on a terminal."""

    def __init__(self, place: Place) -> None:
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.chdir(place.directory)
            more = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
            os.execvpe("gt", ["gt"], {**place.environment, **more})  # noqa: S606
        size = struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, size)
        os.kill(self.pid, signal.SIGWINCH)
        self._seen = b""

    def read(self, seconds: float, until: Callable[[bytes], bool] = lambda _: False) -> bool:
        """Reads what is drawn for so long, or until that is so."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            ready, _, _ = select.select([self._terminal], [], [], left)
            if ready:
                self._seen = (self._seen + os.read(self._terminal, 1 << 16))[-400_000:]
            if until(self._seen):
                return True
        return False

    def await_words(self, words: str) -> None:
        """Waits until these words were drawn."""
        if not self.read(_LONGEST_SECONDS, lambda seen: words.encode() in seen):
            raise RuntimeError(f"`{words}` was not drawn")

    def press(self, keys: str) -> None:
        """Presses keys, forgetting what was drawn before."""
        self._seen = b""
        os.write(self._terminal, keys.encode())

    def answers(self, seconds: float) -> Iterator[float]:
        """Moves the cursor, and yields how many milliseconds each key took."""
        end, down = time.perf_counter() + seconds, True
        moved = 0
        self.press(_DOWN * 5)  # so that there is room on both sides
        self.read(1.0)
        while time.perf_counter() < end:
            moved += 1
            down = down if moved % 10 else not down
            self.press(_DOWN if down else _UP)
            begun = time.perf_counter()
            if not self.read(_LONGEST_SECONDS, lambda seen: _MARK in seen):
                raise RuntimeError("a key was not answered")
            yield (time.perf_counter() - begun) * 1000
            self.read(_PAUSE_SECONDS)

    def measure(self, name: str, agents: int, seconds: float) -> Fluidity:
        """Lets it be for a while, and then presses keys for as long."""
        self.read(2.0)
        before, begun = _cpu(self.pid), time.perf_counter()
        self.read(seconds)
        share = (_cpu(self.pid) - before) / (time.perf_counter() - begun)
        keys = tuple(self.answers(seconds))
        status = Path(f"/proc/{self.pid}/status").read_text()
        memory = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
        return Fluidity(name, agents, keys, 100 * share, memory)

    def leave(self) -> None:
        """Leaves it."""
        self.press("q")
        with suppress(OSError):
            while self.read(5.0, lambda _: False):
                pass
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def _cpu(process: int) -> float:
    """Returns the seconds of CPU that a process itself has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def printing(place: Place, agents: int) -> Iterator[None]:
    """Lets so many agents print."""
    agent = place.directory.with_suffix(".sh")
    agent.write_text(AGENT.format(python=sys.executable))
    process = subprocess.Popen(
        ["gt", "run", "--headless", "--debounce", "0", "--parallel", str(agents)],
        cwd=place.directory,
        env=dict(place.environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + _LONGEST_SECONDS
        while len(list(place.directory.glob(".git/gitticks/transcripts/*/*.log"))) < agents:
            if time.monotonic() > end or process.poll() is not None:
                raise RuntimeError("the agents did not begin")
            time.sleep(0.1)
        yield
    finally:
        process.kill()
        process.wait()


def targets(found: Sequence[Fluidity]) -> Iterator[Target]:
    """Yields what the interface is to reach, held against what was measured."""
    for one in found:
        if one.agents:
            where = f"{one.place}, {TASKS:,} tasks, {one.agents} agents printing"
            yield Target(f"{where}: a key, median", 40, median(one.keys), "ms")
            yield Target(f"{where}: a key, 19 of 20", 80, one.at(0.95), "ms")
            yield Target(f"{where}: CPU of one core", 10, one.cpu_percent, "%")
            yield Target(f"{where}: memory", 150, one.kilobytes / 1000, "MB")


def render(found: Sequence[Fluidity], where: str) -> str:
    """Returns the page's results."""
    header = ("place", "agents", "key, ms, median", "19 of 20", "longest", "CPU, %", "MB")
    lines = [
        (
            one.place,
            str(one.agents),
            f"{median(one.keys):.0f}",
            f"{one.at(0.95):.0f}",
            f"{max(one.keys):.0f}",
            f"{one.cpu_percent:.1f}",
            f"{one.kilobytes / 1000:.0f}",
        )
        for one in found
    ]
    parts = (where, verdicts(targets(found)), table(header, lines, texts=1))
    return "\n" + "\n".join(f"{part.rstrip()}\n" for part in parts) + "\n"


def main(arguments: list[str]) -> int:
    """Measures and prints; `--write` puts the tables into the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.interface", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few seconds: does it work at all?")
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/INTERFACE.md")
    given = parser.parse_args(arguments)
    seconds, size = (3.0, 100) if given.quick else (15.0, TASKS)
    found = []
    with scratch_folder() as scratch:
        place = prepare(scratch / "tasks", size, 1.0)
        say("nobody at work")
        view = View(place)
        view.await_words("Run settings")
        found.append(view.measure("Home", 0, seconds))
        view.leave()
        with printing(place, AGENTS):
            say(f"{AGENTS} agents print")
            view = View(place)
            view.await_words("Run settings")
            view.press("r")
            view.await_words("Iterations")
            found.append(view.measure("Run", AGENTS, seconds))
            view.press("w")
            view.await_words("In all")
            found.append(view.measure("Parallel", AGENTS, seconds))
            view.leave()
        text = render(found, machine(1))
        print(text, flush=True)
        if given.write:
            replace_results(PAGE, text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
