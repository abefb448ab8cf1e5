"""One measurement: a command as a whole process, by the operating system's own accounting."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

LAUNCHER = Path(__file__).with_name("launch.py")


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run took; processes that the command waited for are included, in the peak the largest one."""

    seconds: float
    cpu_seconds: float
    peak_kilobytes: int


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a command has no cost: a failed run is reported and never timed."""

    reason: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where commands run: their directory, and their whole environment."""

    directory: Path
    environment: Mapping[str, str]


def measure(
    command: tuple[str, ...], place: Place, limit_seconds: int, output: str = os.devnull
) -> Cost | Failure:
    """Runs the command once, its output to a file; anything but exit code 0 within the limit is a failure."""
    program = shutil.which(command[0], path=place.environment["PATH"])
    if program is None:
        return Failure("not installed")
    with NamedTemporaryFile(prefix="gitticks-bench-") as errors:
        launcher = [sys.executable, "-I", "-S", str(LAUNCHER), str(limit_seconds), output, errors.name]
        done = subprocess.run(
            [*launcher, program, *command[1:]],
            cwd=place.directory,
            env=dict(place.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            check=True,
        )
        told = json.loads(done.stdout)
        code = int(told["code"])
        if code != 0:
            return Failure(_reason(code, errors.read().decode(errors="replace"), limit_seconds))
    return Cost(float(told["seconds"]), float(told["cpu_seconds"]), int(told["peak_kilobytes"]))


def _reason(code: int, errors: str, limit_seconds: int) -> str:
    if code == -9:
        return f"took more than {limit_seconds} s"
    lines = errors.strip().splitlines()
    return f"exit {code}" + (f": {lines[-1][:80]}" if lines else "")
