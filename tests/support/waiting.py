"""Waiting for a condition, never for a time: the one limit is what only a hang reaches, however slow the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.support.doses import LONGEST_TEST_SECONDS

LONGEST_SECONDS = 2 / 3 * LONGEST_TEST_SECONDS
"""How long anything may take that a test waits for: less than the test itself, so that it can say what never came."""


def until(condition: Callable[[], object], what: str = "it") -> None:
    """Waits until a condition holds; the test fails if it never does."""
    deadline = time.monotonic() + LONGEST_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"{what} never came"
        time.sleep(0.02)
