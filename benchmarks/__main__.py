"""`python -m benchmarks`: makes the data, measures, prints the tables."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.dataset import records
from benchmarks.peers import PEERS
from benchmarks.peers.base import Peer, Prepared
from benchmarks.rounds import fill, rows_of
from benchmarks.table import render, replace_results

PAGE = Path(__file__).with_name("README.md")
SIZES = (1_000, 10_000)
QUICK_SIZES = (200,)


def say(text: str) -> None:
    """Tells on stderr how far the benchmark is."""
    print(text, file=sys.stderr, flush=True)


def installed(peers: tuple[Peer, ...]) -> list[Peer]:
    """Returns the peers whose program is there, gitticks' own folder of programs included."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    found = [peer for peer in peers if shutil.which(peer.program, path=path)]
    for peer in peers:
        if peer not in found:
            say(f"not measured: `{peer.program}` is not installed")
    return found


def results_for(size: int, options: argparse.Namespace) -> str:
    """Returns one size's table under its heading."""
    tasks = list(records(size, options.seed))
    with TemporaryDirectory(prefix="gitticks-bench-") as scratch:
        prepared: list[Prepared] = []
        for peer in installed(PEERS):
            say(f"{size:,} tasks: preparing {type(peer).__name__.lower()}")
            folder = Path(scratch, type(peer).__name__.lower())
            folder.mkdir()
            prepared.append(peer.prepare(folder, tasks))
        rows = rows_of(prepared)
        fill(rows, options.rounds, options.limit, options.patience, say)
    return f"\n### {size:,} tasks\n\n{render(rows)}"


def machine() -> str:
    """Returns what the numbers were measured with, in one sentence."""
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.split()[2]
    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}, git {git}."


def parse(arguments: list[str]) -> argparse.Namespace:
    """Returns the options; `--quick` sets what was not given otherwise."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--sizes", type=int, nargs="+", metavar="N", help=f"tasks (default: {SIZES}); 100000 works too"
    )
    parser.add_argument("--rounds", type=int, metavar="N", help="measured runs of each command (default: 15)")
    parser.add_argument("--quick", action="store_true", help="200 tasks, three rounds: does it work at all?")
    parser.add_argument(
        "--limit", type=int, default=120, metavar="SECONDS", help="a run that takes longer has failed"
    )
    parser.add_argument(
        "--patience", type=float, default=3.0, metavar="SECONDS", help="a slower command runs once"
    )
    parser.add_argument("--seed", type=int, default=1, help="another one makes other data")
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/README.md")
    options = parser.parse_args(arguments)
    options.sizes = options.sizes or (QUICK_SIZES if options.quick else SIZES)
    options.rounds = options.rounds or (3 if options.quick else 15)
    return options


def main(arguments: list[str]) -> int:
    """Measures every size; returns the exit code."""
    options = parse(arguments)
    results = f"\n{machine()}\n" + "".join(results_for(size, options) for size in options.sizes) + "\n"
    print(results)
    if options.write:
        replace_results(PAGE, results)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
