"""What a person saved on the board and has not committed, together with the version that their edit began from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gitticks.git.checkouts import Checkout, changed_paths
from gitticks.git.files import CheckoutFiles, NotPlainError
from gitticks.git.follow import line_distance
from gitticks.git.objects import Objects
from gitticks.git.repository import Repository
from gitticks.store.board.journal import Journal, load_journal
from gitticks.store.board.older import older_versions
from gitticks.store.board.place import board_checkout
from gitticks.store.tip import state_tip


@dataclass(frozen=True, slots=True)
class SavedEdit:
    """A file of the board that a person edited: where it began and what it holds; None where there is no file."""

    path: str
    base: bytes | None
    content: bytes | None


def uncommitted_paths(repository: Repository) -> tuple[str, ...]:
    """Returns the paths, sorted, whose bytes differ from what the branch had when they were last in step.

    What only lags behind the branch is not among them, nor is a conflict's or a link's like that is no plain file.
    """
    return tuple(edit.path for edit in saved_edits(repository))


def saved_edits(repository: Repository) -> tuple[SavedEdit, ...]:
    """Returns every uncommitted edit, sorted by path; none if there is no board.

    To be called with the board in step; what is pending counts from the version it was pending at.
    """
    checkout = board_checkout(repository)
    return () if checkout is None else tuple(_edits(repository, checkout, load_journal(repository)))


def _edits(repository: Repository, checkout: Checkout, journal: Journal) -> Iterator[SavedEdit]:
    objects = Objects.open(repository)
    tip = state_tip(repository)
    files = CheckoutFiles.at(checkout.path, repository.own_dir, "board")
    changes = changed_paths(checkout)
    for path in sorted({*changes.changed, *changes.untracked}):
        try:
            content = files.read(path)
        except NotPlainError:
            continue
        base = _base(objects, journal, tip, path)
        if content not in (base, _blob(objects, tip, path)):
            yield SavedEdit(path, _closest(objects, tip, path, (base, content)), content)


def _base(objects: Objects, journal: Journal, tip: str, path: str) -> bytes | None:
    pending = journal.pending.get(path)
    if pending is not None:
        return None if pending.base is None else objects.read_blob(pending.base)
    return _blob(objects, journal.base or tip, path)


def _blob(objects: Objects, commit: str, path: str) -> bytes | None:
    entry = objects.find(objects.tree_of(commit), path)
    return objects.read_blob(entry.object_id) if entry is not None and entry.is_file else None


def _closest(objects: Objects, tip: str, path: str, edit: tuple[bytes | None, bytes | None]) -> bytes | None:
    """Returns the version that the edit began from: an older one where it is nearer, as an editor left open saves.

    A file that is exactly an older version was put back on purpose.
    """
    base, content = edit
    if base is None or content is None:
        return base
    nearest, cost = base, line_distance(base, content)
    for older in older_versions(objects, tip, path):
        distance = line_distance(older, content)
        if 0 < distance < cost:
            nearest, cost = older, distance
    return nearest
