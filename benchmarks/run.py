"""One run: all data is made first, so that every size, every program and every kind of work share the same rounds."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.commits import Crowd, Subject, commit_times, crowd
from benchmarks.dataset import Record, records
from benchmarks.peers import PEERS
from benchmarks.peers.base import Peer, Prepared, programs_path, ready_tasks
from benchmarks.peers.ours import Asking, Boarded, Gitticks, Imported
from benchmarks.peers.python import start_ups
from benchmarks.peers.sharing import Diverged, Shared
from benchmarks.results import Results
from benchmarks.rounds import Row, fill, rows_of
from benchmarks.watching import Watched, watch_boards

_OURS = (Gitticks, Boarded, Asking, Imported, Shared, Diverged)
COMMIT_ROUNDS = 3
"""How many commits in a running process for each round of whole processes; they are short."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a run is made.

    Attributes:
        sizes: numbers of tasks, rising.
        rounds: measured runs of each command.
        limit_seconds: a run that takes longer has failed.
        patience_seconds: a command that takes longer runs once.
        seed: another one makes other data.
        writers: how many write at once.
        crowd_rounds: how often they come together.
        crowd_commits: how many commits each living writer makes.
        has_peers: whether trackers of others join.
        idle_seconds: how long watched boards are left alone; a watch looks by itself once a minute.
    """

    sizes: Sequence[int]
    rounds: int
    limit_seconds: int
    patience_seconds: float
    seed: int
    writers: int
    crowd_rounds: int
    crowd_commits: int
    has_peers: bool
    idle_seconds: float


def run(options: Options, folder: Path, say: Callable[[str], None]) -> Results:
    """Makes the data below `folder`, measures, and returns what came of it."""
    baselines = folder / "start"
    baselines.mkdir()
    rows = rows_of(0, [start_ups(baselines)])
    peers = installed(options, say)
    subjects: list[Subject] = []
    for size in options.sizes:
        tasks = list(records(size, options.seed))
        prepared = _prepare(folder / str(size), tasks, peers, say)
        rows += rows_of(size, prepared.values())
        subjects += _subjects(prepared, tasks, options.writers)
    fill(rows, options.rounds, options.limit_seconds, options.patience_seconds, say)
    times = commit_times(subjects, COMMIT_ROUNDS * options.rounds, say)
    middle = options.sizes[len(options.sizes) // 2]
    crowds = _crowds(subjects, middle, options, say)
    return Results(options.sizes, rows, times, crowds, _watched(subjects, options, say))


def installed(options: Options, say: Callable[[str], None]) -> list[Peer]:
    """Returns the programs that are to be measured and are there, gitticks' own folder of programs included."""
    found = []
    for peer in PEERS:
        if not options.has_peers and not isinstance(peer, _OURS):
            continue
        if shutil.which(peer.program, path=programs_path()):
            found.append(peer)
        else:
            say(f"not measured: `{peer.program}` is not installed")
    return found


def _prepare(
    folder: Path, tasks: Sequence[Record], peers: Sequence[Peer], say: Callable[[str], None]
) -> dict[Peer, Prepared]:
    prepared = {}
    for peer in peers:
        if len(tasks) <= peer.largest:
            name = type(peer).__name__.lower()
            say(f"{len(tasks):,} tasks: preparing {name}")
            (folder / name).mkdir(parents=True)
            prepared[peer] = peer.prepare(folder / name, tasks)
    return prepared


def _subjects(prepared: dict[Peer, Prepared], tasks: Sequence[Record], writers: int) -> list[Subject]:
    """Returns our own repositories with tasks that no whole process changes."""
    chosen = [str(task.id) for task in ready_tasks(tasks)[:writers]]
    return [
        Subject(len(tasks), isinstance(peer, Boarded), one.place, chosen)
        for peer, one in prepared.items()
        if isinstance(peer, Gitticks | Boarded)
    ]


def _crowds(
    subjects: Sequence[Subject], size: int, options: Options, say: Callable[[str], None]
) -> tuple[Crowd, ...]:
    """Returns what the writers came to where they all succeeded; hours of measuring are not lost to one that did not."""
    found = []
    for subject in subjects:
        if subject.size == size:
            try:
                found.append(crowd(subject, options.crowd_rounds, options.crowd_commits, say))
            except RuntimeError as error:
                say(f"failed: {error}")
    return tuple(found)


def _watched(
    subjects: Sequence[Subject], options: Options, say: Callable[[str], None]
) -> tuple[Watched, ...]:
    try:
        return watch_boards(subjects, COMMIT_ROUNDS * options.rounds, options.idle_seconds, say)
    except RuntimeError as error:
        say(f"failed: {error}")
        return ()


def failures(rows: Sequence[Row]) -> list[str]:
    """Returns one line for each row that could not be measured."""
    return [
        f"{row.size:,} tasks, {row.work}, {row.tool}: {row.failure.reason}" for row in rows if row.failure
    ]
