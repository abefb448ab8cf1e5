"""The merges of a run: whose turn it is, and what they wait for."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable
from typing import NamedTuple, Self

from gitticks.agents.process import StopRequest
from gitticks.errors import GitticksError, RefusedError
from gitticks.git.merges.asides import PooledAside
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.model.ids import TaskId
from gitticks.model.task import Task
from gitticks.runner.claiming import ClaimedElsewhereError
from gitticks.runner.context import RunContext
from gitticks.runner.events import MergeWaits, Warned
from gitticks.runner.merge_ahead import ChecksAhead, PassedCheck
from gitticks.runner.mergequeue import AGAIN_SECONDS, MergeQueue
from gitticks.runner.needed_code import CodeMissingError, require_head
from gitticks.runner.overlaps import in_merge_order
from gitticks.runner.run_record import MergeState, QueuedMerge, write_merging
from gitticks.runner.workspace_removal import Removals

_LONGEST_AGAIN_SECONDS = 300.0


class _Wait(NamedTuple):
    reason: str
    seconds: float
    until: float


class MergeTurns:
    """The merges of one run, one at a time: `next` is not to be called while `merge` runs.

    To be closed when the run is over.
    """

    def __init__(self, run: RunContext) -> None:
        self._pool, self._removals = PooledAside(run.repository), Removals(run)
        self._ahead = ChecksAhead(run)
        self._held = contextlib.ExitStack()
        self._run = run
        self._waits: dict[TaskId, _Wait] = {}
        self._passed: dict[TaskId, PassedCheck] = {}
        self._merging: TaskId | None = None
        self._shown: list[QueuedMerge] = []
        self._order: list[TaskId] = []
        self._ordered: frozenset[tuple[TaskId, str | None]] = frozenset()
        self._landed: frozenset[TaskId] = frozenset()

    def __enter__(self) -> Self:
        """Starts nothing yet."""
        write_merging(self._run.repository.own_dir, ())
        self._held.enter_context(self._removals)
        self._held.enter_context(self._pool)
        self._held.enter_context(self._ahead)
        return self

    def __exit__(self, *_: object) -> None:
        """Removes the checkouts, and waits until the workspaces of what was merged are out of the way.

        Why a merge waits stays known.
        """
        self._held.close()
        waits = self._waits.items()
        left = [QueuedMerge(task_id, MergeState.WAITING, wait.reason) for task_id, wait in waits]
        write_merging(self._run.repository.own_dir, left)

    @property
    def being_removed(self) -> frozenset[TaskId]:
        """The merged tasks whose workspaces are still in the way of a new session."""
        return self._removals.task_ids

    @property
    def is_waiting(self) -> bool:
        """True if a merge was tried that could not be made."""
        return bool(self._waits)

    def next(self, tasks: Iterable[Task]) -> Task | None:
        """Returns the approved task whose turn it is among these; of those that needed no merge the workspaces go."""
        tasks = tuple(tasks)
        self._clear(tasks)
        approved = self._in_order([task for task in tasks if task.is_merging])
        here = {task.id for task in approved}
        self._waits = {task_id: wait for task_id, wait in self._waits.items() if task_id in here}
        self._passed = {task_id: check for task_id, check in self._passed.items() if task_id in here}
        now = self._run.world.monotonic_seconds()
        found = next(
            (task for task in approved if task.id not in self._waits or self._waits[task.id].until <= now),
            None,
        )
        self._merging = None if found is None else found.id
        self._show(task.id for task in approved)
        return found

    def _clear(self, tasks: Iterable[Task]) -> None:
        landed = {task.id: task for task in tasks if task.is_landed}
        for task_id in landed.keys() - self._landed:
            task = landed[task_id]
            is_unmerged = task.merged_sha is None and task.branch is not None
            if (
                is_unmerged
                and read_ref(self._run.repository.common_dir, f"{BRANCHES}{task.branch}") is not None
            ):
                self._removals.begin(task)
        self._landed = frozenset(landed)

    def _in_order(self, approved: list[Task]) -> list[Task]:
        """Returns them in the order of merges, found out again only when another is approved."""
        heads = frozenset((task.id, task.end_sha) for task in approved)
        if not heads <= self._ordered:
            self._order = [task.id for task in in_merge_order(self._run.repository, approved)]
            self._ordered = heads
        return sorted(approved, key=lambda task: self._order.index(task.id))

    def look_ahead(self, tasks: Iterable[Task]) -> None:
        """Has the next merges among these tasks checked while the one whose turn it is continues."""
        approved = self._in_order([task for task in tasks if task.is_merging])
        if self._ahead.is_on:
            self._ahead.look([task for task in approved if task.id not in self._waits])
        order = [one.task for one in self._shown[:1] if one.task == self._merging]
        order += [task.id for task in approved if task.id not in order]
        self._show(order if approved else [one.task for one in self._shown])

    def _show(self, order: Iterable[TaskId]) -> None:
        ahead = self._ahead.task_ids
        shown = [self._queued(task_id, ahead) for task_id in order]
        if shown != self._shown:
            self._shown = shown
            write_merging(self._run.repository.own_dir, shown)

    def _queued(self, task_id: TaskId, ahead: Collection[TaskId]) -> QueuedMerge:
        if task_id == self._merging:
            return QueuedMerge(task_id, MergeState.MERGING)
        if task_id in self._waits:
            return QueuedMerge(task_id, MergeState.WAITING, self._waits[task_id].reason)
        return QueuedMerge(task_id, MergeState.AHEAD if task_id in ahead else MergeState.QUEUED)

    def _is_to_merge(self, task_id: TaskId) -> bool:
        """True unless another clone has merged a task by now; what this one cannot merge is left to one that can."""
        store = self._run.open_store()
        try:
            require_head(self._run.repository, store.task_file(task_id).task)
        except CodeMissingError:
            self._run.claims.require_free(task_id)
            if store.task_file(task_id).task.is_merging:
                raise
            return False
        return True

    def merge(self, task_id: TaskId, stop: StopRequest) -> None:
        """Merges a task, sends it back, or remembers why it waits, which is reported once."""
        again = None
        try:
            if not self._is_to_merge(task_id):
                return
            self._run.claims.take(task_id)
            self._ahead.begin(task_id)
            queue = MergeQueue(
                self._run,
                stop=stop,
                pool=self._pool,
                removals=self._removals,
                ahead=self._ahead,
                passed=self._passed,
            )
            result = queue.merge(task_id)
            waits, again = result.waits, result.again_seconds
        except ClaimedElsewhereError as error:
            waits = error.message
        except RefusedError as error:  # a person took the approval back meanwhile
            self._run.emit(Warned(task_id, error.message))
            return
        except GitticksError as error:
            waits = error.in_one_line
        before = self._waits.pop(task_id, None)
        if waits is None:
            return
        if again is None:
            is_same = before is not None and before.reason == waits
            again = min(2 * before.seconds, _LONGEST_AGAIN_SECONDS) if before and is_same else AGAIN_SECONDS
        self._waits[task_id] = _Wait(waits, again, self._run.world.monotonic_seconds() + again)
        if before is None or before.reason != waits:
            self._run.emit(MergeWaits(task_id, waits))
