"""`python -m benchmarks`: makes the data, measures, prints the tables, and says which targets are met."""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkdtemp

from benchmarks.peers.ours import OURS
from benchmarks.results import Results
from benchmarks.run import Options, failures, run
from benchmarks.table import commits, processes, replace_results, verdicts, watches, writers
from benchmarks.targets import targets

PAGE = Path(__file__).with_name("README.md")
SIZES = (1_000, 10_000, 100_000)
QUICK_SIZES = (150, 300)
IDLE_SECONDS = 65


def say(text: str) -> None:
    """Tells on stderr how far the benchmark is."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Gives a folder for the data, and removes it by `rm`: a board of 100,000 tasks would take Python minutes."""
    folder = Path(mkdtemp(prefix="gitticks-bench-"))
    try:
        yield folder
    finally:
        subprocess.run(["rm", "-rf", str(folder)], check=False)


def render(results: Results, machine: str) -> str:
    """Returns all tables, under a sentence about where and when."""
    parts = [machine, f"### Targets\n\n{verdicts(targets(results))}"]
    parts.append(f"### Start-up\n\n{processes(results, 0)}")
    parts += [f"### {size:,} tasks\n\n{processes(results, size)}" for size in results.sizes]
    parts.append(f"### Commits in a running process\n\n{commits(results)}")
    parts.append(f"### Many writers\n\n{writers(results)}")
    parts.append(f"### Watching the board\n\n{watches(results)}")
    return "\n" + "\n".join(f"{part.rstrip()}\n" for part in parts) + "\n"


def machine(rounds: int) -> str:
    """Returns when and on what the numbers were measured, in two sentences."""
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.split()[2]
    where = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}"
    with_what = f"Python {platform.python_version()}, git {git}"
    load = os.getloadavg()[0]
    return f"{datetime.now(UTC):%Y-%m-%d}, {where}, {with_what}. {rounds} rounds; load {load:.1f} at the end."


def parse(arguments: list[str]) -> argparse.Namespace:
    """Returns the options; `--quick` sets what was not given otherwise."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N", help=f"tasks (default: {SIZES})")
    parser.add_argument("--rounds", type=int, metavar="N", help="measured runs of each command (default: 9)")
    parser.add_argument("--writers", type=int, metavar="N", help="how many write at once (default: 16)")
    parser.add_argument("--quick", action="store_true", help="few tasks, two rounds: does it work at all?")
    parser.add_argument(
        "--limit", type=int, default=120, metavar="SECONDS", help="a run that takes longer has failed"
    )
    parser.add_argument(
        "--patience", type=float, default=2.0, metavar="SECONDS", help="a slower command runs once"
    )
    parser.add_argument("--seed", type=int, default=1, help="another one makes other data")
    parser.add_argument("--without-peers", action="store_true", help="gitticks and start-ups alone")
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/README.md")
    return parser.parse_args(arguments)


def options_of(given: argparse.Namespace) -> Options:
    """Returns how to run for what was given."""
    return Options(
        sizes=sorted(given.sizes or (QUICK_SIZES if given.quick else SIZES)),
        rounds=given.rounds or (2 if given.quick else 9),
        limit_seconds=given.limit,
        patience_seconds=given.patience,
        seed=given.seed,
        writers=given.writers or (3 if given.quick else 16),
        crowd_rounds=1 if given.quick else 3,
        crowd_commits=2 if given.quick else 25,
        has_peers=not given.without_peers,
        idle_seconds=2 if given.quick else IDLE_SECONDS,
    )


def main(arguments: list[str]) -> int:
    """Measures; returns the exit code, which is 1 if something of ours could not be measured."""
    given = parse(arguments)
    options = options_of(given)
    with scratch_folder() as scratch:
        results = run(options, scratch, say)
        text = render(results, machine(options.rounds))
        print(text, flush=True)
        for line in failures(results.rows):
            say(f"failed: {line}")
        if given.write:
            replace_results(PAGE, text)
        say("clearing up")
    has_failed = any(row.failure and row.tool.startswith(OURS) for row in results.rows)
    return int(has_failed or not results.crowds or not results.watched)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
