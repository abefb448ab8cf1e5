"""Which agents of this clone rest because their service gives them no more, so that other commands can tell.

A run asks its own memory; what stands here is for `gt status`, also after that run has ended.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gitticks.plainfile import read_plain_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_FILE = "resting.json"


@dataclass(frozen=True, slots=True)
class Resting:
    """An agent that rests until a UTC time, or (None) as long as its run goes on, and why."""

    agent: str
    until: datetime | None
    reason: str


def read_resting(own_place: str, now: datetime, *, is_run_alive: bool) -> tuple[Resting, ...]:
    """Returns the agents that rest now, by name; what cannot be read is nothing. `own_place` is `<git dir>/gitticks`."""
    return tuple(one for one in _read(own_place) if (is_run_alive if one.until is None else one.until > now))


def write_resting(own_dir: Path, agents: Iterable[Resting]) -> None:
    """Replaces what is known; a clone where nothing can be written goes without."""
    body = {one.agent: {"until": one.until and one.until.isoformat(), "reason": one.reason} for one in agents}
    path = own_dir / _FILE
    if not body and not path.exists():
        return
    with contextlib.suppress(OSError):
        aside = path.with_suffix(".new")
        aside.write_text(json.dumps(body), encoding="utf-8")
        aside.replace(path)


def _read(own_place: str) -> list[Resting]:
    try:
        body = json.loads(read_plain_file(f"{own_place}/{_FILE}"))
        return [
            Resting(str(name), _time(one["until"]), str(one["reason"])) for name, one in sorted(body.items())
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError(text)
    return found
