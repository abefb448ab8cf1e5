"""Keeps uncommitted work under a ref: what a task leaves in a shared workspace, and what a forced removal takes away."""

from __future__ import annotations

import os
from typing import NamedTuple

from gitticks.errors import GitticksError
from gitticks.git.checkouts import Checkout
from gitticks.git.follow import merge_text
from gitticks.git.process import run_git
from gitticks.git.refs import nothing_like, read_ref
from gitticks.git.repository import Repository
from gitticks.git.snapshots import (
    Snapshot,
    blobs_at,
    discard,
    first_parent,
    kept_files,
    put_file,
    read_kept,
    store_snapshot,
    take_snapshot,
)
from gitticks.git.worktrees import worktrees_lock
from gitticks.model.ids import TaskId
from gitticks.runner.workspace_plan import OWN_FOLDERS, shown_paths


def partial_ref(task_id: TaskId) -> str:
    """Returns the ref of a task's partial work."""
    return f"refs/gitticks/partial/{task_id}"


def rescued_ref(name: str) -> str:
    """Returns the ref of what was uncommitted in a workspace that was removed by force."""
    return f"refs/gitticks/rescued/{name}"


class Restored(NamedTuple):
    """What came back: the paths, and those that conflict with what was done since; then nothing was written."""

    paths: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()


def keep(
    repository: Repository,
    checkout: Checkout,
    ref: str,
    message: str,
    *,
    clear: bool = False,
    even_if_empty: bool = False,
    also: tuple[str, ...] = (),
) -> None:
    """Keeps what is uncommitted under `ref`, as a commit on HEAD; with `clear` it is taken out of the checkout then.

    What the ref held before becomes another parent, and so do the commits `also`. With `even_if_empty` HEAD alone is
    kept too.

    Raises:
        GitticksError: something there cannot be kept, such as another repository; nothing was changed.
    """
    snapshot = take_snapshot(checkout, OWN_FOLDERS)
    require_keepable(checkout, snapshot)
    if not snapshot.files and not even_if_empty:
        return
    # The reviewers of a council may all leave something under one ref, at once.
    with worktrees_lock(repository):
        before = read_ref(repository.common_dir, ref)
        commit = store_snapshot(checkout, snapshot, message, [*([before] if before else []), *also])
        move = ["update-ref", "-m", "gitticks: keep", ref, commit, before or nothing_like(commit)]
        run_git(["-c", "core.fsync=all", *move], repository_dir=repository.common_dir)
    if clear:
        discard(checkout, snapshot)


def require_keepable(checkout: Checkout, snapshot: Snapshot) -> None:
    """Refuses to go on where something that is uncommitted fits into no commit, such as another repository."""
    if snapshot.left_out:
        raise GitticksError(
            f"{shown_paths(snapshot.left_out)} in `{checkout.path}` cannot be kept in a commit",
            hint="commit it there, or move it away",
        )


def restore(repository: Repository, checkout: Checkout, ref: str) -> Restored:
    """Puts kept work back, merged with what was committed since, and drops the ref; all of it or nothing.

    Where something else is uncommitted already, it is left alone, and so is the ref.
    """
    commit = read_ref(repository.common_dir, ref)
    if commit is None:
        return Restored()
    restored = put_back(checkout, commit)
    if not restored.conflicts:
        run_git(["update-ref", "-d", ref, commit], repository_dir=repository.common_dir)
    return restored


def put_back(checkout: Checkout, commit: str) -> Restored:
    """Puts the work that a commit keeps back, merged with what was committed since; all of it or nothing.

    Where something else is uncommitted already, it is left alone.
    """
    files = kept_files(checkout, commit)
    present = take_snapshot(checkout, OWN_FOLDERS)
    if present.files or present.left_out:
        if dict(present.files) != files:
            return Restored(conflicts=tuple(sorted({*present.files, *present.left_out})))
        return Restored(paths=tuple(sorted(files)))
    now = blobs_at(checkout.git_dir, "HEAD", files)
    then = blobs_at(checkout.git_dir, first_parent(checkout, commit), files)
    wanted: dict[str, tuple[str, bytes | None]] = {}
    conflicts = []
    for path, kept in files.items():
        content = None if kept.blob is None else read_kept(checkout, kept.blob)
        if now.get(path) == then.get(path):
            wanted[path] = (kept.mode, content)
            continue
        merged = _merged(checkout, path, (then.get(path), now.get(path)), content)
        if merged is None:
            conflicts.append(path)
        else:
            wanted[path] = (kept.mode, merged)
    in_the_way = [path for path in wanted if path not in now and os.path.lexists(checkout.path / path)]
    if conflicts or in_the_way:
        return Restored(conflicts=tuple(sorted({*conflicts, *in_the_way})))
    for path, (mode, content) in wanted.items():
        put_file(checkout, path, mode, content)
    return Restored(paths=tuple(sorted(wanted)))


def _merged(
    checkout: Checkout, path: str, blobs: tuple[str | None, str | None], content: bytes | None
) -> bytes | None:
    then, now = blobs
    if now is None or content is None:
        return None
    if then is None:
        return content if read_kept(checkout, now) == content else None
    return merge_text(path, read_kept(checkout, then), read_kept(checkout, now), content)
