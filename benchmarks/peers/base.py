"""What every peer must tell, and the places that peers are prepared in."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from benchmarks.dataset import Record
from benchmarks.measure import Place

GIT_SETTINGS = "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
LARGEST = 10_000
"""Up to how many tasks the trackers of others are measured: above, preparing and waiting for them takes hours."""

ORDINARY = 2
"""The priority of the tasks that are changed: to and fro between a higher one and a lower one."""

Command = tuple[str, ...]


class Work(StrEnum):
    """The work that is compared, in the order of the table; `start` is a start-up that does nothing."""

    START = "start"
    NEXT = "next"
    READY = "ready"
    LIST = "list"
    LIST_JSON = "list --json"
    SHOW = "show"
    TREE = "tree"
    BOARD = "board"
    SEARCH = "search"
    STATS = "stats"
    INBOX = "inbox"
    STATUS = "status"
    LIST_AWAITING = "list --awaiting"
    COMPLETION = "completion of an id"
    UPDATE = "update"
    CREATE = "create"
    IMPORT = "import"
    FETCH = "fetch"
    SYNC = "sync, nothing to do"
    JOIN = "sync, both sides changed"
    COLD = "next, without an index"
    FOREIGN = "next, after a foreign commit"


WRITES = frozenset({Work.UPDATE, Work.CREATE})


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work as one program does it.

    Attributes:
        commands: rounds take them in turn, so that an update finds something to change every time.
        shows: what the output of the work must hold any of, for it to be the work that is meant; empty: anything.
        proof: the command whose output is looked at, where the work itself says nothing.
        before: what makes ready for the round of this number, and is not measured.
    """

    commands: tuple[Command, ...]
    shows: tuple[str, ...] = ()
    proof: Command | None = None
    before: Callable[[int], None] | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A peer that is ready: where it runs, and its work by the row of the table that it belongs to."""

    place: Place
    rows: Mapping[tuple[Work, str], Job]


class Peer(Protocol):
    """One program that can be measured."""

    @property
    def program(self) -> str:
        """Names the program that must be on PATH for this peer to join."""
        ...

    @property
    def largest(self) -> int:
        """Returns up to how many tasks it joins."""
        ...

    def prepare(self, folder: Path, tasks: Sequence[Record]) -> Prepared:
        """Stores the tasks under the empty `folder` and returns the commands."""
        ...


def kind_of(task: Record) -> str:
    """Returns the type of task that every tracker has a word for."""
    return "epic" if task.is_epic else "task"


def open_task(tasks: Sequence[Record]) -> Record:
    """Returns a ready task from the middle, so that no reader that stops early has an advantage."""
    ready = ready_tasks(tasks)
    return ready[len(ready) // 2]


def open_names(tasks: Sequence[Record], name: Callable[[Record], str]) -> tuple[str, ...]:
    """Returns how a program calls the open tasks, one of which it must name as the next."""
    return tuple(name(task) for task in tasks if task.closed is None)


def ready_tasks(tasks: Sequence[Record]) -> tuple[Record, ...]:
    """Returns the tasks of ordinary priority that nothing blocks."""
    return tuple(task for task in tasks if _is_ready(task))


def _is_ready(task: Record) -> bool:
    is_open = task.closed is None and not task.is_epic
    return is_open and not task.blocked_by and task.priority == ORDINARY


def programs_path() -> str:
    """Returns PATH with the programs of this Python first."""
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def place_in(folder: Path) -> Place:
    """Returns the folder with a home of its own and the programs of this Python first on PATH."""
    home = folder.with_name(f"{folder.name}-home")
    home.mkdir(exist_ok=True)
    (home / ".gitconfig").write_text(GIT_SETTINGS)
    settings = {"LC_ALL": "C.UTF-8", "TERM": "dumb", "EDITOR": "false"}
    return Place(folder, {"HOME": str(home), "PATH": programs_path(), **settings})


def repository_in(folder: Path) -> Place:
    """Makes the folder a repository of one empty commit."""
    place = place_in(folder)
    run_once(("git", "init", "--quiet"), place)
    run_once(("git", "commit", "--quiet", "--allow-empty", "--message", "begin"), place)
    return place


def run_once(command: Command, place: Place) -> None:
    """Runs a step of the preparation; its failure ends the benchmark."""
    subprocess.run(
        command,
        cwd=place.directory,
        env=dict(place.environment),
        check=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )
