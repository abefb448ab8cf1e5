"""Forecasts conflicts of unmerged work, and merges what a person resolved."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

from gitticks.actions.context import Context
from gitticks.actions.lifecycle import Moved, close_task
from gitticks.errors import RefusedError
from gitticks.git.merges.forecast import Overlap
from gitticks.model.event import EventType
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.runner.overlaps import find_overlaps
from gitticks.runner.workspace_plan import plan, shown_paths, workspace_name


def list_conflicts(context: Context, task_ids: Sequence[TaskId] = ()) -> tuple[Overlap, ...]:
    """Returns the conflicts of unmerged work with its base and with one another; of these tasks' work if any is named."""
    tasks = context.store.snapshot().all_tasks()
    graph = TaskGraph.of(tasks.values())
    among = [workspace_name(context.store.task_file(one).task, graph, context.settings) for one in task_ids]
    return find_overlaps(context.repository, tasks.values(), context.settings, among=among or None)


def continue_merge(context: Context, task_id: TaskId) -> Moved:
    """Takes over what a person committed after the task's merge failed, as their work, so that it is merged next.

    Raises:
        RefusedError: no merge of the task failed, or its work still conflicts with the base.
    """
    context.require_person("merge")
    task = context.store.task_file(task_id).task
    history = context.store.history(task_id)
    if not task.is_open or all(event.type is not EventType.MERGE_FAILED for event in history):
        raise RefusedError(
            f"no merge of `{task_id}` has failed", hint=f"`gt merge {task_id}` merges it once it is approved"
        )
    of_base = [one for one in list_conflicts(context, [task_id]) if one.other is None]
    if of_base:
        graph = TaskGraph.of(context.store.snapshot().all_tasks().values())
        place = plan(task, graph, context.settings, context.repository).path
        raise RefusedError(
            f"`{task_id}` still conflicts with its base in {shown_paths(of_base[0].paths)}",
            hint=f"`cd {quote(str(place))} && git merge {task.base}`, resolve and commit, then run this command again",
        )
    return close_task(context, task_id, "the conflict was resolved by hand")
