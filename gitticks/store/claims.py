"""Claims on tasks, as refs of the shared remote: the first clone to move a task's ref works on it.

A claim is a commit at `refs/gitticks/claims/<id>` that says who holds the task until when; no commit is made twice, so
a compare-and-swap of the ref decides. It is renewed while the work lasts, and may be taken over once it has expired:
by a clock that may be another host's, so its holder asks again before it merges.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from gitticks.errors import GitticksError
from gitticks.git.files import write_synced
from gitticks.git.identity import ENGINE_IDENTITY
from gitticks.git.locks import hold_lock_if_possible
from gitticks.git.remote_refs import LeasedMove, UnreachableError, fetch_refs, push_leased, remote_refs
from gitticks.git.repository import Repository
from gitticks.git.sharing import local_refs
from gitticks.model.ids import TaskId, is_valid_id
from gitticks.safe_read import read_json
from gitticks.store.transaction import read_file

CLAIMS = "refs/gitticks/claims/"
SEEN = "refs/gitticks/claims-seen/"
"""Where a clone keeps, as of its last sync, the claims of its remote."""
_FILE = "claims.json"
_BODY = "claim.json"
_LOCK = "claims.lock"
_MOST_KEPT = 50
"""Of the claims that a push without an answer may have left at the remote so many are known as our own."""
_TIMEOUT_SECONDS = 10.0
_TRIES = 3


class Holder(NamedTuple):
    """Who works on a task, on which host, until when by their clock."""

    by: str
    host: str
    expires: datetime


class Claims:
    """The claims of one clone at one remote; may be shared between threads.

    Which claims are its own is on disk, so that the next run of a clone that was killed continues with them.
    """

    def __init__(
        self,
        repository: Repository,
        remote: str,
        me: tuple[str, str],
        lease: timedelta,
        now: Callable[[], datetime],
    ) -> None:
        """`me` is who works here and on which host; `now` returns the UTC time."""
        self.remote = remote
        self.lease = lease
        self._repository = repository
        self._me = me
        self._now = now
        self._lock = threading.RLock()
        self._file = repository.own_file(_FILE)
        self._own = _read_own(repository, remote)
        self._held: dict[TaskId, str] = {}

    @property
    def held(self) -> frozenset[TaskId]:
        """Returns the tasks that were claimed through this object, and neither lost nor released since."""
        # Without the lock, which is held while a remote is asked: a dictionary is copied in one step.
        return frozenset(self._held)

    @property
    def own(self) -> frozenset[TaskId]:
        """Returns the tasks that this clone claimed, also through another object, and did not release."""
        with self._lock:
            return frozenset(self._own)

    @contextlib.contextmanager
    def ref_of(self, task_id: TaskId) -> Iterator[dict[str, str]]:
        """Gives the ref of a held claim and its commit, which nobody renews meanwhile; nothing for another task."""
        with self._lock:
            yield {CLAIMS + task_id: self._held[task_id]} if task_id in self._held else {}

    def note_released(self, task_id: TaskId) -> None:
        """Forgets a claim whose ref was removed."""
        with self._lock:
            self._forget([task_id])

    def take(self, task_id: TaskId) -> Holder | None:
        """Claims a task; returns who else holds it, None if it is ours now.

        Raises:
            UnreachableError: the remote gave no answer; nothing is claimed.
        """
        with self._lock:
            old = next(iter(self._own.get(task_id, ())), None)
            for _ in range(_TRIES):
                if task_id in self._push({task_id: old}):
                    return None
                old = self._there(task_id)
                holder = self._other(task_id, old)
                if holder is not None:
                    return holder
            return Holder("another run", self.remote, self._now() + self.lease)

    def holder(self, task_id: TaskId) -> Holder | None:
        """Returns who else holds a task; None if nobody does.

        Raises:
            UnreachableError: the remote gave no answer.
        """
        with self._lock:
            return self._other(task_id, self._there(task_id))

    def renew(self) -> frozenset[TaskId]:
        """Renews all that is held, in one push, and returns what somebody else has taken over.

        Raises:
            UnreachableError: the remote gave no answer; what is held stays so until it expires.
        """
        with self._lock:
            failed = self._held.keys() - self._push(self._held)
            lost = frozenset(one for one in failed if not self._find(one))
            self._forget(lost)
            self._push({one: self._held[one] for one in failed - lost})
            return lost

    def is_held(self, task_id: TaskId) -> bool:
        """True if the remote still has our claim on a task; one that it has no more is forgotten.

        Raises:
            UnreachableError: the remote gave no answer.
        """
        with self._lock:
            if task_id in self._held and not self._find(task_id):
                self._forget([task_id])
            return task_id in self._held

    def release(self, task_ids: Iterable[TaskId]) -> None:
        """Gives claims back.

        Raises:
            UnreachableError: the remote gave no answer; there they expire.
        """
        with self._lock:
            given_up = {one: self._held.get(one, self._own[one][0]) for one in task_ids if one in self._own}
            left = given_up.keys() - self._move({one: (old, None) for one, old in given_up.items()})
            self._move({one: (self._held[one], None) for one in left if self._find(one)})
            self._forget(given_up)

    def _push(self, asked: Mapping[TaskId, str | None]) -> frozenset[TaskId]:
        """Puts new claims in the place of old ones, and returns the tasks for which that went through."""
        made = {task_id: self._made(task_id) for task_id in asked}
        # Before the push: who is killed after it continues with what is theirs. The first ones stay: what was there
        # when the remote was lost is likelier to be there still than what was pushed in vain since.
        for task_id, token in made.items():
            self._own[task_id] = (token, *self._own.get(task_id, ())[-_MOST_KEPT:])
        self._write(made)
        won = self._move({task_id: (old, made[task_id]) for task_id, old in asked.items()})
        for task_id in won:  # what waited for an answer was leased to what is gone, and can arrive no more
            self._held[task_id] = made[task_id]
            self._own[task_id] = (made[task_id],)
        return won

    def _move(self, asked: Mapping[TaskId, tuple[str | None, str | None]]) -> frozenset[TaskId]:
        moves = [LeasedMove(CLAIMS + task_id, old, new) for task_id, (old, new) in asked.items()]
        if not moves:
            return frozenset()
        moved = push_leased(self._repository, self.remote, moves, timeout_seconds=_TIMEOUT_SECONDS)
        return frozenset(task_id for task_id in asked if CLAIMS + task_id in moved)

    def _find(self, task_id: TaskId) -> bool:
        """Holds what the remote has if that is ours: a push without an answer may have put it there."""
        there = self._there(task_id)
        if there is None or there not in self._own[task_id]:
            return False
        self._held[task_id] = there
        return True

    def _made(self, task_id: TaskId) -> str:
        by, host = self._me
        expires = (self._now() + self.lease).isoformat()
        body = json.dumps({"by": by, "host": host, "expires": expires, "nonce": secrets.token_hex(8)})
        made = self._repository.objects.write_commit(
            (), {_BODY: body.encode()}, author=ENGINE_IDENTITY, message=f"gitticks: claim {task_id}\n"
        )
        return made.id

    def _there(self, task_id: TaskId) -> str | None:
        ref = CLAIMS + task_id
        found = remote_refs(self._repository, self.remote, ref, timeout_seconds=_TIMEOUT_SECONDS)
        return found.get(ref)

    def _holder(self, task_id: TaskId, token: str) -> Holder | None:
        """Returns what a claim says; None where it is gone by now, or says nothing that can be read.

        It holds for no longer than ours would: whoever writes another year keeps a task from nobody.
        """
        try:
            fetch_refs(self._repository, self.remote, CLAIMS + task_id, timeout_seconds=_TIMEOUT_SECONDS)
        except UnreachableError:
            if self._there(task_id) == token:
                raise
            return None
        return _read_claim(self._repository, token, self._now() + self.lease)

    def _other(self, task_id: TaskId, token: str | None) -> Holder | None:
        """Returns who else holds a claim that stands at the remote; None for our own, and one that has expired."""
        if token is None or token in self._own.get(task_id, ()):
            return None
        holder = self._holder(task_id, token)
        return holder if holder is not None and holder.expires > self._now() else None

    def _forget(self, task_ids: Collection[TaskId]) -> None:
        for task_id in task_ids:
            self._own.pop(task_id, None)
            self._held.pop(task_id, None)
        self._write(task_ids)

    def _write(self, changed: Collection[TaskId]) -> None:
        if not changed:
            return
        # Other processes write what they claim. A clone where nothing can be written waits for its claims to expire.
        with hold_lock_if_possible(self._repository.own_file(_LOCK)), contextlib.suppress(OSError):
            own = _read_own(self._repository, self.remote)
            own.update((one, self._own.get(one, ())) for one in changed)
            mine = {one: tokens for one, tokens in own.items() if tokens}
            known: dict[str, Any] = read_json(self._file, dict, {})
            write_synced(self._file, json.dumps(known | {self.remote: mine}).encode())


def claims_seen(repository: Repository, remote: str, latest: datetime) -> dict[TaskId, Holder]:
    """Returns the claims of other clones as the last fetch left them at `SEEN`; none holds longer than to `latest`."""
    own = _read_own(repository, remote)
    found = {
        TaskId(name): _read_claim(repository, token, latest)
        for ref, token in local_refs(repository, SEEN).items()
        if is_valid_id(name := ref.removeprefix(SEEN)) and token not in own.get(TaskId(name), ())
    }
    return {task_id: holder for task_id, holder in found.items() if holder is not None}


def _read_claim(repository: Repository, token: str, latest: datetime) -> Holder | None:
    objects = repository.objects
    try:
        body = json.loads(read_file(objects, objects.tree_of(token), _BODY) or b"")
        expires = datetime.fromisoformat(body["expires"])
        return Holder(str(body["by"]), str(body["host"]), min(expires, latest))
    except (GitticksError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _read_own(repository: Repository, remote: str) -> dict[TaskId, tuple[str, ...]]:
    def own(known: Mapping[str, Any]) -> dict[TaskId, tuple[str, ...]]:
        held = known.get(remote, {}).items()
        return {TaskId(task_id): tuple(map(str, tokens)) for task_id, tokens in held}

    return read_json(repository.own_file(_FILE), own, {})
