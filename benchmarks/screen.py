"""What the interface costs beside a run that it shows."""

from __future__ import annotations

import os
import pty
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.measure import Place
from benchmarks.runs import cpu_of, measure_run

_START_SECONDS = 4.0


def measure_screen(place: Place, agents: int, tasks: int) -> float:
    """Returns what part of a run's processor time the interface takes that is open meanwhile."""
    with _open(place) as process:
        time.sleep(_START_SECONDS)
        before = cpu_of(process.pid)
        run = measure_run(place, tasks, agents, tasks)
        return (cpu_of(process.pid) - before) / run.cpu_seconds


@contextmanager
def _open(place: Place) -> Iterator[subprocess.Popen[bytes]]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        ["gt"],
        cwd=place.directory,
        env={**place.environment, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    reader = threading.Thread(target=_drain, args=(ours,), daemon=True)
    reader.start()
    try:
        yield process
        if process.poll() is not None:
            raise RuntimeError("the interface has ended")
    finally:
        process.kill()
        process.wait()
        reader.join()
        os.close(ours)


def _drain(terminal: int) -> None:
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:  # its last writer has gone
        return
