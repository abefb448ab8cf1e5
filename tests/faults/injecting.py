"""Faults at single calls of the system: which ones a command has, and what befalls it when one of them fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.traces import Call, read_trace, traced
from tests.support.victims import Command, Fate, run, run_until
from tests.support.waiting import LONGEST_SECONDS

FAULTS = {
    "fsync": ("error=EIO", "signal=KILL"),
    "fdatasync": ("error=EIO", "signal=KILL"),
    "syncfs": ("error=EIO", "signal=KILL"),
    "rename": ("error=EIO", "error=ENOSPC", "signal=KILL"),
    "renameat2": ("error=EIO", "signal=KILL"),
    "link": ("error=EIO", "error=ENOSPC", "signal=KILL"),
    "linkat": ("error=EIO", "error=ENOSPC", "signal=KILL"),
    "unlink": ("error=EIO", "signal=KILL"),
    "unlinkat": ("error=EIO", "signal=KILL"),
    "write": ("error=EIO", "error=ENOSPC", "signal=KILL"),
    "pwrite64": ("error=EIO", "error=ENOSPC", "signal=KILL"),
    "ftruncate": ("error=EIO", "signal=KILL"),
    "openat": ("error=EIO", "error=EMFILE", "error=ENOSPC", "signal=KILL"),
    "mkdir": ("error=EIO", "error=ENOSPC", "signal=KILL"),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """What is to happen at the n-th call of a name, counted in each process for itself."""

    name: str
    ordinal: int
    what: str

    @property
    def injection(self) -> str:
        """Returns what strace is to be told."""
        return f"{self.name}:{self.what}:when={self.ordinal}"

    @property
    def kills(self) -> bool:
        """True for the fault that ends the process."""
        return self.what.startswith("signal")


@dataclass(frozen=True, slots=True)
class Struck:
    """What became of a command that a fault was planned for; `calls` are those that it hit, in any process and place."""

    fate: Fate
    calls: tuple[Call, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """Returns what the failed calls were about."""
        return tuple(path for call in self.calls for path in call.paths)


def faults_of(command: Command, place: Path, trace: Path) -> tuple[Fault, ...]:
    """Runs a command and returns every fault that could befall it at `place`, or at what it says, in a fixed order."""
    fate = run(traced(command, trace))
    assert fate.code == 0, fate
    found = {(call.name, call.ordinal) for call in read_trace(trace) if call.is_within(place)}
    return tuple(
        Fault(name, ordinal, what) for name, ordinal in sorted(found) for what in FAULTS.get(name, ())
    )


def strike(command: Command, fault: Fault, trace: Path) -> Struck:
    """Runs a command with a fault."""
    fate = run_until(traced(command, trace, (fault.name,), fault.injection), LONGEST_SECONDS, with_all=True)
    assert fate.seconds < LONGEST_SECONDS, f"{fault} made it hang"
    calls = read_trace(trace)
    if fault.kills:
        hit = [call for call in calls if call.result is None and call.ordinal == fault.ordinal]
    else:
        hit = [call for call in calls if call.is_injected]
    return Struck(fate, tuple(hit))


def spread(faults: Sequence[Fault], most: int) -> Iterator[Fault]:
    """Yields at most so many of the faults, as far from one another as that allows."""
    step = max(1.0, len(faults) / most)
    yield from (faults[int(number * step)] for number in range(min(most, len(faults))))
