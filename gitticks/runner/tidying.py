"""Tidies up after a run, which may have made thousands of commits; nothing that goes wrong here is the run's failure."""

from __future__ import annotations

import contextlib

from gitticks.errors import GitticksError
from gitticks.git.locks import hold_lock
from gitticks.git.packing import has_many_loose_objects, pack_loose_objects
from gitticks.git.repository import Repository

_LOCK_SECONDS = 5.0
"""Whoever works here just now goes first; the next run tidies up."""


def tidy_up(repository: Repository) -> int:
    """Packs loose objects if there are many and the person's git may do that by itself; returns how many it packed."""
    with contextlib.suppress(GitticksError, OSError, KeyboardInterrupt):
        if has_many_loose_objects(repository):
            with hold_lock(repository.own_dir / "lock", wait_seconds=_LOCK_SECONDS):
                return pack_loose_objects(repository)
    return 0
