"""The last state of the board, on disk, which tells a person's edits from files that are merely out of date."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from gitticks.git.files import write_synced
from gitticks.git.indexfile import RESOLVED
from gitticks.git.refs import is_object_id
from gitticks.git.repository import Repository
from gitticks.safe_read import read_json
from gitticks.store.layout import BOARD_JOURNAL

Item = TypeVar("Item")

_STAGED = "board-staged.json"
_MOST_PATHS = 100
_MOST_OF_ONE = 16


class PendingKind(StrEnum):
    """Why a file is not in step."""

    DEFERRED = "deferred"
    """Somebody was writing it at that moment; the next call brings it in step."""
    CONFLICT = "conflict"
    """A person's edit and the branch exclude each other; only a person can join them."""
    RESOLVED = "resolved"
    """A person has joined them, and has not committed that yet."""


class Pending(NamedTuple):
    """A file of the board that is not in step.

    Attributes:
        kind: why.
        base: the blob that the person's edit began from; None if there was no file.
        against: the branch's blob when it was first seen to be not in step, which is what git shows of the branch; None
            if there it had no file. Where a person resolves a conflict, what they made of it began from this.
    """

    kind: PendingKind
    base: str | None
    against: str | None

    def is_resolved(self, stages: Collection[int]) -> bool:
        """True for a conflict that a person resolved by `git add`, so that the index has no stages of it."""
        return self.kind is not PendingKind.DEFERRED and not set(stages) - {RESOLVED}


class Journal(NamedTuple):
    """What the board is up to date with.

    Attributes:
        base: the commit; None if that is not known.
        pending: the files that are not in step, by path.
        index_mark: how the index file looked when all of it was as at the base; empty if that is not known, or
            something is staged.
        is_index_stale: many entries are new, and git has yet to note how their files look.
        seen: the blobs that edited files held when somebody looked for what to take up, by path, the last one last.
            Once such a blob is on the branch, what the person saves next began from it.
        typed: the blobs that editors saved and that were joined with what the branch had written since, by path, the
            last one last, each before the blob that it was joined to, or twice once the branch has that one. No commit
            has such a blob, but the editor may show it still, and then its next save began from it.
        own: the blobs that people saved or staged here and that nothing was joined into, by path, the last one last.
            What the branch has of them is no news to whoever saves next.
        staged_mark: which notes of the hook are among these.
    """

    base: str | None = None
    pending: Mapping[str, Pending] = {}
    index_mark: str = ""
    is_index_stale: bool = False
    seen: Mapping[str, tuple[str, ...]] = {}
    typed: Mapping[str, tuple[tuple[str, str], ...]] = {}
    own: Mapping[str, tuple[str, ...]] = {}
    staged_mark: str = ""


def load_journal(repository: Repository) -> Journal:
    """Returns the journal, with what the hook noted since; without one, or with a damaged one, nothing is known."""
    return _with_staged(repository, _load(repository))


def _load(repository: Repository) -> Journal:
    return read_json(repository.own_file(BOARD_JOURNAL), _journal, Journal())


def _journal(values: Mapping[str, Any]) -> Journal:
    known = Journal(**values)
    return known._replace(
        base=_object(known.base),
        pending={
            _path(path): Pending(PendingKind(kind), _object(base), _object(against))
            for path, (kind, base, against) in known.pending.items()
        },
        seen={_path(path): tuple(map(_blob, blobs)) for path, blobs in known.seen.items()},
        typed={
            _path(path): tuple((_blob(typed), _blob(joined)) for typed, joined in pairs)
            for path, pairs in known.typed.items()
        },
        own={_path(path): tuple(map(_blob, blobs)) for path, blobs in known.own.items()},
    )


def is_inside(path: str) -> bool:
    """True for a path that a file of a checkout can have; False for one that leads out of it."""
    return "\0" not in path and {"", ".", ".."}.isdisjoint(path.split("/"))


def _path(path: str) -> str:
    if not is_inside(path):
        raise ValueError(path)
    return path


def _object(name: object) -> str | None:
    return None if name is None else _blob(name)


def _blob(name: object) -> str:
    if not (isinstance(name, str) and is_object_id(name)):
        raise ValueError(name)
    return name


def with_typed(journal: Journal, joins: Mapping[str, tuple[str, str]]) -> Journal:
    """Returns the journal with what editors saved, by path, and what it was joined to."""
    return journal._replace(typed=_with_last(journal.typed, joins)) if joins else journal


def with_own(journal: Journal, blobs: Mapping[str, str]) -> Journal:
    """Returns the journal with what people saved or staged, by path, as it stands."""
    return journal._replace(own=_with_last(journal.own, blobs)) if blobs else journal


def with_seen(journal: Journal, blobs: Mapping[str, str], *, is_over: bool) -> Journal:
    """Returns the journal with what files hold that are edited; where it `is_over`, the others are forgotten."""
    known = {path: journal.seen.get(path, ()) for path in blobs} if is_over else journal.seen
    kept = {path: seen for path, seen in known.items() if path not in blobs}
    return journal._replace(seen={**kept, **_added(known, blobs)})


def _with_last(
    known: Mapping[str, tuple[Item, ...]], new: Mapping[str, Item]
) -> Mapping[str, tuple[Item, ...]]:
    """Returns what is known with one item more for each of some paths; of all that, the newest."""
    kept = {path: items for path, items in known.items() if path not in new}
    return dict([*kept.items(), *_added(known, new).items()][-_MOST_PATHS:])


def _added(known: Mapping[str, tuple[Item, ...]], new: Mapping[str, Item]) -> Mapping[str, tuple[Item, ...]]:
    return {
        path: (*(one for one in known.get(path, ()) if one != item), item)[-_MOST_OF_ONE:]
        for path, item in new.items()
    }


def note_staged(repository: Repository, own: Mapping[str, str], joins: Mapping[str, tuple[str, str]]) -> None:
    """Notes what a commit is about to take, and what of it was joined, in a file beside the journal.

    The hook cannot wait for the journal's lock: whoever holds that may be waiting for git, which waits for the hook.
    """
    journal = _load(repository)
    mark, *before = _load_staged(repository)
    notes = [*(() if mark == journal.staged_mark else before), [own, joins]]
    _write(repository, _STAGED, [f"{time.time_ns()}-{os.getpid()}", *notes[-_MOST_OF_ONE:]])


def _with_staged(repository: Repository, journal: Journal) -> Journal:
    mark, *notes = _load_staged(repository)
    if mark == journal.staged_mark:
        return journal
    try:
        for own, joins in notes:
            journal = with_own(journal, {_path(path): _blob(blob) for path, blob in own.items()})
            pairs = {_path(path): (_blob(typed), _blob(joined)) for path, (typed, joined) in joins.items()}
            journal = with_typed(journal, pairs)
    except (ValueError, TypeError, AttributeError):
        return journal
    return journal._replace(staged_mark=str(mark))


def _load_staged(repository: Repository) -> list[Any]:
    found: list[Any] = read_json(repository.own_file(_STAGED), list, [])
    return found or [""]


def save_journal(repository: Repository, journal: Journal) -> None:
    """Writes the journal and waits until it is on disk."""
    _write(repository, BOARD_JOURNAL, journal._asdict())


def _write(repository: Repository, name: str, values: object) -> None:
    write_synced(repository.own_file(name), json.dumps(values).encode())


def mark_of(index: Path) -> str:
    """Returns what changes whenever git writes the index file again; empty if there is none."""
    try:
        status = index.stat()
    except FileNotFoundError:
        return ""
    return f"{status.st_ino}-{status.st_mtime_ns}-{status.st_size}"
