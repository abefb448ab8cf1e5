"""A process that lives on and commits when it is told to: `python -m benchmarks.living FOLDER TASK`.

Each line on stdin is a number of commits to make; the answer is one line of JSON with the seconds that each took.
It opens the repository once, as a runner does, so that start-up plays no part.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from benchmarks.measure import Place
from gitticks.board.step import WORKTREE_BOARD
from gitticks.git.identity import Identity
from gitticks.git.repository import discover
from gitticks.model.event import Actor, Event, EventType
from gitticks.model.ids import TaskId, task_path
from gitticks.model.status import ActorKind
from gitticks.store.branch import Store
from gitticks.store.transaction import Transaction

ROOT = Path(__file__).parents[1]
_PRIORITY = re.compile(rb"^priority: \d\n", re.MULTILINE)
_AUTHOR = Identity("Ada", "ada@example.org")


class Living:
    """The same process seen from outside."""

    def __init__(self, place: Place, task: str) -> None:
        command = [sys.executable, "-m", "benchmarks.living", str(place.directory), task]
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=dict(place.environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, commits: int) -> None:
        """Tells the process to begin."""
        if self._process.stdin is None:
            raise AssertionError("the process was started with a pipe")
        self._process.stdin.write(f"{commits}\n")
        self._process.stdin.flush()

    def answer(self) -> list[float]:
        """Waits until all that was asked is done, and returns the seconds of each commit."""
        if self._process.stdout is None:
            raise AssertionError("the process was started with a pipe")
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"a committing process ended with code {self._process.wait()}")
        return [float(seconds) for seconds in json.loads(line)]

    def __enter__(self) -> Self:
        """Returns the process."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends the process by closing what it reads."""
        self._process.communicate()


def _commit(store: Store, task: TaskId, number: int) -> None:
    """Changes the priority in a task's file and adds a line to its history, as any command does."""

    def operation(transaction: Transaction) -> None:
        path = task_path(task)
        content = _PRIORITY.sub(b"", transaction.read(path) or b"", count=1)
        head, found, rest = content.partition(b"\nstatus: pending\n")
        transaction.write(path, head + found + b"priority: %d\n" % (number % 5) + rest)
        transaction.append_events(task, [_event(number)])
        transaction.describe(f"{task}: priority changed", [("Task", task)])

    store.transact(operation, author=_AUTHOR)


def _event(number: int) -> Event:
    data: dict[str, str | int | float | bool | list[str] | None] = {"fields": ["priority"], "number": number}
    at = datetime.now(UTC).replace(microsecond=0)
    return Event(EventType.FIELDS_CHANGED, at, Actor(ActorKind.HUMAN, "Ada"), data=data)


def main(folder: str, task: str) -> None:
    """Serves until stdin ends."""
    repository = discover(Path(folder))
    repository.does_much = True  # as in a run
    store = Store(repository, WORKTREE_BOARD)
    number = 0
    for line in sys.stdin:
        took = []
        for _ in range(int(line)):
            number += 1
            begun = time.perf_counter()
            _commit(store, TaskId(task), number)
            took.append(time.perf_counter() - begun)
        print(json.dumps(took), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
