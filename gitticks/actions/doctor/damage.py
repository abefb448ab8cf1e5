"""Damage among the objects of the state branch: which files it hides, and what in this clone can bring them back.

The board and the index hold copies of most of what the branch holds. An object is named after its content, so whatever
gives the same name is the object itself.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.actions.doctor.finding import Finding, Repair, Severity
from gitticks.errors import GitticksError
from gitticks.model.ids import BOARD_FOLDER, TaskId
from gitticks.store import layout
from gitticks.store.tip import state_tip

if TYPE_CHECKING:
    from gitticks.git.objects import Objects
    from gitticks.git.repository import Repository

_FETCH = f"`git fetch --refetch <remote> {layout.STATE_BRANCH}` brings it back from a clone that has it"
_MOST_SHOWN = 20
_DEEPEST = 5


@dataclass(frozen=True, slots=True)
class Damaged:
    """A file or folder of the state branch whose object is missing or damaged; `path` is empty for the top."""

    path: str
    object_id: str
    is_tree: bool
    reason: str


def check_damage(context: Context, *, full: bool) -> Iterator[Finding]:
    """Yields an error for each object of the state branch that is missing or damaged."""
    from gitticks.git.maintenance import find_damage

    tip, objects = state_tip(context.repository), context.store.objects
    try:
        tree = objects.tree_of(tip)
    except GitticksError as error:
        yield _no_commit(context.repository, objects, tip, error)
        return
    found = find_damage(context.repository, tip, thorough=full)
    if found is None:
        return
    damaged = list(damaged_entries(objects, tree))
    for one in damaged[:_MOST_SHOWN]:
        yield _finding(context, one, "`gt doctor --full --fix`" if full else "`gt doctor --fix`")
    if len(damaged) > _MOST_SHOWN:
        yield Finding(
            Severity.ERROR, f"{len(damaged) - _MOST_SHOWN} more files of the state branch are damaged"
        )
    if not damaged:
        what = f"the older history of the state branch is damaged: {found.reason}"
        yield Finding(Severity.WARNING, what, _aside(context.repository, found.object_id) + _FETCH)


def damaged_entries(objects: Objects, tree: str, path: str = "") -> Iterator[Damaged]:
    """Yields what cannot be read below a tree; nothing below a folder that cannot be read itself."""
    try:
        entries = objects.entries(tree)
    except GitticksError as error:
        yield Damaged(path, tree, is_tree=True, reason=error.message)
        return
    for entry in entries:
        inner = f"{path}/{entry.name}" if path else entry.name
        if entry.is_tree:
            yield from damaged_entries(objects, entry.object_id, inner)
        elif entry.is_file:
            try:
                objects.read_blob(entry.object_id)
            except GitticksError as error:
                yield Damaged(inner, entry.object_id, is_tree=False, reason=error.message)


def restore_objects(context: Context) -> None:
    """Stores again every damaged object that the board or the index still has; the damaged files are put aside."""
    objects = context.store.objects
    tree = objects.tree_of(state_tip(context.repository))
    for _ in range(_DEEPEST):  # behind a folder that is back others may come to light
        restored = [_restore(context, one) for one in damaged_entries(objects, tree)]
        if not any(restored):
            return


def _restore(context: Context, one: Damaged) -> bool:
    """Stores one object again if there is a copy of it, and returns whether there was."""
    if not one.is_tree:
        content = _copy(context, one)
        if content is not None:
            _put_aside(context.repository, one.object_id)
            context.store.objects.write_blob(content)
        return content is not None
    with _tree_of_board(context, one.path) as tree:
        if tree is None or tree[0] != one.object_id:
            return False
        _put_aside(context.repository, one.object_id)
        file = _loose_file(context.repository, one.object_id)
        file.parent.mkdir(exist_ok=True)
        tree[1].rename(file)
        return True


def _finding(context: Context, one: Damaged, fix: str) -> Finding:
    what = f"{BOARD_FOLDER}/{one.path} is damaged on the state branch: {one.reason}"
    if _can_be_restored(context, one):
        return Finding(Severity.ERROR, what, fix, Repair.OBJECTS, task=_task_of(one.path))
    mend = _aside(context.repository, one.object_id) + _FETCH
    return Finding(Severity.ERROR, what, mend, task=_task_of(one.path))


def _no_commit(repository: Repository, objects: Objects, tip: str, error: GitticksError) -> Finding:
    from gitticks.git.refs import logged

    what = f"`{layout.STATE_REF}` stands at no commit that can be read: {error.message}"
    for older in logged(repository.common_dir, layout.STATE_REF):
        if older != tip and _is_whole(objects, older):
            aside = _move_aside(repository, tip)
            back = f"{aside} && git update-ref" if aside else "git update-ref"
            mend = f"`{back} {layout.STATE_REF} {older}` goes back to the newest commit that is whole"
            return Finding(Severity.ERROR, what, mend, commit=tip)
    return Finding(Severity.ERROR, what, _FETCH, commit=tip)


def _is_whole(objects: Objects, commit: str) -> bool:
    try:
        return next(damaged_entries(objects, objects.tree_of(commit)), None) is None
    except GitticksError:
        return False


def _can_be_restored(context: Context, one: Damaged) -> bool:
    if one.is_tree:
        with _tree_of_board(context, one.path) as tree:
            return tree is not None and tree[0] == one.object_id
    return _copy(context, one) is not None


def _copy(context: Context, one: Damaged) -> bytes | None:
    """Returns the content of a damaged blob, if there is a copy of it."""
    copies = (*_copy_on_board(context, one.path), *_copy_in_index(context, one.path))
    return next((copy for copy in copies if context.store.objects.blob_id(copy) == one.object_id), None)


def _copy_on_board(context: Context, path: str) -> Iterator[bytes]:
    from gitticks.git.files import CheckoutFiles
    from gitticks.store.board import board_path

    board = board_path(context.repository)
    if board is not None:
        with contextlib.suppress(GitticksError, OSError):
            content = CheckoutFiles.at(board, context.repository.own_dir, "board").read(path)
            if content is not None:
                yield content


def _copy_in_index(context: Context, path: str) -> Iterator[bytes]:
    from gitticks.store.index_database import connect, index_path

    task = _task_of(path)
    file = index_path(context.repository)
    if task is None or not file.is_file():
        return
    with contextlib.suppress(sqlite3.Error), contextlib.closing(connect(file)) as connection:
        for row in connection.execute("SELECT data, history FROM file WHERE id = ?", (task,)):
            yield from (bytes(value) for value in row if isinstance(value, bytes))


@contextlib.contextmanager
def _tree_of_board(context: Context, path: str) -> Iterator[tuple[str, Path] | None]:
    """Gives the id of the tree that the board's index has for a folder, and the file that holds it while the block runs.

    It is made where no object is yet, by way of an index without git's notes of what it has written before, since git
    would believe both.
    """
    from gitticks.git.process import run_git
    from gitticks.store.board import board_checkout

    checkout = board_checkout(context.repository)
    if checkout is None:
        yield None
        return
    with TemporaryDirectory(dir=context.repository.own_dir) as folder:
        aside = {"GIT_INDEX_FILE": f"{folder}/index", "GIT_OBJECT_DIRECTORY": folder}
        listed = run_git(["ls-files", "--stage", "-z"], repository_dir=checkout.git_dir, check=False).stdout
        made = None
        for asked in (
            ["update-index", "-z", "--index-info"],
            ["write-tree", "--missing-ok", *([f"--prefix={path}/"] if path else [])],
        ):
            made = run_git(
                asked, repository_dir=checkout.git_dir, input=listed, extra_environment=aside, check=False
            )
        name = made.text if made is not None and made.code == 0 else ""
        yield (name, Path(folder) / name[:2] / name[2:]) if name else None


def _task_of(path: str) -> TaskId | None:
    match path.split("/"):
        case [layout.TASKS_FOLDER, between, name, *_] if layout.is_task_folder(between, name):
            return TaskId(name)
    return None


def _loose_file(repository: Repository, object_id: str) -> Path:
    return repository.common_dir / "objects" / object_id[:2] / object_id[2:]


def _put_aside(repository: Repository, object_id: str) -> None:
    file = _loose_file(repository, object_id)
    if os.path.lexists(file):
        rescue = repository.own_dir / "rescue"
        rescue.mkdir(parents=True, exist_ok=True)
        file.rename(rescue / f"{time.time_ns()}-{object_id}")


def _aside(repository: Repository, object_id: str | None) -> str:
    """Returns the beginning of a mend that puts a damaged file out of git's way; empty where there is no file."""
    command = None if object_id is None else _move_aside(repository, object_id)
    return f"`{command}`, then " if command else ""


def _move_aside(repository: Repository, object_id: str) -> str | None:
    """Returns the command that moves a damaged file away; None where there is none, or the object in it is sound."""
    from gitticks.git.objects.loose_files import read_loose

    try:
        read_loose(repository.common_dir / "objects", object_id)
    except (ValueError, OSError):
        file = _loose_file(repository, object_id)
        return f"mv {quote(str(file))} {quote(f'{file}.damaged')}"
    return None
