"""What was saved on the board but not committed, with the version that the edit started from."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

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
from gitticks.board.judge_edit import IS_TASK_FILE, SavedEdit, id_inside
from gitticks.board.older import Versions
from gitticks.board.place import board_checkout, errors_of_board, is_on_state_branch
from gitticks.board.skip_reasons import LARGEST_BYTES
from gitticks.errors import GitticksError
from gitticks.git.checkouts import Checkout, changed_paths
from gitticks.git.config import read_config
from gitticks.git.files import CheckoutFiles, NotPlainError
from gitticks.git.follow import EXECUTABLE, PLAIN, QUIET_SECONDS, conflict_entries
from gitticks.git.indexfile import IndexEntry, hold_index_lock, index_ready
from gitticks.git.locks import WAIT_SECONDS, hold_lock_if_possible
from gitticks.git.repository import Repository
from gitticks.git.staged import is_sequencing
from gitticks.model.ids import task_folder, task_path
from gitticks.store.layout import state_tip, task_of_path

_LOOKS = 3
_TICK_SECONDS = 0.01
"""As coarse as the times of files are on some kernels."""

_NOT_SEEN = "it cannot be determined what was saved on the board"


def edits_to_take_up(repository: Repository, among: Collection[str] | None = None) -> tuple[SavedEdit, ...]:
    """Returns every uncommitted edit, sorted by path, after whoever is saving at this moment is done with it.

    Where paths are given, only edits `among` them and below them are looked for. Files that are none are found too.
    What was seen is noted, so that what a person saves while it is applied counts as their next edit, and what the
    branch has changed at the same place is put in conflict. Takes the store's lock, and raises as `saved_edits` does.
    """
    checkout = board_checkout(repository)
    if checkout is None:
        return ()
    lock = repository.own_file("lock")
    for looks_left in reversed(range(_LOOKS)):
        with hold_lock_if_possible(lock) as is_locked, errors_of_board(_NOT_SEEN):
            look = _Look(repository, checkout, among)
            found = tuple(look.edits())
            missing = max((edit.rest_seconds for edit in found), default=0.0)
            is_time = not missing or not looks_left
            # What a person edits of another branch, or of an old commit in a rebase, has nothing to do with this one.
            # What a merge left that waits is no edit.
            is_of_branch = is_on_state_branch(checkout) and not is_sequencing(checkout.git_dir)
            if is_time and is_locked and is_of_branch:
                found = look.bring_together(found)
        if is_time:
            break
        time.sleep(missing)
    return found


def saved_edits(repository: Repository, *, wait_seconds: float = WAIT_SECONDS) -> tuple[SavedEdit, ...]:
    """Returns every uncommitted edit, sorted by path; none if there is no board.

    What is pending counts from the version it was pending at. Takes the store's lock, so it must not be called within
    a transaction: between two looks without it, a file that a writer has just brought in step looks like an edit.
    After `wait_seconds` it looks all the same.
    """
    checkout = board_checkout(repository)
    if checkout is None:
        return ()
    lock = repository.own_file("lock")
    with hold_lock_if_possible(lock, wait_seconds=wait_seconds), errors_of_board(_NOT_SEEN):
        found = _Look(repository, checkout).edits()
        # Nothing is applied here, so it does not matter whether somebody is saving it.
        return tuple(replace(edit, rest_seconds=0.0) for edit in found)


def wait_until_quiet(repository: Repository, paths: Sequence[str]) -> bool:
    """Waits until nobody has just written one of these files of the board; False if none was that young."""
    checkout = board_checkout(repository) if paths else None
    missing = 0.0
    if checkout is not None:
        files = CheckoutFiles.at(checkout.path, repository.own_dir, "board")
        missing = max(files.seconds_to_rest(path, QUIET_SECONDS) for path in paths)
    if missing:
        time.sleep(missing + _TICK_SECONDS)
    return missing > 0


def renamed_folders(edits: Iterable[SavedEdit]) -> Mapping[str, str]:
    """Returns the folders of tasks that were renamed on the board: where each belongs, by where it is now.

    Such a folder's TASK.md names a task whose own is gone.
    """
    found = tuple(edits)
    gone = {edit.path for edit in found if edit.is_gone}
    renamed = {}
    for edit in found:
        if edit.content is None or IS_TASK_FILE(edit.path) is None:
            continue
        task_id = id_inside(edit.content)
        if task_id not in (None, task_of_path(edit.path)) and task_path(task_id) in gone:
            renamed[edit.path.rpartition("/")[0]] = task_folder(task_id)
    return renamed


class _Look:
    """One look at what is saved on the board, at some of its files or at all; taken with the store's lock held."""

    def __init__(
        self, repository: Repository, checkout: Checkout, among: Collection[str] | None = None
    ) -> None:
        self.checkout, self.among = checkout, among
        self.files = CheckoutFiles.at(checkout.path, repository.own_dir, "board")
        self._repository, self._objects = repository, repository.objects
        # Git waits for no lock of ours: a commit on the board may move the branch at any time. What it was joined with
        # its hook notes before, so a journal that is read after the tip knows it.
        self._tip = state_tip(repository)
        self._journal = load_journal(repository)
        self._versions = Versions(self._objects, self._journal, self._tip)

    def edits(self) -> Iterator[SavedEdit]:
        """Yields the files that are not as the branch has them, nor as it had them when they were last in step."""
        changes = changed_paths(self.checkout, self.among)
        for path in sorted({*changes.changed, *changes.untracked}):
            if task_of_path(path) is None and (self.files.size_bytes(path) or 0) > LARGEST_BYTES:
                yield SavedEdit(path, None, None, is_large=True)
                continue
            try:
                content = self.files.read(path)
                rest_seconds = self.files.seconds_to_rest(path, QUIET_SECONDS, content)
            except NotPlainError:
                yield SavedEdit(path, self._on_branch(path.rstrip("/")), None, is_plain=False)
                continue
            pending = self._journal.pending.get(path)
            base = self._base(path, pending)
            if content in (base, self._on_branch(path)):
                continue
            is_resolved = pending is not None and pending.kind is PendingKind.RESOLVED
            if content is not None and base is not None and not is_resolved:
                base = self._versions.begun_from(path, base, content)
            is_conflict = pending is not None and pending.kind is PendingKind.CONFLICT
            yield SavedEdit(
                path,
                base,
                content,
                is_conflict,
                is_executable=self.files.is_executable(path) and self._has_modes(),
                rest_seconds=rest_seconds,
            )

    def bring_together(self, found: Sequence[SavedEdit]) -> tuple[SavedEdit, ...]:
        """Joins edits with what the branch has written since, and notes what was seen and what was made."""
        edits = tuple(map(self._joined, found))
        noted = self._noted(found, edits)
        with contextlib.suppress(GitticksError, OSError):  # as on a full disk, where nothing is applied
            noted = self._with_conflicts(noted, edits)
            if noted != self._journal:
                save_journal(self._repository, noted)
        return edits

    def _has_modes(self) -> bool:
        """False on a file system where every file looks as if it may be run, so that git takes no notice of it."""
        return read_config(self._repository, r"^core\.filemode$").get("core.filemode") != "false"

    def _base(self, path: str, pending: Pending | None) -> bytes | None:
        if pending is not None:
            return None if pending.base is None else self._objects.read_blob(pending.base)
        return self._on_branch(path, self._journal.base)

    def _on_branch(self, path: str, commit: str | None = None) -> bytes | None:
        blob = self._objects.find_file(self._objects.tree_of(commit or self._tip), path)
        return None if blob is None else self._objects.read_blob(blob)

    def _joined(self, edit: SavedEdit) -> SavedEdit:
        """Joins what an editor saved that was open for long with what the branch has written since, in the file itself.

        Else the old lines around the edit would be an edit too, and take back what the editor never showed.
        """
        base, content, current = edit.base, edit.content, self._on_branch(edit.path)
        is_settled = edit.is_young or edit.is_conflict or base == current
        if is_settled or base is None or content is None or current is None:
            return edit
        merged = self._versions.joined(edit.path, base, content, current)
        if merged is None:
            return replace(edit, is_conflict=True)
        if merged == content or self.files.replace(edit.path, content, merged).is_done:
            return replace(edit, base=current, content=merged)
        return edit

    def _noted(self, found: Sequence[SavedEdit], edits: Sequence[SavedEdit]) -> Journal:
        """Returns the journal with what was seen, and with what editors had saved of files that were joined."""
        write, blob_id = self._objects.write_blob, self._objects.blob_id
        joins = {
            before.path: (write(before.content), blob_id(after.content))
            for before, after in zip(found, edits, strict=True)
            if before.content is not None and after.content is not None and before.content != after.content
        }
        noted = with_typed(self._with_settled({edit.path for edit in found}), joins)
        # As long as the board has not followed the branch, a file that is like it may still count from an older version.
        is_over = self.among is None and noted.base == self._tip
        blobs = {edit.path: blob_id(edit.content) for edit in edits if edit.content is not None}
        made = {joined for pairs in noted.typed.values() for typed, joined in pairs if typed != joined}
        own = {path: blob for path, blob in blobs.items() if blob not in made}
        return with_own(with_seen(noted, blobs, is_over=is_over), own)

    def _with_settled(self, edited: Collection[str]) -> Journal:
        """Notes what the branch has by now of what was joined; of files that are like the branch, the rest goes."""
        kept = dict(self._journal.typed)
        for path, joins in self._journal.typed.items():
            is_like_branch = path not in edited and path not in self._journal.pending
            is_looked_at = self.among is None or path in self.among
            if is_looked_at and is_like_branch and any(typed != joined for typed, joined in joins):
                typed = map(self._objects.blob_id, self._versions.typed(path))
                kept[path] = tuple((blob, blob) for blob in reversed(tuple(typed)))
        return self._journal if kept == self._journal.typed else self._journal._replace(typed=kept)

    def _with_conflicts(self, journal: Journal, edits: Sequence[SavedEdit]) -> Journal:
        """Puts edits in conflict that exclude what the branch has, for git too; not while git has the index."""
        git_dir = self.checkout.git_dir
        index = git_dir / "index"
        pending = dict(journal.pending)
        entries: dict[str, tuple[IndexEntry, ...]] = {}
        for edit in edits:
            before = journal.pending.get(edit.path)
            if not edit.is_conflict or (before is not None and before.kind is PendingKind.CONFLICT):
                continue
            versions = (edit.base, self._on_branch(edit.path), edit.content)
            blobs = [None if one is None else self._objects.write_blob(one) for one in versions]
            pending[edit.path] = Pending(PendingKind.CONFLICT, blobs[0], blobs[1])
            is_executable = self._objects.is_executable(self._objects.tree_of(self._tip), edit.path)
            mode = EXECUTABLE if is_executable else PLAIN
            entries[edit.path] = conflict_entries(edit.path, blobs, mode)
        if not entries:
            return journal
        with index_ready(git_dir, entries, self._tip) as aside:
            mark = mark_of(index)
            with hold_index_lock(git_dir, wait_seconds=0) as is_held:
                if not is_held or mark != mark_of(index):
                    return journal
                aside.replace(index)
        is_untouched = mark == journal.index_mark
        return journal._replace(
            pending=pending, index_mark=mark_of(index) if is_untouched else journal.index_mark
        )
