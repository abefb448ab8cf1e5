"""What a supervised command is, what bounds it and how it ended: the values that go to the supervisor and come back."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class EndReason(StrEnum):
    """Why a supervised command is over; KILLED says that its supervisor was killed or hung."""

    EXITED = "exited"
    TIMED_OUT = "timed-out"
    IDLE = "idle"
    STOPPED = "stopped"
    KILLED = "killed"
    START_FAILED = "start-failed"


@dataclass(frozen=True, slots=True)
class Command:
    """What to run: `environment` is all that it gets, and stdin is empty unless given as bytes or as a file.

    `stop_signal` is what asks it to end.
    """

    argv: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str]
    stdin: bytes | Path | None = None
    merge_errors: bool = False
    stop_signal: int = signal.SIGTERM


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a command may run and how much of what it prints is passed on; None is no limit.

    `output_bytes` bounds what is delivered line by line (a quarter of it is the tail, which comes when the command
    is over), `kept_bytes` what `Ended` holds. `grace_seconds` lie between the stop signal and SIGKILL.
    """

    total_seconds: float | None = None
    idle_seconds: float | None = None
    output_bytes: int = 64_000_000
    kept_bytes: int = 256_000
    line_bytes: int = 1_000_000
    grace_seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: by `exit_code` or by `signal`, or by neither if it never started or its end was not seen.

    `output` and `errors` hold both ends of stdout and stderr with a line between that says how much is missing.
    `dropped_bytes` were never delivered as lines. `survived` is true if something could not be killed.
    """

    reason: EndReason
    exit_code: int | None = None
    signal: int | None = None
    output: str = ""
    errors: str = ""
    dropped_bytes: int = 0
    seconds: float = 0.0
    problem: str = ""
    survived: bool = False

    @property
    def is_success(self) -> bool:
        """True if the command ended by itself with exit code 0."""
        return self.reason is EndReason.EXITED and self.exit_code == 0
