"""Runs `gt` as a process of its own and tells its time and memory by the operating system's accounting."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import LAUNCHER
from tests.cli.support import command
from tests.faults.forked import Ended
from tests.support.waiting import LONGEST_SECONDS

MOST_MEGABYTES = 200.0
_KILLED = -9


@dataclass(frozen=True, slots=True)
class Used:
    """How a command ended, and what it and its processes took; memory is the most that one of them had at once."""

    ended: Ended
    cpu_seconds: float
    peak_megabytes: float


def run_measured(
    *arguments: str, at: Path, environment: Mapping[str, str] | None = None, seconds: float = LONGEST_SECONDS
) -> Used:
    """Runs a command in the directory `at`, with an empty stdin."""
    with TemporaryDirectory() as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        launched = [sys.executable, "-I", "-S", str(LAUNCHER), str(int(seconds)), str(out), str(err)]
        done = subprocess.run(
            [*launched, *command(*arguments)],
            cwd=at,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            check=True,
        )
        told = json.loads(done.stdout)
        ended = Ended(" ".join(arguments), int(told["code"]), _text(out), _text(err), float(told["seconds"]))
        assert ended.code != _KILLED, f"it hung:\n{ended}"
    return Used(ended, float(told["cpu_seconds"]), told["peak_kilobytes"] / 1024)


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="surrogateescape")
