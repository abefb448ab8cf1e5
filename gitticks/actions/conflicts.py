"""What unmerged work would conflict with, found before anybody merges."""

from __future__ import annotations

from collections.abc import Sequence

from gitticks.actions.context import Context
from gitticks.git.merges.forecast import Overlap
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.runner.overlaps import find_overlaps
from gitticks.runner.workspace_plan import workspace_name


def list_conflicts(context: Context, task_ids: Sequence[TaskId] = ()) -> tuple[Overlap, ...]:
    """Returns the conflicts of unmerged work with its base and with one another; of these tasks' work if any is named."""
    tasks = context.store.snapshot().all_tasks()
    graph = TaskGraph.of(tasks.values())
    among = [workspace_name(tasks[one], graph, context.settings) for one in task_ids]
    return find_overlaps(context.repository, tasks.values(), context.settings, among=among or None)
