"""`gt worktree gc`: removes what is no longer needed in the clone, and reports its size."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from gitticks.actions.context import Context
from gitticks.actions.workspaces import list_worktrees
from gitticks.errors import GitticksError
from gitticks.git.merges.asides import left_asides, sweep_asides
from gitticks.git.process import run_git
from gitticks.runner import workspace_removal
from gitticks.runner.liveness import live_tasks
from gitticks.runner.partial_work import rescued_ref
from gitticks.runner.removed_workspaces import delete, list_removed
from gitticks.runner.review_checkouts import FOLDER, remove_review_checkout


class Leftover(NamedTuple):
    """One thing that nobody needs: what it is, its name, how many bytes it takes, and why it stays if it does."""

    kind: str
    name: str
    size_bytes: int
    problem: str | None = None


class _Found(NamedTuple):
    leftover: Leftover
    remove: Callable[[], object]


def collect_leftovers(context: Context, *, dry_run: bool = False) -> list[Leftover]:
    """Removes what nobody needs any more and returns it.

    That is workspaces of closed tasks, checkouts of dead reviews and merges, transcripts older than
    `keep.transcripts`, and rescued work older than `keep.rescued`. A workspace with uncommitted work stays.
    """
    context.require_person("remove what is left over")
    return [one.leftover if dry_run else _remove(one) for one in _find(context)]


def _remove(found: _Found) -> Leftover:
    try:
        found.remove()
    except (GitticksError, OSError) as error:
        return found.leftover._replace(problem=str(error))
    return found.leftover


def _find(context: Context) -> Iterator[_Found]:
    repository = context.repository
    for state in list_worktrees(context):
        if not state.is_needed:
            path = state.workspace.path
            yield _Found(
                Leftover("workspace", state.workspace.name, size_of(path)),
                partial(workspace_removal.remove, repository, path),
            )
    for path in list_removed(repository, context.settings):
        yield _Found(Leftover("workspace", path.name, size_of(path)), partial(delete, path))
    yield from _reviews(context)
    if asides := left_asides(repository):
        size = sum(map(size_of, asides))
        yield _Found(Leftover("merge", asides[0].parent.name, size), partial(sweep_asides, repository))
    yield from _transcripts(context)
    yield from _rescued(context)


def _reviews(context: Context) -> Iterator[_Found]:
    project = context.repository.project_dir
    folder = None if project is None else project / context.settings.workspace.dir / FOLDER
    if folder is None or not folder.is_dir():
        return
    live = live_tasks(context.repository.own_place)
    for path in sorted(folder.iterdir()):
        if path.name.partition(".")[0] not in live:
            yield _Found(
                Leftover("review", path.name, size_of(path)),
                partial(remove_review_checkout, context.repository, path),
            )


def _transcripts(context: Context) -> Iterator[_Found]:
    oldest = context.now.timestamp() - context.settings.keep.transcripts
    live = live_tasks(context.repository.own_place)
    for path in sorted((context.repository.own_dir / "transcripts").glob("*/*.log")):
        found = path.lstat()
        if found.st_mtime < oldest and path.parent.name not in live:
            name = f"{path.parent.name}/{path.name}"
            yield _Found(Leftover("transcript", name, found.st_size), path.unlink)


def _rescued(context: Context) -> Iterator[_Found]:
    common = context.repository.common_dir
    folder = rescued_ref("")
    asked = ["for-each-ref", "--format=%(objectname) %(committerdate:unix) %(refname)", folder]
    for line in run_git(asked, repository_dir=common).text.splitlines():
        commit, at, ref = line.split(" ", 2)
        kept = context.now - datetime.fromtimestamp(int(at or 0), UTC)
        if kept.total_seconds() > context.settings.keep.rescued:
            yield _Found(
                Leftover("rescued", f"{ref.removeprefix(folder)} ({commit[:10]})", 0),
                partial(run_git, ["update-ref", "-d", ref, commit], repository_dir=common),
            )


def size_of(path: Path) -> int:
    """Returns how many bytes the files in a folder take, links not followed."""
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            try:
                total += Path(folder, name).lstat().st_size
            except FileNotFoundError:
                continue
    return total


def open_shell(context: Context, path: Path) -> None:
    """Starts the person's shell in a folder, and waits for its end."""
    import subprocess

    context.require_person("open a shell")
    shell = context.world.environment.get("SHELL") or "/bin/sh"
    if shutil.which(shell) is None:
        raise GitticksError(f"there is no shell `{shell}`", hint=f"`cd {path}`")
    subprocess.run([shell], cwd=path, check=False)
