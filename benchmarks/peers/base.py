"""What every peer must tell, and the places that peers are prepared in."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from benchmarks.dataset import Record
from benchmarks.measure import Place

GIT_SETTINGS = "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
Command = tuple[str, ...]


class Work(StrEnum):
    """The work that is compared, in the order of the table; `start` is a start-up that does nothing."""

    START = "start"
    NEXT = "next"
    LIST = "list"
    SHOW = "show"
    UPDATE = "update"
    CREATE = "create"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A peer that is ready: where it runs, and its commands by the row of the table that they belong to.

    Rounds take the commands of a row in turn, so that an update finds something to change every time.
    """

    place: Place
    rows: Mapping[tuple[Work, str], tuple[Command, ...]]


class Peer(Protocol):
    """One program that can be measured."""

    @property
    def program(self) -> str:
        """Names the program that must be on PATH for this peer to join."""
        ...

    def prepare(self, folder: Path, tasks: Sequence[Record]) -> Prepared:
        """Stores the tasks under the empty `folder` and returns the commands."""
        ...


def kind_of(task: Record) -> str:
    """Returns the type of task that every tracker has a word for."""
    return "epic" if task.is_epic else "task"


def open_task(tasks: Sequence[Record]) -> Record:
    """Returns a task from the middle, so that no reader that stops early has an advantage."""
    return next(task for task in tasks[len(tasks) // 2 :] if task.closed is None and not task.is_epic)


def place_in(folder: Path) -> Place:
    """Returns the folder with a home of its own and the programs of this Python first on PATH."""
    home = folder.with_name(f"{folder.name}-home")
    home.mkdir()
    (home / ".gitconfig").write_text(GIT_SETTINGS)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return Place(
        folder, {"HOME": str(home), "PATH": path, "LC_ALL": "C.UTF-8", "TERM": "dumb", "EDITOR": "false"}
    )


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
