"""What the doctor remembers between two calls: how far the state branch was found legal, and where it stood.

A cache of this clone's own, in `<common git dir>/gitticks/doctor.json`. Without it everything is looked at again.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from gitticks.git.refs import is_object_id
from gitticks.git.repository import Repository

RULES = 2
"""Raised with every change of what is legal, so that what was found by older rules is looked at again."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """Commits of the state branch, None where nothing is known.

    Attributes:
        legal: with all its ancestors it was found legal.
        seen: where the branch stood at the last call.
    """

    legal: str | None = None
    seen: str | None = None


def remembered_file(repository: Repository) -> Path:
    """Returns where it is kept."""
    return repository.own_dir / "doctor.json"


def load_remembered(repository: Repository) -> Remembered:
    """Returns what is remembered; nothing if the file is missing or damaged."""
    try:
        values = json.loads(remembered_file(repository).read_bytes())
        legal, seen, rules = values["legal"], values["seen"], values["rules"]
    except (OSError, ValueError, KeyError, TypeError):
        return Remembered()
    return Remembered(_commit(legal) if rules == RULES else None, _commit(seen))


def remember(repository: Repository, found: Remembered) -> None:
    """Keeps it, where that can be written."""
    body = {"rules": RULES, "legal": found.legal, "seen": found.seen}
    file = remembered_file(repository)
    aside = file.with_name(f"{file.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        aside.write_text(json.dumps(body), encoding="utf-8")
        aside.replace(file)


def _commit(value: object) -> str | None:
    return value if isinstance(value, str) and is_object_id(value) else None
