"""What the board's hooks refuse where the board is not in step with the state branch."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.actions.hook_problem import Problem
from gitticks.actions.left_edits import BACK, on_board
from gitticks.git.staged import checked_out_ref, is_index_locked, staged_changes
from gitticks.store.layout import STATE_REF, task_of_path

if TYPE_CHECKING:
    from gitticks.store.board import Pending
    from gitticks.store.board.saved import SavedEdit

_AGAIN = "`git commit` again"


def check_step(context: Context) -> tuple[Problem, ...]:
    """Brings a board that lags behind in step, and refuses all the same: what is staged was made on something older.

    Single files that are older, as they were saved while the branch moved, are joined with it and staged anew.
    """
    from gitticks.store.board import WORKTREE_BOARD

    repository = context.repository
    if checked_out_ref(repository.git_dir) != STATE_REF:
        return ()  # as during a bisect: there is nothing to be in step with
    if _is_in_step(context):
        return ()
    if is_index_locked(repository.git_dir):
        lags = "the board lags behind the state branch"
        return _conflicts(context) or (Problem(".", lags, f"`gt status` brings it in step, then {_AGAIN}"),)
    WORKTREE_BOARD.bring_in_step(repository)
    conflicts = _conflicts(context)
    if conflicts:
        return conflicts
    return (Problem(".", "the board lagged behind the state branch and was synchronised", f"run {_AGAIN}"),)


def _is_in_step(context: Context) -> bool:
    """True if nothing of what is staged is older than the branch, some of it after it was joined with that."""
    from gitticks.store.board.journal import PendingKind, load_journal

    journal = load_journal(context.repository)
    if journal.base != context.store.tip():
        return False
    staged = {
        change.path: change.new
        for change in staged_changes(context.repository, context.world.environment)
        if change.new is not None and change.is_plain and not change.is_unmerged
    }
    behind = {path for path in staged if path in journal.pending or _is_older(context, path, staged[path])}
    joined = _join(context, {path: staged[path] for path in behind}) if behind else frozenset()
    return all(
        one.kind is PendingKind.DEFERRED and (path in joined or path not in staged)
        for path, one in journal.pending.items()
    )


def _is_older(context: Context, path: str, blob: str) -> bool:
    from gitticks.store.board.saved import shows_older

    current = context.store.read(path) if task_of_path(path) is not None else None
    return current is not None and shows_older(context.store.objects.read_blob(blob), current)


def _join(context: Context, staged: Mapping[str, str]) -> frozenset[str]:
    """Joins staged files that lie on the board as they are staged with the branch, there and in the index."""
    from gitticks.git.indexfile import INDEX, INDEX_LOCK, IndexEntry, write_entries
    from gitticks.git.indexlock import hold_index_lock
    from gitticks.git.settle import EXECUTABLE, PLAIN
    from gitticks.store.board.journal import load_journal
    from gitticks.store.board.saved import edits_to_take_up

    git_dir, store = context.repository.git_dir, context.store
    index = Path(context.world.environment.get("GIT_INDEX_FILE", INDEX)).name
    if index not in (INDEX, INDEX_LOCK):
        return frozenset()  # of a commit of some files, whose rest git keeps in another index
    journal = load_journal(context.repository)
    entries: dict[str, tuple[IndexEntry, ...]] = {}
    joined = set()
    for edit in edits_to_take_up(context.repository, tuple(staged)):
        if edit.content is None or edit.path not in staged or edit.base != store.read(edit.path):
            continue
        blob = store.objects.write_blob(edit.content)
        if blob == staged[edit.path]:
            if _holds_branch(context, journal.pending.get(edit.path), edit):
                joined.add(edit.path)
        elif (staged[edit.path], blob) in load_journal(context.repository).typed.get(edit.path, ()):
            mode = EXECUTABLE if edit.is_executable else PLAIN
            entries[edit.path] = (IndexEntry(edit.path, blob, mode=mode),)
    if not entries:
        return frozenset(joined)
    if index == INDEX_LOCK:
        write_entries(git_dir, entries, store.tip(), name=INDEX_LOCK)
        return frozenset({*joined, *entries})
    with hold_index_lock(git_dir) as is_held:
        if is_held:
            write_entries(git_dir, entries, store.tip())
    return frozenset({*joined, *entries} if is_held else joined)


def _holds_branch(context: Context, pending: Pending | None, edit: SavedEdit) -> bool:
    """True if an edit takes nothing back that the branch has changed since the file was pending."""
    from gitticks.store.merging.edit import merge_saved

    if pending is None:
        return True
    if pending.base is None or edit.content is None:
        return False
    base = context.store.objects.read_blob(pending.base)
    return merge_saved(edit.path, base, edit.content, edit.base or b"") == edit.content


def _conflicts(context: Context) -> tuple[Problem, ...]:
    """Returns the files that a person and the branch have changed at the same place."""
    from gitticks.store.board import PendingKind, board_path, pending

    board = board_path(context.repository) or context.directory
    found = [path for path, one in pending(context.repository).items() if one.kind is PendingKind.CONFLICT]
    return tuple(
        Problem(
            path,
            "your edit and the state branch exclude each other",
            f"join them, `{on_board('add', path)}`, then {_AGAIN}",
        )
        if os.path.lexists(board / path)
        else Problem(
            path, "is gone here and changed on the branch", f"`{on_board(BACK, path)}` brings it back"
        )
        for path in found
    )
