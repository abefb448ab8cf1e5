"""Waits for the state branch to change, and rereads the tasks when it has."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gitticks.file_watch import LOOK_SECONDS, wakes_in
from gitticks.git.objects.trees import Entry
from gitticks.git.refs import folder_of_ref, read_ref
from gitticks.git.repository import Repository
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.task import Task
from gitticks.runner.options import in_scope
from gitticks.store.index import open_index
from gitticks.store.layout import CONFIG_PATH, PROMPTS_FOLDER, STATE_REF
from gitticks.store.trust import trust_stamp

if TYPE_CHECKING:
    from gitticks.runner.context import RunContext


def wait_for_change(
    repository: Repository, seconds: float, over: threading.Event, is_over: Callable[[], bool]
) -> bool:
    """Waits until the state branch moves, and returns whether it did.

    `over` ends the waiting at once; `is_over` is asked about once a second.
    """
    common_dir = repository.common_dir
    before, deadline = read_ref(common_dir, STATE_REF), time.monotonic() + seconds
    if is_over():
        return False
    each = min(LOOK_SECONDS, max(0.01, seconds))
    for _ in wakes_in(lambda: [folder_of_ref(common_dir, STATE_REF)], over, each):
        if read_ref(common_dir, STATE_REF) != before:
            return True
        if is_over() or time.monotonic() >= deadline:
            break
    return False


class TaskReader:
    """Reads the tasks of one run again only when the state branch has moved; for one thread.

    Attributes:
        conflicted: the tasks with a conflict that nobody has settled, as of the last look.
    """

    def __init__(self, run: RunContext) -> None:
        self._run = run
        self._tip: str | None = None
        self._graph = TaskGraph({})
        self._files: tuple[Entry | None, ...] = ()
        self._scope: dict[TaskId, Task] | None = None
        self.conflicted: Mapping[TaskId, int] = {}

    def graph(self) -> TaskGraph:
        """Returns all tasks at the state branch's tip."""
        tip = read_ref(self._run.repository.common_place, STATE_REF)
        if tip is None or tip != self._tip:
            store = self._run.open_store()
            self._tip = store.tip()
            snapshot = store.snapshot(self._tip)
            top = store.objects.tree_of(self._tip)
            self._files = tuple(store.objects.find(top, path) for path in (CONFIG_PATH, PROMPTS_FOLDER))
            with open_index(self._run.repository) as index:
                self.conflicted, unreadable = index.conflicts(), index.unreadable()
            self._graph = TaskGraph.of(snapshot.all_tasks().values(), unreadable)
            self._scope = None
        rules = (*self._files, trust_stamp(self._run.repository))
        if rules != self._run.rules:
            self._run.rules = rules
            self._run.renew_settings()
        return self._graph

    def in_scope(self) -> dict[TaskId, Task]:
        """Returns the tasks that the run is for, the same object as long as the state branch does not move."""
        graph = self.graph()
        if self._scope is None:
            self._scope = in_scope(graph, self._run.options)
        return self._scope

    def forget_scope(self) -> None:
        """Makes the next look ask again what the run is for."""
        self._scope = None
