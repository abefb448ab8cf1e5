"""Merges approved work in the foreground, or tries a merge out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gitticks.actions.context import Context
from gitticks.actions.run import is_run_alive, run_context
from gitticks.model.ids import TaskId
from gitticks.model.task import Task
from gitticks.runner.events import MergeWaits, RunEvent
from gitticks.runner.mergequeue import MergeQueue, MergeResult
from gitticks.runner.workspace_removal import remove_merged_workspaces


@dataclass(frozen=True, slots=True)
class TryOut:
    """What a merge would meet: the conflicting paths, none if it is clean."""

    task: Task
    conflicts: tuple[str, ...]


def merge_task(
    context: Context, task_id: TaskId, listener: Callable[[RunEvent], None] | None = None
) -> MergeResult:
    """Merges one approved task now."""
    return _told(_queue(context, listener), task_id)


def merge_all(context: Context, listener: Callable[[RunEvent], None]) -> list[tuple[Task, MergeResult]]:
    """Merges everything that is approved, in the order of approval; what a killed merge left behind is removed."""
    queue = _queue(context, listener)
    remove_merged_workspaces(queue.run)
    return [(task, _told(queue, task.id)) for task in queue.waiting()]


def merged_words(base: str | None, sha: str, tested: str) -> str:
    """Returns `merged into main as 91bd02e, tests pass on the merge (212 in 9 s)`; `tested` may be empty."""
    first, separator, rest = tested.partition(" (")
    checks = f", {first} on the merge{separator}{rest}" if tested else ""
    return f"merged into {base} as {sha[:7]}{checks}"


def _told(queue: MergeQueue, task_id: TaskId) -> MergeResult:
    result = queue.merge(task_id)
    if result.waits is not None:
        queue.run.emit(MergeWaits(task_id, result.waits))
    return result


def try_out(context: Context, task_ids: list[TaskId]) -> list[TryOut]:
    """Returns what merging would meet, without changing anything; all approved tasks if none is named."""
    queue = _queue(context, None)
    ids = task_ids or [task.id for task in queue.waiting()]
    return [TryOut(context.store.task_file(one).task, queue.try_out(one)) for one in ids]


def runner_merges(context: Context) -> bool:
    """True if a run is alive, which will merge what was approved."""
    return is_run_alive(context.repository)


def _queue(context: Context, listener: Callable[[RunEvent], None] | None) -> MergeQueue:
    context.require_person("merge")
    return MergeQueue(run_context(context, listener or _ignore), context.author)


def _ignore(event: RunEvent) -> None:
    """Takes an event that nobody asked for."""
