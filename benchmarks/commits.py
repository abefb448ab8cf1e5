"""Commits without start-up: one process alone, and many at once."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from statistics import median

from benchmarks.living import Living
from benchmarks.measure import Place


@dataclass(frozen=True, slots=True)
class Subject:
    """A repository that is written to: how many tasks it has, whether with a board, and tasks to change."""

    size: int
    has_board: bool
    place: Place
    tasks: Sequence[str]


@dataclass(frozen=True, slots=True)
class Crowd:
    """What many writers came to.

    Attributes:
        writers: how many there were.
        size: how many tasks.
        has_board: whether a board followed.
        per_second: acknowledged commits of living processes in all, a second.
        longest_seconds: the longest that one of these commits took.
        together_seconds: as many `gt update` at once, until the last one ended.
        in_turn_seconds: the same, one after the other.
    """

    writers: int
    size: int
    has_board: bool
    per_second: float
    longest_seconds: float
    together_seconds: float
    in_turn_seconds: float


def commit_times(
    subjects: Sequence[Subject], rounds: int, say: Callable[[str], None]
) -> Mapping[tuple[int, bool], tuple[float, ...]]:
    """Returns the seconds of single commits in a running process, by size and board; the subjects take turns."""
    say("commits in a running process")
    with ExitStack() as running:
        processes = [running.enter_context(Living(one.place, one.tasks[0])) for one in subjects]
        times: dict[tuple[int, bool], list[float]] = {(one.size, one.has_board): [] for one in subjects}
        for number in range(rounds + 1):
            for subject, process in zip(subjects, processes, strict=True):
                process.ask(1)
                took = process.answer()
                if number:
                    times[subject.size, subject.has_board] += took
    return {key: tuple(values) for key, values in times.items()}


def crowd(subject: Subject, rounds: int, commits: int, say: Callable[[str], None]) -> Crowd:
    """Lets as many processes write to one repository as there are tasks to change, each to its own."""
    say(
        f"{len(subject.tasks)} writers at once, {subject.size:,} tasks{', with the board' if subject.has_board else ''}"
    )
    rates, waits = zip(*(_living_crowd(subject, commits) for _ in range(rounds)), strict=True)
    together, in_turn = [], []
    for _ in range(rounds):
        together.append(_seconds(lambda: _at_once(subject)))
        in_turn.append(_seconds(lambda: _one_by_one(subject)))
    return Crowd(
        len(subject.tasks),
        subject.size,
        subject.has_board,
        median(rates),
        max(waits),
        median(together),
        median(in_turn),
    )


def _living_crowd(subject: Subject, commits: int) -> tuple[float, float]:
    """Returns commits a second in all, and the longest wait."""
    with ExitStack() as running:
        writers = [running.enter_context(Living(subject.place, task)) for task in subject.tasks]
        for writer in writers:  # each opens the repository before the clock starts
            writer.ask(1)
            writer.answer()
        begun = time.perf_counter()
        for writer in writers:
            writer.ask(commits)
        took = [seconds for writer in writers for seconds in writer.answer()]
        return len(took) / (time.perf_counter() - begun), max(took)


def _at_once(subject: Subject) -> None:
    with ExitStack() as running:
        begun = [running.enter_context(_update(subject, task, "1")) for task in subject.tasks]
    _require_success(begun)


def _one_by_one(subject: Subject) -> None:
    for task in subject.tasks:
        with _update(subject, task, "3") as process:
            process.wait()
        _require_success([process])


@contextmanager
def _update(subject: Subject, task: str, priority: str) -> Iterator[subprocess.Popen[bytes]]:
    command = ["gt", "update", task, "-p", priority]
    with subprocess.Popen(
        command,
        cwd=subject.place.directory,
        env=dict(subject.place.environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    ) as process:
        yield process


def _require_success(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    if any(process.returncode != 0 for process in processes):
        raise RuntimeError("`gt update` failed among many writers")


def _seconds(work: Callable[[], None]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun
