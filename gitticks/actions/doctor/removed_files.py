"""Puts back on the board what a person removed or renamed there, and what nobody can take up: files of tasks.

Nothing is written over: what stands in a file's place by now stays, and so does what cannot be moved.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from gitticks.actions.context import Context
from gitticks.actions.moved_folders import renamed_folders
from gitticks.git.checkouts import Checkout
from gitticks.git.disk import move_to_free_place
from gitticks.git.files import CheckoutFiles
from gitticks.git.folders import NotPlainError
from gitticks.store.board import WORKTREE_BOARD, board_checkout
from gitticks.store.board.saved import SavedEdit, saved_edits
from gitticks.store.layout import HISTORY_FILE, TASK_FILE, task_around


def is_never_removed(path: str) -> bool:
    """True for the files of which a task consists; whoever wants a task gone cancels it."""
    return task_around(path) is not None and path.split("/")[3:] in ([TASK_FILE], [HISTORY_FILE])


def put_back_removed(context: Context) -> None:
    """Moves renamed folders of tasks back, and writes the files of tasks that are gone as the branch has them.

    Raises:
        GitticksError: the board is damaged.
    """
    checkout = board_checkout(context.repository)
    if checkout is None:
        return
    for wrong, home in renamed_folders(saved_edits(context.repository)).items():
        _move_files(checkout.path / wrong, checkout.path / home)
    _write_gone(context, checkout, saved_edits(context.repository))
    WORKTREE_BOARD.bring_in_step(context.repository)


def _move_files(wrong: Path, home: Path) -> None:
    for file in _files_below(wrong):
        target = home / file.relative_to(wrong)
        target.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            move_to_free_place(file, str(target))
    for folder in sorted((one for one in wrong.rglob("*") if _is_folder(one)), reverse=True):
        with contextlib.suppress(OSError):
            folder.rmdir()
    with contextlib.suppress(OSError):  # something stays in it
        wrong.rmdir()


def _files_below(folder: Path) -> Iterator[Path]:
    yield from sorted(one for one in folder.rglob("*") if not _is_folder(one))


def _is_folder(place: Path) -> bool:
    return place.is_dir() and not place.is_symlink()


def _write_gone(context: Context, checkout: Checkout, edits: Iterable[SavedEdit]) -> None:
    files = CheckoutFiles.at(checkout.path, context.repository.own_dir, "doctor")
    for edit in edits:
        content = context.store.read(edit.path) if edit.content is None else None
        if content is not None and is_never_removed(edit.path):
            with contextlib.suppress(NotPlainError):  # a link to elsewhere stands in the place of its folder
                files.replace(edit.path, None, content)
