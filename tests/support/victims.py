"""Starts commands and kills them at a chosen instant, alone or with everything that they started."""

from __future__ import annotations

import os
import secrets
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.support.agents import processes_with
from tests.support.waiting import LONGEST_SECONDS, until

_MARK = "VICTIM_MARK"


@dataclass(frozen=True, slots=True)
class Command:
    """A command line, where it runs, and what its environment has more than ours."""

    argv: tuple[str, ...]
    at: Path
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a command; `code` is None if it was killed, and `mark` is in all processes that it started."""

    code: int | None
    out: str
    err: str
    seconds: float
    mark: str

    @property
    def was_killed(self) -> bool:
        """True if it was killed before it had ended."""
        return self.code is None

    def __str__(self) -> str:
        """Returns what a person saw, for the message of a failed test."""
        return f"{self.out}{self.err}[{'killed' if self.was_killed else self.code}, {self.seconds:.3f} s]"


def run(command: Command) -> Fate:
    """Lets a command come to its end."""
    fate = run_until(command, LONGEST_SECONDS, with_all=True)
    assert not fate.was_killed, f"{command.argv} hangs: {fate}"
    return fate


def run_until(command: Command, seconds: float, *, with_all: bool) -> Fate:
    """Kills a command after `seconds`, with every process that it started or its main process only."""
    mark = secrets.token_hex(12)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begun = time.monotonic()
        with subprocess.Popen(
            command.argv,
            cwd=command.at,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**os.environ, **command.environment, _MARK: mark},
            start_new_session=True,
        ) as process:
            is_over = _has_ended(process.pid, seconds)
            if not is_over:
                process.kill()
                if with_all:
                    _kill_all(process.pid, mark)
            code = process.wait()
        took = time.monotonic() - begun
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    return Fate(None if code == -signal.SIGKILL else code, texts[0], texts[1], took, mark)


def await_strays(mark: str) -> None:
    """Waits until every process of a victim is gone; fails if one stays."""
    until(lambda: not processes_with(mark), "the end of every process of a victim")


def _has_ended(process: int, seconds: float) -> bool:
    descriptor = os.pidfd_open(process)
    try:
        return bool(select.select([descriptor], [], [], max(0.0, seconds))[0])
    finally:
        os.close(descriptor)


def _kill_all(group: int, mark: str) -> None:
    """Kills the group, and then what fled to sessions of its own, until nothing with the mark is left."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    while found := processes_with(mark):
        for process in found:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


class Moments:
    """Chooses instants to kill at: every other one anywhere in the command's duration, the rest where it is decided.

    Where that is, is learnt: each kill says whether the change had happened, and the guess moves to the other side.
    Both change with what else the machine does.
    """

    def __init__(self, seconds: float, random: Random) -> None:
        self.seconds = seconds
        self._turn = 0.8 * seconds
        self._random = random
        self._number = 0

    @classmethod
    def none(cls) -> Moments:
        """Returns what stands where nobody is to be killed at an instant."""
        return cls(0.0, Random(0))

    def next(self) -> float:
        """Returns how many seconds after its start the command is to be killed."""
        self._number += 1
        if self._number % 2:
            return max(0.0, self._random.gauss(self._turn, 0.08 * self.seconds))
        return self._random.uniform(0.0, 1.05 * self.seconds)

    def learn(self, instant: float, fate: Fate, *, happened: bool) -> None:
        """Takes in what became of a victim that was to be killed at `instant`."""
        if happened != (instant > self._turn):
            self._turn += (-0.05 if happened else 0.05) * self.seconds
        if fate.was_killed:
            self.seconds = max(self.seconds, self._turn / 0.9)
        else:
            self.seconds = (3 * self.seconds + fate.seconds) / 4
            self._turn = min(self._turn, 0.9 * self.seconds)
