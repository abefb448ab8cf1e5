"""Which task a session works on once a merge gave its id to another one that had it first."""

from __future__ import annotations

from gitticks.document.taskfile import TaskFile
from gitticks.model.ids import TaskId
from gitticks.store.branch import Store
from gitticks.store.layout import history_path
from gitticks.store.merging.commits import former_ids
from gitticks.store.merging.task import is_same_birth


def present_id(store: Store, file: TaskFile) -> TaskId:
    """Returns the id that a task has now whose file was read before: a merge may have given its id to another one."""
    snapshot, old = store.snapshot(), file.task
    if is_same_birth(snapshot.task_file(old.id).task, old):
        return old.id
    born = (one.id for one in snapshot.all_tasks().values() if is_same_birth(one, old))
    return next((one for one in born if old.id in former_ids(snapshot.read(history_path(one)))), old.id)
