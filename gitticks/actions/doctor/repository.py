"""Checks the repository and the state branch for lost objects, with the command that recovers them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from shlex import quote

from gitticks.actions.context import Context
from gitticks.actions.doctor.finding import Finding, Repair, Severity
from gitticks.board import board_path
from gitticks.errors import GitticksError
from gitticks.git.files import CheckoutFiles
from gitticks.git.maintenance import count_loose_objects, find_damage
from gitticks.git.object_places import alternates
from gitticks.git.objects import Objects
from gitticks.git.objects.loose_files import read_loose
from gitticks.git.refs import logged, read_ref
from gitticks.git.repository import Repository
from gitticks.model.ids import BOARD_FOLDER, TaskId
from gitticks.store import layout
from gitticks.store.impossible_paths import find_impossible
from gitticks.store.tip import state_tip

_FETCH = f"`git fetch --refetch <remote> {layout.STATE_BRANCH}` restores it from a clone that has it"
_MOST_SHOWN = 20
_MANY_LOOSE_OBJECTS = 7000
"""About where git itself would begin to pack, were it asked after each commit."""


def check_kind(context: Context) -> Iterator[Finding]:
    """Yields what is unusual about the repository."""
    repository = context.repository
    if repository.project_dir is None:
        yield Finding(
            Severity.NOTE, "the repository is bare: tasks can be read and changed, but there is no board"
        )
    elif repository.is_linked:
        yield Finding(Severity.NOTE, f"this is a linked worktree of `{repository.project_dir}`")
    if (repository.common_dir / "shallow").is_file():
        yield Finding(
            Severity.NOTE,
            "the clone is shallow: work merged before its oldest commit looks like new work",
            "`git fetch --unshallow` fetches the rest",
        )
    for folder in alternates(repository):
        if folder.is_dir():
            what = f"objects are borrowed from `{folder}`: if it is deleted, they are lost"
            yield Finding(Severity.NOTE, what, "`git repack -a -d` makes them this repository's own")
        else:
            yield Finding(
                Severity.ERROR,
                f"objects are borrowed from `{folder}`, which does not exist",
                f"restore that folder, or remove its line from `{repository.common_dir}/objects/info/alternates`",
            )


def check_paths(context: Context) -> Iterator[Finding]:
    """Yields an error for each path on the state branch that no checkout can hold, so that git fills no board."""
    if not has_state(context):
        return
    for one in find_impossible(context.store.objects, None, state_tip(context.repository)):
        fix = f"`gt doctor --fix` removes it; `{one.look}` shows it"
        yield Finding(Severity.ERROR, one.words, fix, Repair.PATHS, commit=one.commit)


def check_loose_objects(context: Context) -> Iterator[Finding]:
    """Yields a warning if so many objects lie about singly that git gets slow."""
    loose = count_loose_objects(context.repository)
    if loose.count > _MANY_LOOSE_OBJECTS:
        yield Finding(
            Severity.WARNING,
            f"{loose.count} loose objects, {loose.kibibytes // 1024} MB, slow git down",
            "`git maintenance run` packs them",
        )


def can_be_read(context: Context, commit: str) -> bool:
    """True for a commit whose tree is known."""
    try:
        context.store.objects.tree_of(commit)
    except GitticksError:
        return False
    return True


def has_state(context: Context) -> bool:
    """True if the state branch stands at a commit; where that cannot be read, the check for damage says so."""
    tip = read_ref(context.repository.common_dir, layout.STATE_REF)
    return tip is not None and can_be_read(context, tip)


@dataclass(frozen=True, slots=True)
class Damaged:
    """A file or folder of the state branch whose object is missing or damaged; `path` is empty for the top."""

    path: str
    object_id: str
    is_tree: bool
    reason: str


def check_damage(context: Context, *, full: bool) -> Iterator[Finding]:
    """Yields an error for each object of the state branch that is missing or damaged."""
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
        yield Finding(
            Severity.ERROR,
            f"{BOARD_FOLDER}/{one.path} is damaged on the state branch: {one.reason}",
            _way_back(context, one),
            task=_task_of(one.path),
        )
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


def _way_back(context: Context, one: Damaged) -> str:
    """Returns how an object comes back: from the board's file if that is still the same, else from another clone."""
    if one.is_tree or not _is_on_board(context, one):
        return _aside(context.repository, one.object_id) + _FETCH
    aside = _move_aside(context.repository, one.object_id)
    store = f"git -C {BOARD_FOLDER} hash-object -w --no-filters {quote(one.path)}"
    return f"`{f'{aside} && ' if aside else ''}{store}` stores it again"


def _is_on_board(context: Context, one: Damaged) -> bool:
    board = board_path(context.repository)
    if board is None:
        return False
    with contextlib.suppress(GitticksError, OSError):
        content = CheckoutFiles.at(board, context.repository.own_dir, "board").read(one.path)
        return content is not None and context.store.objects.blob_id(content) == one.object_id
    return False


def _no_commit(repository: Repository, objects: Objects, tip: str, error: GitticksError) -> Finding:
    what = f"`{layout.STATE_REF}` points to no commit that can be read: {error.message}"
    for older in logged(repository.common_dir, layout.STATE_REF):
        if older != tip and _is_whole(objects, older):
            aside = _move_aside(repository, tip)
            back = f"{aside} && git update-ref" if aside else "git update-ref"
            fix = f"`{back} {layout.STATE_REF} {older}` goes back to the newest complete commit"
            return Finding(Severity.ERROR, what, fix, commit=tip)
    return Finding(Severity.ERROR, what, _FETCH, commit=tip)


def _is_whole(objects: Objects, commit: str) -> bool:
    try:
        return next(damaged_entries(objects, objects.tree_of(commit)), None) is None
    except GitticksError:
        return False


def _task_of(path: str) -> TaskId | None:
    match path.split("/"):
        case [layout.TASKS_FOLDER, between, name, *_] if layout.is_task_folder(between, name):
            return TaskId(name)
    return None


def _aside(repository: Repository, object_id: str | None) -> str:
    """Returns the beginning of a fix that puts a damaged file out of git's way; empty where there is no file."""
    command = None if object_id is None else _move_aside(repository, object_id)
    return f"`{command}`, then " if command else ""


def _move_aside(repository: Repository, object_id: str) -> str | None:
    """Returns the command that moves a damaged file away; None where there is none, or the object in it is sound."""
    try:
        read_loose(repository.common_dir / "objects", object_id)
    except (ValueError, OSError):
        file = repository.common_dir / "objects" / object_id[:2] / object_id[2:]
        return f"mv {quote(str(file))} {quote(f'{file}.damaged')}"
    return None
