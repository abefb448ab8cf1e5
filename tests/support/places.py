"""Where the tests' folders lie: in memory where there is room, since every test waits for hundreds of fsyncs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")
ENOUGH_BYTES = 4_000_000_000
_VARIABLE = "PYTEST_DEBUG_TEMPROOT"
"""Pytest's own; whoever sets it, or TMPDIR, is obeyed."""


@pytest.hookimpl(tryfirst=True)
def pytest_configure() -> None:
    """Chooses the place; workers of xdist are told theirs."""
    if "TMPDIR" not in os.environ and has_room(MEMORY):
        os.environ.setdefault(_VARIABLE, str(MEMORY))


def has_room(place: Path) -> bool:
    """True if programs can be written to a place and started there, with room for all that the tests hold at once."""
    if not os.access(place, os.W_OK | os.X_OK):
        return False
    told = os.statvfs(place)
    return told.f_bavail * told.f_frsize >= ENOUGH_BYTES and not told.f_flag & os.ST_NOEXEC
