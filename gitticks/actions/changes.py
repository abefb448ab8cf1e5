"""What a task's work changes and whether it merges cleanly, without touching anything."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from gitticks.errors import GitticksError
from gitticks.git.merges.commits import Conflict, merge_in_memory
from gitticks.git.merges.history import DiffSummary, diff_summary
from gitticks.git.process import TIME_LIMIT_SECONDS
from gitticks.git.refs import BRANCHES, is_object_id, read_ref
from gitticks.git.repository import Repository
from gitticks.model.ids import TaskId
from gitticks.model.task import Task
from gitticks.runner.needed_code import moved_tip
from gitticks.store.index import Index, graph_over
from gitticks.workflow.merging import left_epic

_SHORTEST_SECONDS = 0.05


class Changes(NamedTuple):
    """What a task's work changes; `conflicts` are paths, empty if it merges cleanly, None if nobody could tell.

    Nobody tells where the branch `has_new_commits`, which no verdict on what was handed off merges.
    Work on the branch of an epic has no base of its own. `outlook` is what a merge comes to in which nothing conflicts,
    None if nobody could tell.
    """

    summary: DiffSummary
    base: str | None
    conflicts: tuple[str, ...] | None
    has_new_commits: bool = False
    outlook: str | None = None


def outlook(task: Task, left: TaskId | None) -> str:
    """Returns what a merge comes to in which nothing conflicts; there is none with an epic that it `left`."""
    if left is not None:
        return f"no longer merged with its epic {left}: reject it to start over"
    epic = task.sharing_epic
    return f"merges cleanly into {task.base or ''}" if epic is None else f"merged with its epic {epic}"


def left_epic_in(index: Index, task: Task) -> TaskId | None:
    """Returns the epic on whose branch a task's work is, and with which it is merged no more; None if there is none."""
    return left_epic(task, graph_over(index).ancestors(task)) if task.sharing_epic else None


def span_of(
    repository: Repository, task: Task, *, timeout_seconds: float = TIME_LIMIT_SECONDS
) -> tuple[str, str] | None:
    """Returns the commits where a task's difference begins and ends; None if nothing was handed off."""
    if task.end_sha is None or task.start_sha is None:
        return None
    base = _base_commit(repository, task)
    fork = (
        repository.objects.merge_base(base, task.end_sha, timeout_seconds=timeout_seconds)
        if base and task.branch and not task.sharing_epic
        else None
    )
    # A merged head has itself as its merge base; then only the start tells what was done.
    begin = fork if fork is not None and fork != task.end_sha else task.start_sha
    return begin, task.end_sha


def _base_commit(repository: Repository, task: Task) -> str | None:
    return read_ref(repository.common_dir, f"{BRANCHES}{task.base}") if task.base else None


def _seconds_left(until: float) -> float:
    return max(_SHORTEST_SECONDS, until - time.monotonic())


def find_changes(
    repository: Repository,
    task: Task,
    until: float,
    *,
    with_conflicts: bool,
    left: TaskId | None = None,
) -> Changes | None:
    """Returns what a task's work changes; None where there is none, or where git cannot tell `until` then, by `time.monotonic`."""
    if not all(one is None or is_object_id(one) for one in (task.start_sha, task.end_sha)):
        return None
    try:
        span = span_of(repository, task, timeout_seconds=_seconds_left(until))
        if span is None:
            return None
        summary = diff_summary(repository, *span, timeout_seconds=_seconds_left(until))
        is_outdated = with_conflicts and has_new_commits(repository, task)
    except GitticksError:
        return None
    conflicts = None
    if with_conflicts and not is_outdated:
        with suppress(GitticksError):
            conflicts = conflicts_of(repository, task, span[0], timeout_seconds=_seconds_left(until))
    epic = task.sharing_epic if with_conflicts else None
    comes_to = None if conflicts is None and epic is None else outlook(task, left)
    return Changes(summary, None if epic else task.base, conflicts, is_outdated, comes_to)


def has_new_commits(repository: Repository, task: Task) -> bool:
    """True if the branch that is a task's alone has another head than the one that was handed off."""
    moved = moved_tip(repository, task)
    return moved is not None and not moved[1]


def conflicts_of(
    repository: Repository,
    task: Task,
    fork: str | None = None,
    *,
    timeout_seconds: float = TIME_LIMIT_SECONDS,
) -> tuple[str, ...] | None:
    """Returns the paths in which a merge into the base conflicts now; None without base or work, or with an epic."""
    base = _base_commit(repository, task)
    if base is None or task.end_sha is None or task.sharing_epic is not None:
        return None
    if base == fork:
        return ()  # nothing happened on the base since the work began
    merged = merge_in_memory(repository, base, task.end_sha, timeout_seconds=timeout_seconds)
    return merged.paths if isinstance(merged, Conflict) else ()


def at_its_branch(repository: Repository, task: Task) -> Task:
    """Returns the task with the branch's own head where nothing was handed off yet."""
    if task.end_sha is None and task.branch is not None:
        with suppress(GitticksError):
            return replace(task, end_sha=read_ref(repository.common_dir, f"{BRANCHES}{task.branch}"))
    return task
