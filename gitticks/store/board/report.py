"""What came of bringing the board in step; apart from the doing, which most of its readers need not load."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class BoardReport:
    """What bringing the board in step came to; paths from the board's top, sorted.

    Attributes:
        is_in_step: False if the index was busy, or something else than the state branch is checked out there.
        conflicts: files with a person's edit that excludes the branch's version; they are as the person left them.
        deferred: files that somebody was writing at that moment.
        rescued: where bytes were kept that had no other place.
    """

    is_in_step: bool = True
    conflicts: tuple[str, ...] = ()
    deferred: tuple[str, ...] = ()
    rescued: tuple[Path, ...] = ()
