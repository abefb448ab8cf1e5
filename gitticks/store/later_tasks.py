"""All tasks at a commit newer than the index: its tasks, overlaid with what has changed."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from gitticks.document.taskfile import read_file
from gitticks.errors import DocumentError
from gitticks.git.objects import Objects
from gitticks.git.repository import Repository
from gitticks.model.ids import TaskId
from gitticks.model.task import Task
from gitticks.store import layout
from gitticks.store.indexing import refreshed_index, tasks_tree


def tasks_after(repository: Repository, objects: Objects, tip: str, commit: str) -> Mapping[TaskId, Task]:
    """Returns every readable task by id at `commit`.

    `tip` is a commit near to it, which the index is brought to.
    """
    with refreshed_index(repository, tip, objects) as index:
        tasks = {task.id: task for task in index.tasks()}
    old, new = (tasks_tree(objects, one) for one in (tip, commit))
    for change in objects.changed_files(old, new, f"{layout.TASKS_FOLDER}/"):
        task_id = layout.task_of_path(change.path)
        if task_id is None:
            continue
        tasks.pop(task_id, None)
        if change.new is not None:
            with contextlib.suppress(DocumentError):
                task = read_file(objects.read_blob(change.new), change.path).task
                if task.id == task_id:
                    tasks[task_id] = task
    return tasks
