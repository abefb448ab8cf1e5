"""Remembers changes to the repository's own folder during agents' sessions until a person accepts them.

Nothing of it runs meanwhile: no merge is made, no run begins, and settings of gitticks count as they were before. The
memory is a file beside the locks. What is put back as it was needs nobody's word.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from gitticks.errors import GitticksError, RefusedError, first_of
from gitticks.git.files import write_synced
from gitticks.git.locks import hold_lock
from gitticks.git.own_state import FILE, SETTING, differing, file_of, read_own_state
from gitticks.git.repository import Repository
from gitticks.safe_read import read_json, read_plain_file
from gitticks.store.trust import HINT

NAME = "left-behind.json"
_WATCHES = "watches"
_MOST_NAMED = 3
_MOST_SHOWN = 20_000


class LeftBehind(NamedTuple):
    """A setting or file that changed during sessions: what it was before them and is now, None for nothing.

    `tasks` are those whose sessions lived meanwhile.
    """

    name: str
    before: str | None
    now: str | None
    tasks: tuple[str, ...]

    @property
    def shown(self) -> str:
        """Returns its name as people know it."""
        kind = SETTING if self.name.startswith(SETTING) else FILE
        return self.name.removeprefix(kind)

    @property
    def words(self) -> str:
        """Returns in words what became of it, and when."""
        became = "added" if self.before is None else "removed" if self.now is None else "changed"
        sessions = "the session" if len(self.tasks) == 1 else "sessions"
        return f"`{self.shown}` was {became} during {sessions} of {', '.join(self.tasks)}"


@dataclass(slots=True)
class _Memory:
    """What the file holds: by name what a thing was before and whose sessions lived, and what people agreed to."""

    held: dict[str, dict[str, Any]] = field(default_factory=dict)
    agreed: dict[str, str | None] = field(default_factory=dict)


def begin_watch(repository: Repository, task_id: str) -> None:
    """Writes down how the repository's own folder is before a session."""
    _replace(repository.own_file(_WATCHES) / task_id, read_own_state(repository))


def end_watch(repository: Repository, task_id: str, others: Iterable[str] = ()) -> tuple[LeftBehind, ...]:
    """Returns unreported changes since the session began, and remembers them.

    `others` are tasks with sessions that live as well: whose doing it was cannot be told.
    """
    file = repository.own_file(_WATCHES) / task_id
    before: dict[str, str] | None = read_json(file, dict, None)
    if before is None:
        return ()
    after = read_own_state(repository)
    tasks = sorted({task_id, *others})
    new: list[LeftBehind] = []
    with hold_lock(repository.own_file("left-behind.lock")):
        memory = _read(repository)
        changed = [
            name
            for name in differing(before, after)
            if name not in memory.agreed or memory.agreed[name] != after.get(name)
        ]
        for name in changed:
            known = memory.held.get(name)
            if known is None:
                memory.held[name] = {"before": before.get(name), "tasks": tasks}
                new.append(LeftBehind(name, before.get(name), after.get(name), tuple(tasks)))
            else:
                known["tasks"] = sorted({*known["tasks"], *tasks})
        if changed:
            _write(repository, memory)
    file.unlink(missing_ok=True)
    return tuple(new)


def left_behind(repository: Repository) -> tuple[LeftBehind, ...]:
    """Returns what changed during sessions, is not as it was before, and nobody has agreed to."""
    memory = _read(repository)
    if not memory.held:
        return ()
    now = read_own_state(repository)
    if any(now.get(name) == held["before"] for name, held in memory.held.items()):
        # So that a later change of the person's is not taken for a session's.
        with contextlib.suppress(OSError, GitticksError), hold_lock(repository.own_file("left-behind.lock")):
            latest = _read(repository)
            latest.held = {name: one for name, one in latest.held.items() if now.get(name) != one["before"]}
            _write(repository, latest)
    return tuple(
        LeftBehind(name, held["before"], now.get(name), tuple(held["tasks"]))
        for name, held in sorted(memory.held.items())
        if now.get(name) != held["before"]
    )


def agree(repository: Repository, shown: Iterable[LeftBehind]) -> None:
    """Takes what a person was shown as theirs; what changed since then stays to be asked about."""
    with hold_lock(repository.own_file("left-behind.lock")):
        memory = _read(repository)
        now = read_own_state(repository)
        for one in shown:
            if now.get(one.name) == one.now and one.name in memory.held:
                del memory.held[one.name]
                memory.agreed[one.name] = one.now
        _write(repository, memory)


def require_agreed(repository: Repository) -> None:
    """Refuses to continue where something of the repository's own folder changed and nobody has agreed to it."""
    found = left_behind(repository)
    if found:
        raise RefusedError(why_held(found), hint=HINT)


def why_held(found: tuple[LeftBehind, ...]) -> str:
    """Returns what keeps merges and runs back, in words."""
    named = first_of([one.words for one in found], _MOST_NAMED)
    return f"{named}, and nobody has accepted that yet"


def text_of(repository: Repository, one: LeftBehind) -> str:
    """Returns what a person agrees to: both values of a setting, or what a file holds now."""
    if one.name.startswith(SETTING):
        return f"was: {_said(one.before)}\nis:  {_said(one.now)}"
    if one.now is None:
        return "(removed)"
    try:
        content = read_plain_file(file_of(repository, one.name))
    except OSError as error:
        return f"({error.strerror})"
    kind = one.now.split(" ", 1)[0] + (
        f", link to {one.now.partition(' link to ')[2]}" if " link to " in one.now else ""
    )
    more = "\n…" if len(content) > _MOST_SHOWN else ""
    return f"({kind})\n" + content[:_MOST_SHOWN].decode("utf-8", "replace") + more


def held_settings(repository: Repository) -> dict[str, str | None]:
    """Returns gitticks' own settings in git's configuration as they were before sessions changed them, by name."""
    lead = f"{SETTING}gitticks."
    held = _read(repository).held
    return {name.removeprefix(SETTING): one["before"] for name, one in held.items() if name.startswith(lead)}


def _said(value: str | None) -> str:
    return "(not set)" if value is None else value


def _read(repository: Repository) -> _Memory:
    return read_json(
        repository.own_file(NAME),
        lambda found: _Memory(dict(found.get("held", {})), dict(found.get("agreed", {}))),
        _Memory(),
    )


def _write(repository: Repository, memory: _Memory) -> None:
    _replace(repository.own_file(NAME), {"held": memory.held, "agreed": memory.agreed})


def _replace(file: Path, content: object) -> None:
    write_synced(file, json.dumps(content).encode(), mode=0o600)
