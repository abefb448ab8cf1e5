"""What the doctor found: how bad it is, what it is, and what mends it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """Errors keep gitticks from working, warnings from working well; notes are only worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Repair(StrEnum):
    """What `gt doctor --fix` can do without taking anything from anybody."""

    BOARD = "make or mend the board"
    HOOKS = "install the board's hooks"
    STEP = "bring the board in step"
    INDEX = "build the index again"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found; `mend` is a sentence or a command for a person, `repair` what the doctor can do."""

    severity: Severity
    what: str
    mend: str | None = None
    repair: Repair | None = None
