"""Makes checkpoints: a workspace's content under a ref, described in the commit that ends its session."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gitticks.errors import GitticksError
from gitticks.git.refs import read_ref
from gitticks.model.checkpoint import Cause, Checkpoint, checkpoint_id
from gitticks.model.ids import TaskId
from gitticks.model.task import CAME_TO_NOTHING, Task
from gitticks.runner.events import Warned
from gitticks.runner.workspace_plan import shown_paths
from gitticks.store.checkpoints import iterations_around, numbers, put, read, ref_of, workspace_of
from gitticks.workflow.checkpoints import is_due, next_number

if TYPE_CHECKING:
    from gitticks.runner.context import RunContext
    from gitticks.runner.places.place import SessionResult
    from gitticks.store.branch import Store
    from gitticks.store.transaction import Transaction


@dataclass(slots=True)
class Capture:
    """What a workspace holds at the end of a session, kept by the ref of the checkpoint that is going to be written."""

    store: Store
    workspace: TaskId
    number: int
    head: str
    commit: str
    written: Checkpoint | None = None

    def write(self, transaction: Transaction, task: Task, at: datetime) -> None:
        """Writes the checkpoint."""
        self.written = put(transaction, task, Cause.ITERATIONS, at=at, head=self.head, commit=self.commit)

    def settle(self) -> None:
        """Moves the ref to where the checkpoint found its place, if others took its number meanwhile."""
        if self.written is not None and self.written.number != self.number:
            keep(self.store, self.workspace, self.written.number, self.commit)
            ref = ref_of(self.workspace, self.number)
            with contextlib.suppress(GitticksError):
                self.store.objects.move_ref(ref, self.commit, None, "gitticks: checkpoint")


def capture_if_due(run: RunContext, store: Store, task: Task, result: SessionResult) -> Capture | None:
    """Keeps what a workspace holds, uncommitted work too, if the session that ends makes a checkpoint due.

    If none can be made, that is reported and holds up nothing else.
    """
    head = result.work.head
    if result.workspace is None or not head:
        return None
    before = iterations_around(store, task)
    if not is_due(before, before + 1, run.settings.checkpoint_every):
        return None
    owner, snapshot = workspace_of(task), store.snapshot()
    number = next_number(before + 1, numbers(snapshot, owner))
    while read_ref(store.repository.common_dir, ref_of(owner, number)) is not None:
        number += 1  # kept by somebody whose checkpoint is being written; ours finds its number then
    try:
        found = run.place.capture(result.workspace, head, f"Checkpoint {checkpoint_id(owner, number)}\n")
        if result.report.ending in CAME_TO_NOTHING and found.commit == _newest_code(snapshot, owner, task):
            return None  # an agent that meets its limit again and again would leave one after the other
        keep(store, owner, number, found.commit)
    except (GitticksError, OSError) as error:
        run.emit(Warned(task.id, f"no checkpoint was made: {error}"))
        return None
    if found.left_out:
        run.emit(Warned(task.id, f"a checkpoint cannot hold {shown_paths(found.left_out)}"))
    return Capture(store, owner, number, head, found.commit)


def _newest_code(snapshot: Transaction, owner: TaskId, task: Task) -> str | None:
    """Returns the commit that the newest checkpoint of a workspace holds, before the first where its work began."""
    taken = numbers(snapshot, owner)
    newest = read(snapshot, owner, max(taken)) if taken else None
    return task.start_sha if newest is None else newest.commit


def keep_before_merge(store: Store, task: Task) -> Checkpoint | None:
    """Keeps the code of the checkpoint that an approval made, before anything becomes of the branch.

    Returns it if its code was not kept yet.
    """
    owner, snapshot = workspace_of(task), store.snapshot()
    for number in reversed(numbers(snapshot, owner)):
        found = read(snapshot, owner, number)
        if found is not None and found.commit == task.end_sha:
            return found if keep(store, owner, number, found.commit) else None
    return None


def keep(store: Store, workspace: TaskId, number: int, commit: str) -> bool:
    """Lets the ref of a checkpoint stand at a commit, and returns whether it was elsewhere.

    One that a killed run left there is replaced.
    """
    ref = ref_of(workspace, number)
    before = read_ref(store.repository.common_dir, ref)
    if before == commit:
        return False
    store.objects.sync([commit])
    store.objects.move_ref(ref, before, commit, "gitticks: checkpoint")
    return True
