"""Finds an id for a new task without a visit to every other one."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import TYPE_CHECKING

from gitticks.model.ids import TaskId, new_id

if TYPE_CHECKING:
    from gitticks.store.transaction import Transaction

SAMPLED_FOLDERS = 16
"""Of more folders of tasks only some are counted: how long an id must be depends on the order of magnitude."""


def free_id(transaction: Transaction, random_number: Callable[[int], int]) -> TaskId:
    """Returns an id that no task has; `random_number` as in `new_id`."""
    names, folders_for_each = transaction.sample_of_names(SAMPLED_FOLDERS)
    return new_id(_Taken(transaction), names * folders_for_each, random_number)


class _Taken(Container[TaskId]):
    """The ids that a new task must not get, each looked up when it is asked for."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def __contains__(self, task_id: object) -> bool:
        """True if some task has the id."""
        return isinstance(task_id, str) and self._transaction.has_task(TaskId(task_id))
