"""What a person saved on the board and has not committed, together with the version that their edit began from."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from gitticks.board.journal import (
    Journal,
    Pending,
    PendingKind,
    load_journal,
    mark_of,
    save_journal,
    with_own,
    with_seen,
    with_typed,
)
from gitticks.board.older import older_versions, typed_versions
from gitticks.board.place import board_checkout, errors_of_board, is_on_state_branch
from gitticks.errors import GitticksError
from gitticks.git.checkouts import Checkout, changed_paths
from gitticks.git.files import CheckoutFiles, NotPlainError
from gitticks.git.follow import EXECUTABLE, PLAIN, QUIET_SECONDS, conflict_entries
from gitticks.git.indexfile import IndexEntry, hold_index_lock, index_ready
from gitticks.git.locks import WAIT_SECONDS, hold_lock
from gitticks.git.objects import Objects
from gitticks.git.repository import Repository
from gitticks.git.staged import is_sequencing
from gitticks.git.texts import changed_places, nearest_first
from gitticks.store.layout import task_of_path
from gitticks.store.merging.edit import merge_saved
from gitticks.store.tip import state_tip

LARGEST_BYTES = 10_000_000
"""What is larger is no task, and goes to everybody's clone only if a person says so."""

_LOOKS = 3
_TICK_SECONDS = 0.01
"""As coarse as the times of files are on some kernels."""

_NOT_SEEN = "nobody can tell what was saved on the board"


@dataclass(frozen=True, slots=True)
class SavedEdit:
    """A file of the board that a person edited: where it began and what it holds; None where there is no file.

    `is_conflict` if the branch has written the same place since, `is_plain` False for a link, a folder and the like.
    `is_young` if somebody keeps saving it, so that what it holds may be half of what is coming.
    `is_large` for a file beside the tasks that is not read, for its size.
    """

    path: str
    base: bytes | None
    content: bytes | None
    is_conflict: bool = False
    is_plain: bool = True
    is_executable: bool = False
    is_large: bool = False
    is_young: bool = False


def uncommitted_paths(repository: Repository) -> tuple[str, ...]:
    """Returns the paths, sorted, whose bytes differ from what the branch had when they were last in step.

    What only lags behind the branch is not among them, nor is a conflict's or a link's like that is no plain file.
    """
    return tuple(edit.path for edit in saved_edits(repository))


def edits_to_take_up(repository: Repository, among: Collection[str] | None = None) -> tuple[SavedEdit, ...]:
    """Returns every uncommitted edit, sorted by path, after whoever is saving at this moment is done with it.

    Where paths are given, only edits `among` them and below them are looked for. Files that are none are found too.
    What was seen is noted, so that what a person saves while it is taken up counts as their next edit, and what the
    branch has changed at the same place is put in conflict. Takes the store's lock, and raises as `saved_edits` does.
    """
    checkout = board_checkout(repository)
    if checkout is None:
        return ()
    for looks_left in reversed(range(_LOOKS)):
        with _no_writer(repository) as is_locked, errors_of_board(_NOT_SEEN):
            tip, journal = _tip_and_journal(repository)
            found = tuple(_edits(repository, checkout, journal, tip, among))
            files = _files(repository, checkout)
            missing = _seconds_to_rest(files, (edit.path for edit in found if edit.is_plain))
            if not looks_left:
                found = tuple(_marked_young(files, edit) for edit in found)
            is_time = not missing or not looks_left
            # What a person edits of another branch, or of an old commit in a rebase, has nothing to do with this one.
            if is_time and is_locked and is_on_state_branch(checkout):
                found = _brought_together(repository, checkout, journal, tip, found, among=among)
        if is_time:
            break
        time.sleep(missing)
    return found


def _brought_together(
    repository: Repository,
    checkout: Checkout,
    journal: Journal,
    tip: str,
    found: tuple[SavedEdit, ...],
    *,
    among: Collection[str] | None,
) -> tuple[SavedEdit, ...]:
    """Joins edits with what the branch has written since, and notes in the journal what was seen and what was made."""
    edits = _joined(repository, _files(repository, checkout), journal, tip, found)
    noted = _with_settled(repository, journal, tip, {edit.path for edit in found}, among)
    noted = _with_typed(repository, noted, found, edits)
    noted = _with_seen(repository, noted, tip, edits, among)
    with contextlib.suppress(GitticksError, OSError):  # as on a full disk, where nothing is taken up
        noted = _with_conflicts(repository, checkout, noted, tip, edits)
        if noted != journal:
            save_journal(repository, noted)
    return edits


def wait_until_quiet(repository: Repository, paths: Sequence[str]) -> bool:
    """Waits until nobody has just written one of these files of the board; False if none was that young."""
    checkout = board_checkout(repository) if paths else None
    missing = 0.0 if checkout is None else _seconds_to_rest(_files(repository, checkout), paths)
    if missing:
        time.sleep(missing + _TICK_SECONDS)
    return missing > 0


def _marked_young(files: CheckoutFiles, edit: SavedEdit) -> SavedEdit:
    is_young = edit.is_plain and _seconds_to_rest(files, (edit.path,)) > 0
    return replace(edit, is_young=True) if is_young else edit


def _seconds_to_rest(files: CheckoutFiles, paths: Iterable[str]) -> float:
    """Returns how long the file that was written last has to be left alone yet."""
    return max((files.seconds_to_rest(path, QUIET_SECONDS) for path in paths), default=0)


def _joined(
    repository: Repository, files: CheckoutFiles, journal: Journal, tip: str, found: tuple[SavedEdit, ...]
) -> tuple[SavedEdit, ...]:
    """Joins what an editor saved that was open for long with what the branch has written since, in the file itself.

    Else the old lines around the edit would be an edit too, and take back what the editor never showed.
    """
    objects = repository.objects
    edits = []
    for edit in found:
        current = _blob(objects, tip, edit.path)
        base, content = edit.base, edit.content
        is_free = not edit.is_young and not edit.is_conflict and base != current
        if not is_free or base is None or content is None or current is None:
            edits.append(edit)
            continue
        merged = joined_with(objects, journal, edit.path, (base, content), current)
        if merged is None:
            edits.append(replace(edit, is_conflict=True))
        elif merged == edit.content or files.replace(edit.path, edit.content, merged).is_done:
            edits.append(replace(edit, base=current, content=merged))
        else:
            edits.append(edit)
    return tuple(edits)


def joined_with(
    objects: Objects, journal: Journal, path: str, edit: tuple[bytes, bytes], current: bytes
) -> bytes | None:
    """Returns a file as a person edited it, from what to what, with all that the branch has written since.

    None if that is not possible. What the person themselves had saved before may be written over by them.
    """
    base, content = edit
    merged = merge_saved(path, base, content, current)
    return (
        content
        if merged is None and is_own_step(objects, journal, path, (base, content), current)
        else merged
    )


def is_own_step(
    objects: Objects, journal: Journal, path: str, edit: tuple[bytes, bytes], current: bytes
) -> bool:
    """True if the branch has what was saved on this very board, and the edit is no larger a step from there."""
    base, content = edit
    return objects.blob_id(current) in journal.own.get(path, ()) and (
        changed_places(current, content) <= changed_places(base, content)
    )


def _with_conflicts(
    repository: Repository, checkout: Checkout, journal: Journal, tip: str, edits: tuple[SavedEdit, ...]
) -> Journal:
    """Puts edits in conflict that exclude what the branch has, for git too; not while git has the index."""
    objects = repository.objects
    pending = dict(journal.pending)
    entries: dict[str, tuple[IndexEntry, ...]] = {}
    for edit in edits:
        before = journal.pending.get(edit.path)
        if not edit.is_conflict or (before is not None and before.kind is PendingKind.CONFLICT):
            continue
        current = _blob(objects, tip, edit.path)
        base, ours, theirs = (
            None if one is None else objects.write_blob(one) for one in (edit.base, current, edit.content)
        )
        pending[edit.path] = Pending(PendingKind.CONFLICT, base, ours)
        mode = EXECUTABLE if edit.is_executable else PLAIN
        entries[edit.path] = conflict_entries(edit.path, (base, ours, theirs), mode)
    if not entries or is_sequencing(checkout.git_dir):
        return journal
    with index_ready(checkout.git_dir, entries, tip) as aside:
        mark = mark_of(checkout.git_dir / "index")
        with hold_index_lock(checkout.git_dir, wait_seconds=0) as is_held:
            if not is_held or mark != mark_of(checkout.git_dir / "index"):
                return journal
            aside.replace(checkout.git_dir / "index")
    is_untouched = mark == journal.index_mark
    mark = mark_of(checkout.git_dir / "index") if is_untouched else journal.index_mark
    return journal._replace(pending=pending, index_mark=mark)


def _with_typed(
    repository: Repository, journal: Journal, found: tuple[SavedEdit, ...], joined: tuple[SavedEdit, ...]
) -> Journal:
    """Keeps what the editors had saved of files that were joined with the branch since."""
    objects = repository.objects
    joins = {
        before.path: (objects.write_blob(before.content), objects.blob_id(after.content))
        for before, after in zip(found, joined, strict=True)
        if before.content is not None and after.content is not None and before.content != after.content
    }
    return with_typed(journal, joins)


def _with_settled(
    repository: Repository, journal: Journal, tip: str, edited: Collection[str], among: Collection[str] | None
) -> Journal:
    """Notes what the branch has by now of that which was joined; of files that are like the branch, the rest goes."""
    objects = repository.objects
    kept = dict(journal.typed)
    for path, joins in journal.typed.items():
        is_looked_at = among is None or path in among
        if (
            is_looked_at
            and path not in edited
            and path not in journal.pending
            and any(a != b for a, b in joins)
        ):
            on_branch = frozenset(map(objects.blob_id, older_versions(objects, tip, path)))
            typed = map(objects.blob_id, typed_versions(objects, joins, on_branch.__contains__))
            kept[path] = tuple((blob, blob) for blob in reversed(tuple(typed)))
    return journal if kept == journal.typed else journal._replace(typed=kept)


def _with_seen(
    repository: Repository,
    journal: Journal,
    tip: str,
    edits: tuple[SavedEdit, ...],
    among: Collection[str] | None,
) -> Journal:
    # As long as the board has not followed the branch, a file that is like it may still count from an older version.
    is_over = among is None and journal.base == tip
    blobs = {
        edit.path: repository.objects.blob_id(edit.content) for edit in edits if edit.content is not None
    }
    made = {joined for pairs in journal.typed.values() for typed, joined in pairs if typed != joined}
    own = {path: blob for path, blob in blobs.items() if blob not in made}
    return with_own(with_seen(journal, blobs, is_over=is_over), own)


def saved_edits(repository: Repository, *, wait_seconds: float = WAIT_SECONDS) -> tuple[SavedEdit, ...]:
    """Returns every uncommitted edit, sorted by path; none if there is no board.

    What is pending counts from the version it was pending at. Takes the store's lock, so it must not be called within
    a transaction: between two looks without it, a file that a writer has just brought in step looks like an edit.
    After `wait_seconds` it looks all the same.

    Raises:
        BoardError: the board is damaged, so that nobody can tell what was edited.
    """
    checkout = board_checkout(repository)
    if checkout is None:
        return ()
    with _no_writer(repository, wait_seconds), errors_of_board(_NOT_SEEN):
        tip, journal = _tip_and_journal(repository)
        return tuple(edit for edit in _edits(repository, checkout, journal, tip) if edit.is_plain)


def _tip_and_journal(repository: Repository) -> tuple[str, Journal]:
    """Returns the branch's tip, and the journal as it is after that was read.

    Git waits for no lock of ours: a commit on the board may move the branch at any time. What it was joined with its
    hook notes before, so a journal that is read later knows it.
    """
    tip = state_tip(repository)
    return tip, load_journal(repository)


@contextlib.contextmanager
def _no_writer(repository: Repository, wait_seconds: float = WAIT_SECONDS) -> Iterator[bool]:
    """Keeps writers away; where no lock can be had, as on a full or read-only disk, looking goes before being sure.

    Yields whether they are kept away.
    """
    is_locked = False
    with contextlib.ExitStack() as held:
        with contextlib.suppress(GitticksError, OSError):
            held.enter_context(hold_lock(repository.own_dir / "lock", wait_seconds=wait_seconds))
            is_locked = True
        yield is_locked


def _files(repository: Repository, checkout: Checkout) -> CheckoutFiles:
    return CheckoutFiles.at(checkout.path, repository.own_dir, "board")


def _edits(
    repository: Repository,
    checkout: Checkout,
    journal: Journal,
    tip: str,
    among: Collection[str] | None = None,
) -> Iterator[SavedEdit]:
    objects = repository.objects
    files = _files(repository, checkout)
    changes = changed_paths(checkout, among)
    for path in sorted({*changes.changed, *changes.untracked}):
        if task_of_path(path) is None and (files.size_bytes(path) or 0) > LARGEST_BYTES:
            yield SavedEdit(path, None, None, is_large=True)
            continue
        try:
            content = files.read(path)
        except NotPlainError:
            yield SavedEdit(path, _blob(objects, tip, path.rstrip("/")), None, is_plain=False)
            continue
        base = _base(objects, journal, tip, path)
        if content not in (base, _blob(objects, tip, path)):
            pending = journal.pending.get(path)
            is_conflict = pending is not None and pending.kind is PendingKind.CONFLICT
            yield SavedEdit(
                path,
                base
                if content is None or base is None
                else version_begun_from(objects, journal, tip, path, (base, content)),
                content,
                is_conflict,
                is_executable=files.is_executable(path),
            )


def _base(objects: Objects, journal: Journal, tip: str, path: str) -> bytes | None:
    pending = journal.pending.get(path)
    if pending is not None:
        return None if pending.base is None else objects.read_blob(pending.base)
    return _blob(objects, journal.base or tip, path)


def _blob(objects: Objects, commit: str, path: str) -> bytes | None:
    entry = objects.find(objects.tree_of(commit), path)
    return objects.read_blob(entry.object_id) if entry is not None and entry.is_file else None


def version_begun_from(
    objects: Objects, journal: Journal, tip: str, path: str, edit: tuple[bytes, bytes]
) -> bytes:
    """Returns the version that the edit began from: an older one where it is nearer, as an editor left open saves.

    A file that is exactly an older version was put back on purpose. Of older ones that are as near, the oldest counts: by
    it what came later stays, and by the others an editor that never showed it would have taken it back. What the editor
    itself saved before goes before them all. A line that a person has just saved and now saves otherwise is one change
    of what they saw, though the version without the line is nearer.
    """
    base, content = edit
    if b"\0" in content:
        return base
    older = tuple(older_versions(objects, tip, path))
    on_branch = frozenset(map(objects.blob_id, older))
    typed = typed_versions(objects, journal.typed.get(path, ()), on_branch.__contains__)
    nearest = nearest_first((base, *typed, *reversed(older)), content)
    closest = next(one for distance, one in nearest if distance > 0 or one is base)
    if closest is not base and is_own_step(objects, journal, path, (closest, content), base):
        return base
    return closest
