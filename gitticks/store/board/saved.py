"""What a person saved on the board and has not committed, together with the version that their edit began from."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from gitticks.errors import GitticksError
from gitticks.git.checkouts import Checkout, changed_paths
from gitticks.git.distances import changed_places, nearest_first
from gitticks.git.files import CheckoutFiles
from gitticks.git.folders import NotPlainError
from gitticks.git.follow import QUIET_SECONDS
from gitticks.git.locks import WAIT_SECONDS, hold_lock
from gitticks.git.objects import Objects
from gitticks.git.repository import Repository
from gitticks.store.board.journal import Journal, PendingKind, load_journal, save_journal, with_typed
from gitticks.store.board.older import older_versions, typed_versions
from gitticks.store.board.place import board_checkout, is_on_state_branch
from gitticks.store.board.report import errors_of_board
from gitticks.store.layout import task_of_path
from gitticks.store.merging.edit import merge_saved
from gitticks.store.tip import state_tip

LARGEST_BYTES = 10_000_000
"""What is larger is no task, and goes to everybody's clone only if a person says so."""

_LOOKS = 3
_MOST_SEEN = 16
_TICK_SECONDS = 0.01
"""As coarse as the times of files are on some kernels."""

_UPDATED = re.compile(rb"^updated: .*$", re.MULTILINE)
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
    What was seen is noted, so that what a person saves while it is taken up counts as their next edit. Takes the
    store's lock, and raises as `saved_edits` does.
    """
    checkout = board_checkout(repository)
    if checkout is None:
        return ()
    for looks_left in reversed(range(_LOOKS)):
        with _no_writer(repository) as is_locked, errors_of_board(_NOT_SEEN):
            journal = load_journal(repository)
            found = tuple(_edits(repository, checkout, journal, among))
            files = _files(repository, checkout)
            youngest = _youngest(files, (edit.path for edit in found if edit.is_plain))
            if not looks_left:
                found = tuple(_marked_young(files, edit) for edit in found)
            is_time = youngest is None or not looks_left
            # What a person edits of another branch, or of an old commit in a rebase, has nothing to do with this one.
            if is_time and is_locked and is_on_state_branch(checkout):
                joined = _joined(repository, files, found)
                kept = _with_settled(repository, journal, {edit.path for edit in found}, among)
                _note_seen(repository, _with_typed(repository, kept, found, joined), joined, among)
                found = joined
        if youngest is None or is_time:
            break
        time.sleep(QUIET_SECONDS - youngest)
    return found


def wait_until_quiet(repository: Repository, paths: Sequence[str]) -> bool:
    """Waits until nobody has just written one of these files of the board; False if none was that young."""
    checkout = board_checkout(repository) if paths else None
    youngest = None if checkout is None else _youngest(_files(repository, checkout), paths)
    if youngest is None:
        return False
    time.sleep(QUIET_SECONDS - youngest + _TICK_SECONDS)
    return True


def _marked_young(files: CheckoutFiles, edit: SavedEdit) -> SavedEdit:
    is_young = edit.is_plain and _youngest(files, (edit.path,)) is not None
    return replace(edit, is_young=True) if is_young else edit


def _youngest(files: CheckoutFiles, paths: Iterable[str]) -> float | None:
    """Returns the age of the file that was written last; None if all have been left alone for long enough."""
    ages = (files.age_seconds(path) for path in paths)
    return min((age for age in ages if age is not None and 0 <= age < QUIET_SECONDS), default=None)


def _joined(
    repository: Repository, files: CheckoutFiles, found: tuple[SavedEdit, ...]
) -> tuple[SavedEdit, ...]:
    """Joins what an editor saved that was open for long with what the branch has written since, in the file itself.

    Else the old lines around the edit would be an edit too, and take back what the editor never showed.
    """
    objects, tip = repository.objects, state_tip(repository)
    joined = []
    for edit in found:
        current = _blob(objects, tip, edit.path)
        is_free = not edit.is_young and not edit.is_conflict
        is_old = is_free and None not in (edit.base, edit.content, current)
        if is_old and edit.base != current:
            merged = merge_saved(edit.path, edit.base or b"", edit.content or b"", current or b"")
            if merged is None and _is_persons_own(edit.base or b"", current or b""):
                # A person changed once more what they had just written.
                edit = replace(edit, base=current)  # noqa: PLW2901
            elif merged is not None and files.replace(edit.path, edit.content, merged).is_done:
                edit = replace(edit, base=current, content=merged)  # noqa: PLW2901
        joined.append(edit)
    return tuple(joined)


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
    repository: Repository, journal: Journal, edited: Collection[str], among: Collection[str] | None
) -> Journal:
    """Notes what the branch has by now of that which was joined; of files that are like the branch, the rest goes."""
    objects, tip = repository.objects, state_tip(repository)
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
    return journal if kept == journal.typed else journal.changed(typed=kept)


def _note_seen(
    repository: Repository, journal: Journal, found: tuple[SavedEdit, ...], among: Collection[str] | None
) -> None:
    # As long as the board has not followed the branch, a file that is like it may still count from an older version.
    is_over = among is None and journal.base == state_tip(repository)
    seen = {} if is_over else dict(journal.seen)
    for edit in found:
        if edit.content is not None:
            blob = repository.objects.blob_id(edit.content)
            before = tuple(one for one in journal.seen.get(edit.path, ()) if one != blob)
            seen[edit.path] = (*before, blob)[-_MOST_SEEN:]
    if seen != journal.seen or journal.typed != load_journal(repository).typed:
        with contextlib.suppress(GitticksError, OSError):  # as on a full disk, where nothing is taken up
            save_journal(repository, journal.changed(seen=seen))


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
        return tuple(edit for edit in _edits(repository, checkout, load_journal(repository)) if edit.is_plain)


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
    repository: Repository, checkout: Checkout, journal: Journal, among: Collection[str] | None = None
) -> Iterator[SavedEdit]:
    objects = repository.objects
    tip = state_tip(repository)
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
                _closest(objects, journal, tip, path, (base, content)),
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


def _closest(
    objects: Objects, journal: Journal, tip: str, path: str, edit: tuple[bytes | None, bytes | None]
) -> bytes | None:
    """Returns the version that the edit began from: an older one where it is nearer, as an editor left open saves.

    A file that is exactly an older version was put back on purpose. Of older ones that are as near, the oldest counts: by
    it what came later stays, and by the others an editor that never showed it would have taken it back. What the editor
    itself saved before goes before them all. A line that a person has just saved and now saves otherwise is one change
    of what they saw, though the version without the line is nearer.
    """
    base, content = edit
    if base is None or content is None or b"\0" in content:
        return base
    older = tuple(older_versions(objects, tip, path))
    on_branch = frozenset(map(objects.blob_id, older))
    typed = typed_versions(objects, journal.typed.get(path, ()), on_branch.__contains__)
    nearest = nearest_first((base, *typed, *reversed(older)), content)
    closest = next(one for distance, one in nearest if distance > 0 or one is base)
    if _is_persons_own(closest, base) and changed_places(base, content) <= changed_places(closest, content):
        return base
    return closest


def shows_older(content: bytes, branch: bytes) -> bool:
    """True if an editor saved a task that gitticks has written since, by the time that all writers set."""
    return not _is_persons_own(content, branch)


def _is_persons_own(old: bytes, new: bytes) -> bool:
    """True if nothing of ours came in between, by the time that all writers but people on the board set."""
    return _UPDATED.findall(old)[:1] == _UPDATED.findall(new)[:1]
