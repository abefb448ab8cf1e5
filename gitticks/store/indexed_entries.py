"""Open questions in the index: JSON, parsed on demand."""

from __future__ import annotations

import json
from datetime import datetime

from gitticks.model.notes import Entry
from gitticks.model.status import ActorKind


def entries_to_json(entries: tuple[Entry, ...]) -> str:
    """Returns entries as JSON."""
    return json.dumps([[entry.at.isoformat(), entry.kind.value, entry.name, entry.text] for entry in entries])


def entries_from_json(text: str) -> tuple[Entry, ...]:
    """Returns the entries that `entries_to_json` wrote."""
    return tuple(
        Entry(datetime.fromisoformat(at), ActorKind(kind), name, body)
        for at, kind, name, body in json.loads(text)
    )
