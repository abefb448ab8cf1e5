"""How much of a test is done that could go on for ever: little in CI, all of it where a full dose is asked for."""

from __future__ import annotations

import os

ASKED = os.environ.get("GITTICKS_DOSE", "")
IS_FULL = ASKED == "full"
LONGEST_TEST_SECONDS = 7200 if ASKED else 900
"""How long one test may take before it counts as hung; the everyday limit is also `timeout` in pyproject.toml."""


def dose(small: int, full: int) -> int:
    """Returns how often to do something: `full` times under GITTICKS_DOSE=full, a number's worth under that number."""
    if ASKED.isdecimal():
        return min(int(ASKED), full)
    return full if IS_FULL else small
