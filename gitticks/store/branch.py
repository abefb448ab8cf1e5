"""The state branch: read at its tip, and changed by concurrent transactions.

A writer runs its operation on the end of the chain of commits that are made and not yet the branch's, and writes
objects that nothing names yet. Then whoever is first publishes the whole chain: so writers who queue share the syncs
and the move of the ref, and a lone writer pays for nothing more. Programs that do not know our locks make the move
fail at worst, and then every operation of the chain runs again on what they left.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

from gitticks.errors import DocumentError, GitticksError, LostRaceError
from gitticks.git.identity import OWN_ADDRESSES, Identity
from gitticks.git.locks import clear_stale_ref_lock, hold_lock
from gitticks.git.objects.failures import RefLockedError
from gitticks.git.refs import read_ref
from gitticks.git.repository import Repository
from gitticks.model.ids import TaskId
from gitticks.processes import own_identity
from gitticks.store import layout
from gitticks.store.authors import remember_names
from gitticks.store.dropped import bring_back_dropped, was_published
from gitticks.store.layout import state_tip
from gitticks.store.publishing import Board, Link, Publisher, hold_chain, pause, read_chain, write_chain
from gitticks.store.transaction import Transaction, list_folder, read_file

if TYPE_CHECKING:
    from gitticks.document.taskfile import TaskFile
    from gitticks.model.event import Event
    from gitticks.model.task import Task

Value = TypeVar("Value")

LOST_SWAPS = 25
SHARED_ATTEMPTS = 2


class Store:
    """The state branch of one repository; not to be shared between threads.

    Attributes:
        written: the subjects of the commits that were made through it, the oldest first.
        has_masked: a secret was masked in what was written through it.
    """

    def __init__(self, repository: Repository, board: Board | None = None) -> None:
        """Opens the store; the state branch need not exist yet."""
        self.repository = repository
        self.objects = repository.objects
        self._publisher = Publisher(repository, board)
        self.written: list[str] = []
        self.has_masked = False
        self._secrets: Mapping[str, str] | None = None

    @property
    def exists(self) -> bool:
        """True once the state branch has been made here."""
        return read_ref(self.repository.common_dir, layout.STATE_REF) is not None

    def tip(self) -> str:
        """Returns the state branch's newest commit."""
        return state_tip(self.repository)

    def move_ref(self, ref: str, old: str | None, new: str | None, message: str) -> None:
        """Moves another ref of gitticks' own; the lock that a killed process left on it is no obstacle.

        Raises:
            RefMovedError: it is not at `old`.
            RefLockedError: a living program keeps it locked.
        """
        try:
            self.objects.move_ref(ref, old, new, message)
        except RefLockedError:
            with hold_lock(self.repository.own_file("lock")) as held:
                clear_stale_ref_lock(self.repository.common_dir, ref, held)
            self.objects.move_ref(ref, old, new, message)

    def initialise(self, author: Identity, config_text: str, *, remote: str = "origin") -> str:
        """Makes the state branch, or takes the one of a remote, and returns its tip; one that is here stays as it is."""
        with self._publisher.hold() as held, held.moving(layout.STATE_REF):
            here = read_ref(self.repository.common_dir, layout.STATE_REF)
            if here is not None:
                return here
            first = read_ref(self.repository.common_dir, layout.remote_state_ref(remote))
            message = f"gitticks: take over the state branch of {remote}"
            if first is None:
                message = "gitticks: create the state branch"
                attributes = layout.ATTRIBUTES.encode()
                files = {layout.ATTRIBUTES_PATH: attributes, layout.CONFIG_PATH: config_text.encode()}
                made = self.objects.write_commit((), files, author=author, message=f"{message}\n")
                self.objects.sync(made.objects)
                first = made.id
            else:
                self.objects.refuse_excess(None, first)
            with self.objects.ready_to_move(message, author) as move:
                self._publisher.swap(held, None, first, move)
            return first

    def read(self, path: str, at: str | None = None) -> bytes | None:
        """Returns a file's bytes at the commit `at` (default: the tip); None if there is not a regular file."""
        return read_file(self.objects, self.objects.tree_of(at or self.tip()), path)

    def list(self, folder: str) -> tuple[str, ...]:
        """Returns the names of files and folders directly in `folder`; empty if there is no such folder."""
        return list_folder(self.objects, self.objects.tree_of(self.tip()), folder)

    def task_file(self, task_id: TaskId, at: str | None = None) -> TaskFile:
        """Returns the task's parsed TASK.md."""
        return self.snapshot(at).task_file(task_id)

    def history(self, task_id: TaskId) -> tuple[Event, ...]:
        """Returns the task's events in file order."""
        return layout.events_of(self.read(layout.history_path(task_id)))

    def snapshot(self, at: str | None = None) -> Transaction:
        """Returns a view of the branch at one commit, for reading several things that belong together."""
        return Transaction(self.objects, at or self.tip(), self._load_tasks)

    def transact(
        self,
        operation: Callable[[Transaction], Value],
        *,
        author: Identity,
        then: Callable[[Transaction, Value], object] | None = None,
    ) -> Value:
        """Runs `operation` and commits what it changed, all of it or nothing, and returns what it returned.

        The operation is run again on the newer state when another program moved the branch meanwhile. It makes no
        commit if it changes nothing. Its commit is the branch's, and on disk, once this returns. What `then` makes of
        it, a commit of its own, is the branch's in the same moment.

        Raises:
            LostRaceError: others won every time; nothing was changed.
            GitticksError: whatever the operation raised; nothing was changed.
        """
        with suppress(GitticksError):  # what is dropped stays known, and the doctor says why it stays away
            bring_back_dropped(self)
        for attempt in range(LOST_SWAPS):
            # Whoever lost before keeps everybody else of ours out, so that only a foreign program can win again.
            with self._publisher.hold() if attempt >= SHARED_ATTEMPTS else nullcontext() as held:
                made = self._make(operation, author, then)
                if made.stands_on is None or self._publisher.settle(made.stands_on, author, held):
                    if made.subject is not None:
                        self.written.append(made.subject)
                    return made.answer()
            pause(attempt)
        raise _lost_race()

    def propose(self, operation: Callable[[Transaction], Value], *, author: Identity) -> tuple[str, Value]:
        """Returns the commit that `operation` makes on the tip, not yet the branch's, and what it returned."""
        transaction = Transaction(self.objects, self.tip(), self._load_tasks, self._mask)
        value = operation(transaction)
        made = self._commit(transaction, transaction.changes, author)
        self.objects.sync(made.objects)
        return made.commit, value

    def take_in(self, make: Callable[[str], tuple[str, Value]], message: str, *, author: Identity) -> Value:
        """Moves the branch to a commit that `make` returns for the tip it is given, and returns what came with it.

        `make` is called again where somebody moved the branch meanwhile; at the tip itself nothing is moved.

        Raises:
            LostRaceError: others won every time; nothing was changed.
            GitticksError: whatever `make` raised; nothing was changed.
        """
        for attempt in range(LOST_SWAPS):
            with self._publisher.hold() if attempt >= SHARED_ATTEMPTS else nullcontext() as held:
                tip = self.tip()
                commit, value = make(tip)
                if commit == tip or self._publisher.advance(tip, commit, message, author, held):
                    return value
            pause(attempt)
        raise _lost_race()

    def _make(
        self,
        operation: Callable[[Transaction], Value],
        author: Identity,
        then: Callable[[Transaction, Value], object] | None,
    ) -> _Made[Value]:
        """Runs the operation on the end of the chain, and puts its commit there if it makes one."""
        with hold_chain(self.repository) as held:
            tip = self.tip()
            links = read_chain(held, tip)
            if links and was_published(self.repository, (link.commit for link in links)):
                links = ()  # somebody put the branch back since, and has their will
            pending = links[-1].commit if links else None
            transaction = Transaction(self.objects, pending or tip, self._load_tasks, self._mask)
            try:
                value = operation(transaction)
                changes = transaction.changes
                if not changes:
                    return _Made(pending, lambda: value)
                link = self._commit(transaction, changes, author)
                if then is not None:  # in the same link, for no other writer has to wait for it
                    following = Transaction(self.objects, link.commit, self._load_tasks, self._mask)
                    then(following, value)
                    if following.changes:
                        second = self._commit(following, following.changes, author)
                        link = second._replace(parent=link.parent, objects=(*link.objects, *second.objects))
            except GitticksError as error:
                if pending is None:
                    raise
                return _Made(pending, _raising(error))
            write_chain(held, (*links, link))
        return _Made(link.commit, lambda: value, link.subject)

    def _commit(
        self, transaction: Transaction, changes: Mapping[str, bytes | None], author: Identity
    ) -> Link:
        layout.refuse_newer_format(transaction.read_base(layout.CONFIG_PATH))
        if any(layout.may_run(path, new) for path, new in changes.items()):
            from gitticks.store.runnable_files import trust_own  # loads the settings

            trust_own(
                self.repository, {path: (transaction.read_base(path), new) for path, new in changes.items()}
            )
        if not author.email.endswith(OWN_ADDRESSES):
            remember_names(self.repository, (author.name,))
        message = transaction.message
        commit = self.objects.write_commit((transaction.base,), changes, author=author, message=message)
        subject = message.partition("\n")[0]
        return Link(commit.id, transaction.base, subject, own_identity(), commit.objects)

    def masked(self, content: bytes) -> bytes:
        """Returns what a file may hold on the branch: its secrets are masked, also the values known here."""
        from gitticks.redaction import mask_bytes, secret_values

        if self._secrets is None:
            project = self.repository.project_dir
            self._secrets = secret_values(os.environ, () if project is None else (str(project),))
        return mask_bytes(content, self._secrets)

    def _mask(self, content: bytes) -> bytes:
        masked = self.masked(content)
        self.has_masked = self.has_masked or masked != content
        return masked

    def _load_tasks(self, commit: str) -> Mapping[TaskId, Task]:
        return tasks_after(self.repository, self.tip(), commit)


def tasks_after(repository: Repository, tip: str, commit: str) -> Mapping[TaskId, Task]:
    """Returns every readable task by id at `commit`.

    `tip` is a commit near to it, which the index is brought to.
    """
    from gitticks.document.taskfile import read_file as read_task_file  # loads the YAML reader
    from gitticks.store.index import Index
    from gitticks.store.indexing import refreshed, tasks_tree

    objects = repository.objects
    with Index(repository, refreshed(repository, tip), tip) as index:
        tasks = {task.id: task for task in index.tasks()}
    old, new = (tasks_tree(objects, one) for one in (tip, commit))
    for change in objects.changed_files(old, new, f"{layout.TASKS_FOLDER}/"):
        task_id = layout.task_of_path(change.path)
        if task_id is None:
            continue
        tasks.pop(task_id, None)
        if change.new is not None:
            with suppress(DocumentError):
                task = read_task_file(objects.read_blob(change.new), change.path).task
                if task.id == task_id:
                    tasks[task_id] = task
    return tasks


@dataclass(frozen=True, slots=True)
class _Made(Generic[Value]):
    """The result of an operation, valid once the commit `stands_on`, if any, is on the branch.

    A refusal waits too: what it saw may never come to be.
    """

    stands_on: str | None
    answer: Callable[[], Value]
    subject: str | None = None


def _raising(error: GitticksError) -> Callable[[], NoReturn]:
    def answer() -> NoReturn:
        raise error

    return answer


def _lost_race() -> LostRaceError:
    return LostRaceError(
        f"`{layout.STATE_BRANCH}` was moved by others {LOST_SWAPS} times in a row",
        hint="run the command again",
    )
