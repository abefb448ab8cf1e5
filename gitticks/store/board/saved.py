"""What a person saved on the board and has not committed, together with the version that their edit began from."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from gitticks.errors import GitticksError
from gitticks.git.checkouts import Checkout, changed_paths
from gitticks.git.files import CheckoutFiles
from gitticks.git.folders import NotPlainError
from gitticks.git.follow import line_distance
from gitticks.git.locks import hold_lock
from gitticks.git.objects import Objects
from gitticks.git.repository import Repository
from gitticks.store.board.journal import Journal, load_journal
from gitticks.store.board.older import older_versions
from gitticks.store.board.place import board_checkout
from gitticks.store.board.report import errors_of_board
from gitticks.store.tip import state_tip

_NOT_SEEN = "nobody can tell what was saved on the board"


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

    What is pending counts from the version it was pending at. Takes the store's lock, so it must not be called within
    a transaction: between two looks without it, a file that a writer has just brought in step looks like an edit.

    Raises:
        BoardError: the board is damaged, so that nobody can tell what was edited.
    """
    checkout = board_checkout(repository)
    if checkout is None:
        return ()
    with _no_writer(repository), errors_of_board(_NOT_SEEN):
        return tuple(_edits(repository, checkout, load_journal(repository)))


def saved_edit(repository: Repository, path: str) -> SavedEdit | None:
    """Returns the uncommitted edit of one file, and asks git only where the file is not as the branch has it.

    Takes the store's lock, as `saved_edits` does, and raises as it does.
    """
    checkout = board_checkout(repository)
    if checkout is None:
        return None
    with _no_writer(repository), errors_of_board(_NOT_SEEN):
        if _is_as_committed(repository, checkout, path):
            return None
        edits = _edits(repository, checkout, load_journal(repository))
        return next((edit for edit in edits if edit.path == path), None)


@contextlib.contextmanager
def _no_writer(repository: Repository) -> Iterator[None]:
    """Keeps writers away; where no lock can be had, as on a full or read-only disk, looking goes before being sure."""
    with contextlib.ExitStack() as held:
        with contextlib.suppress(GitticksError, OSError):
            held.enter_context(hold_lock(repository.own_dir / "lock"))
        yield


def _is_as_committed(repository: Repository, checkout: Checkout, path: str) -> bool:
    try:
        content = _files(repository, checkout).read(path)
    except NotPlainError:
        return False
    return content == _blob(Objects.open(repository), state_tip(repository), path)


def _files(repository: Repository, checkout: Checkout) -> CheckoutFiles:
    return CheckoutFiles.at(checkout.path, repository.own_dir, "board")


def _edits(repository: Repository, checkout: Checkout, journal: Journal) -> Iterator[SavedEdit]:
    objects = Objects.open(repository)
    tip = state_tip(repository)
    files = _files(repository, checkout)
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
