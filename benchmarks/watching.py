"""`gt watch` beside a board: how soon a saved edit is applied, and what it costs while nothing happens."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Self

from benchmarks.commits import Subject
from gitticks.model.ids import BOARD_FOLDER, TaskId, task_path

_PRIORITY = re.compile(rb"^priority: \d\n", re.MULTILINE)
_PAUSES_SECONDS = (1.0, 1.9, 1.3, 2.2, 1.6)
"""Between two edits, in turn: the watch does something itself in the second after one, which the next may meet."""
_SETTLE_SECONDS = 8.0
"""A look at the whole board follows the last edit."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What a watch of one board came to.

    Attributes:
        size: how many tasks.
        taken_seconds: for each edit, from the moment of saving until its commit was told.
        idle_share: of one core, while nothing happened; None where the system does not tell.
    """

    size: int
    taken_seconds: Sequence[float]
    idle_share: float | None

    @property
    def middle_seconds(self) -> float:
        """Returns the median time until an edit was applied."""
        return median(self.taken_seconds)


def _another(line: bytes) -> bytes:
    """Returns the line with another priority: writers may have set any before."""
    return b"priority: 3\n" if line.strip() == b"priority: 1" else b"priority: 1\n"


class Watch:
    """A running `gt watch`, and a person who saves tasks on its board."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._process = subprocess.Popen(
            ["gt", "watch", "--json"],
            cwd=subject.place.directory,
            env=dict(subject.place.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def save(self, number: int) -> float:
        """Saves another priority in a task's file, as editors do it, and returns the seconds until it was applied."""
        task = TaskId(self._subject.tasks[number % len(self._subject.tasks)])
        file = self._subject.place.directory / BOARD_FOLDER / task_path(task)
        text = file.read_bytes()
        present = _PRIORITY.search(text)
        head, found, rest = _PRIORITY.sub(b"", text, count=1).partition(b"\nstatus: pending\n")
        aside = file.with_name(".saving")
        aside.write_bytes(
            head + found + (b"priority: 1\n" if present is None else _another(present[0])) + rest
        )
        begun = time.perf_counter()
        aside.replace(file)
        self._wait_for(task_path(task))
        return time.perf_counter() - begun

    def cpu_seconds(self) -> float | None:
        """Returns what it has used of processors so far, programs that it started included."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # no Linux
            return None
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def _wait_for(self, path: str) -> None:
        if self._process.stdout is None:
            raise AssertionError("the process was started with a pipe")
        for line in self._process.stdout:
            told = json.loads(line)
            if (told["event"], told.get("path")) == ("edit.taken", path):
                return
        raise RuntimeError(f"`gt watch` ended with code {self._process.wait()}")

    def __enter__(self) -> Self:
        """Returns the watch."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends it."""
        self._process.terminate()
        self._process.communicate()


def watch_boards(
    subjects: Sequence[Subject], edits: int, idle_seconds: float, say: Callable[[str], None]
) -> tuple[Watched, ...]:
    """Saves edits on each board in turn, then leaves all of them alone for so long; the first edits are not counted."""
    boards = [subject for subject in subjects if subject.has_board]
    say(f"boards watched: {edits} edits, then nothing for {idle_seconds:g} s")
    with ExitStack() as running:
        watches = [running.enter_context(Watch(board)) for board in boards]
        taken: list[list[float]] = [[] for _ in boards]
        for number in range(edits + 1):
            for watch, seconds in zip(watches, taken, strict=True):
                time.sleep(_PAUSES_SECONDS[number % len(_PAUSES_SECONDS)])
                seconds.append(watch.save(number))
        time.sleep(_SETTLE_SECONDS)
        before = [watch.cpu_seconds() for watch in watches]
        begun = time.perf_counter()
        time.sleep(idle_seconds)
        after = [watch.cpu_seconds() for watch in watches]
        passed = time.perf_counter() - begun
    return tuple(
        Watched(board.size, seconds[1:], _share(old, new, passed))
        for board, seconds, old, new in zip(boards, taken, before, after, strict=True)
    )


def _share(before: float | None, after: float | None, seconds: float) -> float | None:
    return None if before is None or after is None else (after - before) / seconds
