"""Why a task is where it is, out of its history, read from the end and no further than needed."""

from __future__ import annotations

import json

from gitticks.model.words import STUCK

_STUCK = STUCK.encode()


def stuck_reason(history: bytes) -> str | None:
    """Returns why a task became stuck last, on one line; None if its history does not tell."""
    for line in reversed(history.split(b"\n")):
        if _STUCK not in line:
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and event.get("to") == STUCK:
            reason = event.get("reason")
            return " ".join(reason.split()) if isinstance(reason, str) else None
    return None
