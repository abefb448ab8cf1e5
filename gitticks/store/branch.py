"""The state branch: read at its tip, and changed by transactions that many processes may run at once.

A writer queues on a lock of ours, reads the tip, runs its operation, writes objects that nothing names yet, and moves
the ref by compare-and-swap. Until the ref moves nothing has happened; once it has moved everything has, and it is on
disk. Programs that do not know our lock make the swap fail at worst, and then the operation runs again on what they
left.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

from gitticks.errors import GitticksError, LostRaceError
from gitticks.git.identity import Identity
from gitticks.git.locks import HeldLock, clear_stale_ref_lock, hold_lock
from gitticks.git.objects import Objects
from gitticks.git.ref_updates import RefLockedError, RefMovedError, compare_and_swap_ref
from gitticks.git.refs import read_ref
from gitticks.git.repository import Repository
from gitticks.model.ids import TaskId
from gitticks.store import layout
from gitticks.store.index import index_path
from gitticks.store.tip import state_tip
from gitticks.store.transaction import Transaction, list_folder, read_history

if TYPE_CHECKING:
    from gitticks.document.taskfile import TaskFile
    from gitticks.model.event import Event
    from gitticks.model.task import Task

Value = TypeVar("Value")

LOST_SWAPS = 25
LOCKED_SECONDS = 35.0
"""Longer than any lock of the ref is believed, so that one left behind stops nobody for good."""
_LONGEST_PAUSE_SECONDS = 0.2


class BoardStep(Protocol):
    """The board, made ready to follow one move of the state branch."""

    def follow(self, old_commit: str, new_commit: str, /) -> None:
        """Brings the board's files from the old commit to the new one."""


class Board(Protocol):
    """Whatever keeps the checkout of the state branch in step with it."""

    def prepare(self, repository: Repository, /) -> AbstractContextManager[BoardStep]:
        """Readies the board before the ref moves, and releases it after."""


class _NoBoard:
    """Stands where no checkout of the state branch is kept."""

    def follow(self, old_commit: str, new_commit: str, /) -> None:
        """Does nothing."""


class Store:
    """The state branch of one repository; not to be shared between threads."""

    def __init__(self, repository: Repository, objects: Objects, board: Board | None) -> None:
        self.repository = repository
        self.objects = objects
        self._board = board

    @classmethod
    def open(cls, repository: Repository, board: Board | None = None) -> Self:
        """Opens the store; the state branch need not exist yet.

        Raises:
            GitticksError: the repository cannot be opened.
        """
        return cls(repository, Objects.open(repository), board)

    @property
    def exists(self) -> bool:
        """True once the state branch has been made here."""
        return read_ref(self.repository.common_dir, layout.STATE_REF) is not None

    def tip(self) -> str:
        """Returns the state branch's newest commit.

        Raises:
            NotFoundError: there is no state branch.
        """
        return state_tip(self.repository)

    def initialise(self, author: Identity, config_text: str) -> str:
        """Makes the state branch, or takes the one of `origin`, and returns its tip; one that is here stays as it is.

        Args:
            author: who the first commit is by.
            config_text: the first `config.yaml`; not used if the branch exists here or at `origin`.
        """
        with self._locked() as held:
            here = read_ref(self.repository.common_dir, layout.STATE_REF)
            if here is not None:
                return here
            first = read_ref(self.repository.common_dir, layout.REMOTE_STATE_REF)
            message = "gitticks: take over the state branch of origin"
            if first is None:
                message = "gitticks: begin the state branch"
                first = self._write_root(author, config_text, message)
            self._swap(held, None, first, message)
            return first

    def read(self, path: str, at: str | None = None) -> bytes | None:
        """Returns a file's bytes at the commit `at` (default: the tip); None if there is no plain file."""
        entry = self.objects.find(self.objects.tree_of(at or self.tip()), path)
        return self.objects.read_blob(entry.object_id) if entry is not None and entry.is_file else None

    def list(self, folder: str, at: str | None = None) -> tuple[str, ...]:
        """Returns the names of files and folders directly in `folder`; empty if there is no such folder."""
        return list_folder(self.objects, self.objects.tree_of(at or self.tip()), folder)

    def task_file(self, task_id: TaskId, at: str | None = None) -> TaskFile:
        """Returns the task's parsed TASK.md.

        Raises:
            NotFoundError: there is no such task.
            DocumentError: its file cannot be read.
        """
        return self.snapshot(at).task_file(task_id)

    def history(self, task_id: TaskId, at: str | None = None) -> tuple[Event, ...]:
        """Returns the task's events in file order."""
        return read_history(self.read(layout.history_path(task_id), at), task_id)

    def list_task_ids(self, at: str | None = None) -> tuple[TaskId, ...]:
        """Returns the sorted ids of all tasks, those with unreadable files too."""
        return tuple(sorted(self.snapshot(at).task_ids()))

    def snapshot(self, at: str | None = None) -> Transaction:
        """Returns a view of the branch at one commit, for reading several things that belong together."""
        return Transaction(self.objects, at or self.tip(), self._load_tasks)

    def transact(self, operation: Callable[[Transaction], Value], *, author: Identity) -> Value:
        """Runs `operation` and commits what it changed, all of it or nothing, and returns what it returned.

        The operation is run again on the newer state when another program moved the branch meanwhile. It makes no
        commit if it changes nothing.

        Raises:
            LostRaceError: others won every time; nothing was changed.
            GitticksError: whatever the operation raised; nothing was changed.
        """
        for attempt in range(LOST_SWAPS):
            with self._locked() as held:
                base = self.tip()
                transaction = Transaction(self.objects, base, self._load_tasks)
                value = operation(transaction)
                changes = transaction.changes
                if not changes:
                    return value
                try:
                    self._commit(held, transaction, changes, author)
                except RefMovedError:
                    pass
                else:
                    return value
            _pause(attempt)
        raise LostRaceError(
            f"`{layout.STATE_BRANCH}` was moved by others {LOST_SWAPS} times in a row",
            hint="repeat the command",
        )

    def _commit(
        self, held: HeldLock, transaction: Transaction, changes: Mapping[str, bytes | None], author: Identity
    ) -> None:
        _refuse_newer_format(transaction)
        with self.objects.unsynced() as written:
            tree = self.objects.update_tree(self.objects.tree_of(transaction.base), changes)
            commit = self.objects.write_commit(
                tree or self.objects.empty_tree(),
                (transaction.base,),
                author=author,
                message=transaction.message,
            )
        self.objects.sync(written.ids)
        with self._prepared_board() as step:
            self._swap(held, transaction.base, commit, f"gitticks: {transaction.subject}")
            self._update_index(commit)
            step.follow(transaction.base, commit)

    def _write_root(self, author: Identity, config_text: str, message: str) -> str:
        files = {layout.ATTRIBUTES_PATH: layout.ATTRIBUTES.encode(), layout.CONFIG_PATH: config_text.encode()}
        tree = self.objects.update_tree(None, files) or self.objects.empty_tree()
        return self.objects.write_commit(tree, (), author=author, message=f"{message}\n")

    def _swap(self, held: HeldLock, old: str | None, new: str, message: str) -> None:
        """Moves the state branch, waiting for and mending a ref lock that is in the way."""
        deadline = time.monotonic() + LOCKED_SECONDS
        while True:
            try:
                with held.moving(layout.STATE_REF):
                    compare_and_swap_ref(self.objects, layout.STATE_REF, old, new, message)
            except RefLockedError:
                clear_stale_ref_lock(self.repository.common_dir, layout.STATE_REF, held)
                if time.monotonic() > deadline:
                    raise
                _pause(1)
            else:
                return

    @contextmanager
    def _locked(self) -> Iterator[HeldLock]:
        with hold_lock(self.repository.own_dir / "lock") as held:
            if held.unfinished is not None:
                clear_stale_ref_lock(self.repository.common_dir, held.unfinished, held)
            yield held

    def _prepared_board(self) -> AbstractContextManager[BoardStep]:
        return nullcontext(_NoBoard()) if self._board is None else self._board.prepare(self.repository)

    def _update_index(self, commit: str) -> None:
        if index_path(self.repository).exists():
            from gitticks.store.indexing import update_index  # loads the YAML reader

            update_index(self.repository, self.objects, commit)

    def _load_tasks(self, commit: str) -> Mapping[TaskId, Task]:
        from gitticks.store.indexing import tasks_at  # loads the YAML reader

        return tasks_at(self.repository, self.objects, commit)


def _refuse_newer_format(transaction: Transaction) -> None:
    """Leaves a branch alone that a newer gitticks wrote: what it means by its files is not known here."""
    found = layout.format_of(transaction.read_base(layout.CONFIG_PATH))
    if found > layout.FORMAT:
        raise GitticksError(
            f"the tasks are kept in format {found}, newer than this gitticks, which knows format {layout.FORMAT}: "
            "it can read them, not change them",
            hint="`pip install --upgrade gitticks`",
        )


def _pause(attempt: int) -> None:
    """Waits a random moment, so that two writers that met do not meet again."""
    longest = min(_LONGEST_PAUSE_SECONDS, 0.01 * 2 ** min(attempt, 5))
    time.sleep(random.uniform(0, longest))  # noqa: S311 - jitter, no secret
