"""Claims that a run holds at the remote, so that no two clones work on the same task."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime

from gitticks.errors import RefusedError
from gitticks.git.files import write_synced
from gitticks.git.remote_refs import UnreachableError
from gitticks.git.repository import Repository
from gitticks.model.ids import TaskId
from gitticks.model.task import Task
from gitticks.runner.liveness import CLAIMED_FILE
from gitticks.store.claims import Claims, Holder, claims_seen

_RENEWALS = 3
"""So often a claim is renewed within its lease: the remote may miss some."""
_AGAIN_SECONDS = 30.0
_REST = 3
"""So many times as long as a run waited in vain for the remote, it claims nothing there, and gives nothing back."""


class ClaimedElsewhereError(RefusedError):
    """Another clone works on the task; `words` say who, and until when."""

    def __init__(self, task_id: TaskId, holder: Holder) -> None:
        self.words = f"claimed by {holder.by} on {holder.host} until {holder.expires:%H:%M} UTC"
        super().__init__(f"`{task_id}` is {self.words}", hint="`gt sync` updates it")


def note_claims(repository: Repository, remote: str, latest: datetime) -> None:
    """Keeps which tasks other clones have claimed, as the last fetch found it, for what is shown as ready."""
    held = claims_seen(repository, remote, latest)
    lines = "".join(f"{task_id} {one.expires.timestamp()}\n" for task_id, one in sorted(held.items()))
    file = repository.own_file(CLAIMED_FILE)
    with contextlib.suppress(OSError):  # the remote is asked before anything starts, whatever is shown
        if lines:
            write_synced(file, lines.encode())
        else:
            file.unlink(missing_ok=True)


class RunClaims:
    """The claims of one run; without `claims` there is no remote to claim at, and everything is free.

    `share` brings the state branch up to date with the remote and returns whether that went well; `warn` gets what goes
    wrong, once; `state` returns how a task stands here, to be compared. All are called from several threads.
    """

    def __init__(
        self,
        claims: Claims | None,
        share: Callable[[], bool],
        warn: Callable[[str], None],
        clock: Callable[[], float],
        state: Callable[[TaskId], object],
    ) -> None:
        self._claims = claims
        self._share = share
        self._warn = warn
        self._clock = clock
        self._state = state
        self._taken: dict[TaskId, object] = {}
        self._lock = threading.Lock()
        self._taking = threading.Lock()
        self._finished: set[TaskId] = set()
        self._lost: set[TaskId] = set()
        self._elsewhere: dict[TaskId, float] = {}
        self._asked_again: set[TaskId] = set()
        self._renew_each = 0.0 if claims is None else claims.lease.total_seconds() / _RENEWALS
        self._renew_at = clock() + self._renew_each
        self._is_offline = False
        self._away_until = clock()
        self._share_at = clock()

    @classmethod
    def none(cls) -> RunClaims:
        """Returns those of a clone that shares with nobody."""
        return cls(None, lambda: True, lambda _: None, lambda: 0.0, lambda _: None)

    @property
    def elsewhere(self) -> frozenset[TaskId]:
        """Returns the tasks that another clone had when this one last asked for them."""
        with self._lock:
            return frozenset(self._elsewhere)

    @property
    def not_to_ask(self) -> frozenset[TaskId]:
        """Returns those of them that were asked for so recently that it is too early to ask again."""
        with self._lock:
            return frozenset(one for one, until in self._elsewhere.items() if until > self._clock())

    def ask_again(self) -> None:
        """Lets each of them be asked for once more: it may have been given back a moment later."""
        with self._lock:
            again = self._elsewhere.keys() - self._asked_again
            self._elsewhere |= dict.fromkeys(again, self._clock())
            self._asked_again |= again

    @property
    def lost(self) -> frozenset[TaskId]:
        """Returns the tasks that another clone took over while this one was not heard of."""
        with self._lock:
            return frozenset(self._lost)

    def take(self, task_id: TaskId) -> None:
        """Claims a task unless that was done, and brings here what others did to it, who may also cancel what is claimed.

        A remote that gives no answer keeps nobody from working; that is said.

        Raises:
            ClaimedElsewhereError: another clone has it.
        """
        if self._claims is None:
            return
        with self._lock:
            self._finished.discard(task_id)
            self._lost.discard(task_id)
        with self._taking, self._asking():
            if self._clock() < self._away_until:
                return
            is_new = task_id not in self._claims.own
            if task_id not in self._claims.held:
                self._claim(self._claims, task_id)
            self._share()
            if is_new:
                self._taken[task_id] = self._state(task_id)

    def require_free(self, task_id: TaskId) -> None:
        """Refuses what another clone has, claiming nothing, and brings here what others did to it.

        Raises:
            ClaimedElsewhereError: another clone has it.
        """
        if self._claims is None:
            return
        with self._taking, self._asking():
            if self._clock() < self._away_until:
                return
            holder = self._claims.holder(task_id)
            if holder is not None:
                raise ClaimedElsewhereError(task_id, holder)
            self._share()

    def _claim(self, claims: Claims, task_id: TaskId) -> None:
        holder = claims.take(task_id)
        self._is_offline = False
        with self._lock:
            self._elsewhere.pop(task_id, None)
            if holder is not None:
                self._elsewhere[task_id] = self._clock() + _AGAIN_SECONDS
        if holder is not None:
            raise ClaimedElsewhereError(task_id, holder)

    def confirm(self, task_id: TaskId) -> None:
        """Does the same before something is made that others see, having asked the remote whether the task is still ours.

        Raises:
            ClaimedElsewhereError: another clone has it.
        """
        if self._claims is None:
            return
        with self._asking():
            self._claims.is_held(task_id)
            self.take(task_id)

    def ref_at(self, remote: str, task_id: TaskId) -> AbstractContextManager[dict[str, str]]:
        """Gives the ref of a claim that is held at a remote, and where it stands until the end; nothing if none is."""
        claims = self._claims
        if claims is None or claims.remote != remote:
            return contextlib.nullcontext({})
        return claims.ref_of(task_id)

    def note_released(self, task_id: TaskId) -> None:
        """Forgets a claim that was given back together with what was made."""
        if self._claims is not None:
            self._claims.note_released(task_id)

    def note_end(self, task: Task, *, is_ours: bool) -> None:
        """Gives a task back, with the next look, unless this run continues with it (`is_ours`)."""
        if self._claims is not None and not is_ours and task.id in self._claims.held:
            with self._lock:
                self._finished.add(task.id)

    def note_closed(self, task_ids: Iterable[TaskId]) -> None:
        """Gives back, with the next look, what a killed run had claimed of tasks that are closed by now."""
        if self._claims is not None:
            with self._lock:
                self._finished |= self._claims.own.intersection(task_ids)

    def look(self) -> None:
        """Renews what is due and gives back what is finished; to be called about once a second, in one thread."""
        if self._claims is None:
            return
        with self._asking():
            now = self._clock()
            if now >= self._renew_at:
                self._renew_at = now + min(_AGAIN_SECONDS, self._renew_each)  # unless it goes well
                lost = self._claims.renew()
                self._renew_at = now + self._renew_each
                with self._lock:
                    self._lost |= lost
                for task_id in sorted(lost):
                    self._warn(f"`{task_id}` was taken over by another clone, because its claim had expired")
            if self._clock() >= self._share_at:
                self._give_back()

    def end(self) -> None:
        """Gives everything back, once the others can see what became of it; at once what nothing was done about."""
        if self._claims is None:
            return
        with self._lock:
            self._finished |= self._claims.held
        with self._asking():
            self._give_back()

    def _give_back(self) -> None:
        with self._lock:
            finished = frozenset(self._finished)
        if not finished or self._claims is None:
            return
        began = self._clock()
        if not self._share():
            now = self._clock()
            self._share_at = now + max(_AGAIN_SECONDS, _REST * (now - began))
            finished = frozenset(
                one for one in finished if one in self._taken and self._state(one) == self._taken[one]
            )
        with self._taking:
            with self._lock:
                finished &= self._finished  # one may have been taken again meanwhile
            try:
                self._claims.release(finished)
            except UnreachableError:
                self._share_at = self._clock() + _AGAIN_SECONDS
                raise
            with self._lock:
                self._finished -= finished

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        """Lets work continue where the remote gives no answer; each session would else wait for it in turn."""
        began = self._clock()
        try:
            yield
        except UnreachableError as error:
            now = self._clock()
            self._away_until = now + _REST * (now - began)
            if not self._is_offline:
                self._is_offline = True
                self._warn(
                    f"work continues without a claim, so another clone may work on the same task: {error.message}"
                )
