"""The outside world as values that tests can replace: clock, randomness, environment.

Rules take times and ids as arguments; only actions and the runner ask the world.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime

_LOOKED_AT_BYTES = 4096

_UNITS = ((86400, "day"), (3600, "h"), (60, "min"), (1, "s"))


def in_largest_unit(seconds: float) -> tuple[int, str]:
    """Returns a duration as a number of whole days, hours, minutes or seconds, and that unit."""
    whole = max(0, int(seconds))
    size, name = next((unit for unit in _UNITS if whole >= unit[0]), _UNITS[-1])
    return whole // size, name


def elapsed(seconds: float) -> str:
    """Returns a duration in one unit: `10 s`, `2 min`, `3 h`, `5 days`."""
    count, name = in_largest_unit(seconds)
    return f"{count} {name}s" if name == "day" and count > 1 else f"{count} {name}"


class World:
    """What a process can ask of its surroundings."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self.environment = dict(os.environ) if environment is None else environment

    def elsewhere(self, more: Mapping[str, str] | None = None) -> World:
        """Returns the world for a place that is named by other means than `GIT_DIR`, with `more` variables."""
        kept = {name: value for name, value in self.environment.items() if name != "GIT_DIR"}
        return World({**kept, **(more or {})})

    def now(self) -> datetime:
        """Returns the present UTC time, cut to whole seconds, the precision that files hold."""
        return datetime.now(UTC).replace(microsecond=0)

    def precise_now(self) -> datetime:
        """Returns the present UTC time as precisely as the clock tells it, for records that many have in a second."""
        return datetime.now(UTC)

    def monotonic_seconds(self) -> float:
        """Returns a clock that never jumps, for limits and durations."""
        return time.monotonic()

    def random_number(self, below: int) -> int:
        """Returns an unpredictable integer from 0 up to, not including, `below`."""
        from random import SystemRandom  # only new ids need it

        return SystemRandom().randrange(below)

    @property
    def in_session(self) -> bool:
        """True inside an agent's session, where nobody may act as a person."""
        return self.environment.get("GITTICKS_AGENT") == "1"


def program_on_path(environment: Mapping[str, str]) -> str | None:
    """Returns the `gt` that the shell would start; None if there is none."""
    import shutil

    return shutil.which("gt", path=environment.get("PATH", os.defpath))


def is_ours(program: str) -> bool:
    """True if a program mentions gitticks at its beginning, as the installed start script does."""
    try:
        with open(program, "rb") as file:  # noqa: PTH123 - reading commands load no pathlib
            return b"gitticks" in file.read(_LOOKED_AT_BYTES)
    except OSError:
        return False
