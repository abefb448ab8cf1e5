"""Shares tasks with a remote: applies what was saved, fetches, merges by meaning and pushes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple

from gitticks.actions.context import Context
from gitticks.actions.dependencies import Cycle, cycles_of
from gitticks.actions.hook_history import refuse_push
from gitticks.actions.merges_by_hand import FoundMerge, notice_merges
from gitticks.actions.taking_up import take_up
from gitticks.actions.trust import require_team_trusted
from gitticks.board.checkout_state import TakenUp
from gitticks.errors import GitticksError, LostRaceError, NotFoundError, RefusedError
from gitticks.git.identity import ENGINE_IDENTITY
from gitticks.git.locks import hold_lock
from gitticks.git.refs import read_ref
from gitticks.git.sharing import (
    LONGEST_SECONDS,
    Fetched,
    Pushed,
    address_of,
    fetch,
    push,
    remote_of_branch,
    remotes,
    tracking_ref,
)
from gitticks.model.ids import TaskId
from gitticks.model.settings import MergeMode
from gitticks.runner.claiming import note_claims
from gitticks.runner.events import RunEvent, TaskMoved, Warned
from gitticks.store.branch import Store
from gitticks.store.claims import CLAIMS, SEEN
from gitticks.store.decisions import Circumstances, follow_epics
from gitticks.store.index import open_index
from gitticks.store.layout import STATE_BRANCH, task_around, task_of_path
from gitticks.store.merging.commits import MergeReport, Renamed
from gitticks.store.merging.files import standing_beside
from gitticks.store.publishing import pause
from gitticks.store.sharing import (
    RESTORE,
    last_shared,
    remember_shared,
    take_in,
    warnings_of,
    words_of_rewritten,
)

MOST_UNKNOWN = 2
"""So often a remote may leave a push without an answer."""
MOST_ROUNDS = 12
"""So often others may push first before we give up; each time all that they pushed is taken in."""


Span = tuple[str | None, str]
"""Two commits of the state branch, of which the second contains the first; None stands for nothing."""


class Reached(StrEnum):
    """How far a sync came."""

    DONE = "done"
    OFFLINE = "offline"
    NO_REMOTE = "no remote"


class MovedTask(NamedTuple):
    """A task that came or went; without a title where its file cannot be read or `is_gone`."""

    id: TaskId
    is_new: bool
    is_gone: bool
    status: str | None = None
    title: str | None = None


class Moved(NamedTuple):
    """What came from the remote, or went there: tasks sorted by id, and other files by path."""

    tasks: tuple[MovedTask, ...] = ()
    files: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.tasks or self.files)


@dataclass(frozen=True, slots=True)
class Synced:
    """What a sync did.

    Attributes:
        reached: how far it came.
        remote: with which remote; None if there is none.
        came: what was taken in.
        went: what was pushed.
        conflicts: files that hold both sides' texts now, with the names of the parts.
        overridden: fields that both sides changed, of which the later value stands, by path.
        renamed: tasks that got another id, because two were born with one.
        kept: files that one side removed and that stay, as the other changed them.
        beside: where texts were put that could not be joined.
        cycles: tasks that wait for one another now, and what takes one link out.
        taken_up: saved edits of the board that were committed first, by path.
        left: those that were not, with the reason.
        words: git's own, where the remote was not reached.
        merged: tasks whose work was found merged by hand.
        followed: tasks that moved by what happened to their pull requests.
        tip: the state branch's commit that was to be shared; None without a remote.
    """

    reached: Reached
    remote: str | None = None
    came: Moved = field(default_factory=Moved)
    went: Moved = field(default_factory=Moved)
    conflicts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    overridden: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    renamed: tuple[Renamed, ...] = ()
    kept: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    cycles: tuple[Cycle, ...] = ()
    taken_up: tuple[str, ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)
    words: str = ""
    merged: tuple[FoundMerge, ...] = ()
    followed: tuple[TaskMoved, ...] = ()
    tip: str | None = None

    @property
    def has_moved(self) -> bool:
        """True if anything came, went or was applied."""
        return bool(self.came or self.went or self.taken_up or self.merged or self.followed)


def moved_in(store: Store, spans: Iterable[Span]) -> Moved:
    """Returns what differs between the two commits of each span, by task."""
    tree_of = store.objects.tree_of
    changed = [
        one
        for old, new in spans
        for one in store.objects.changed_files(None if old is None else tree_of(old), tree_of(new))
    ]
    if not changed:
        return Moved()
    added = {task_of_path(one.path) for one in changed if one.old is None}
    removed = {task_of_path(one.path) for one in changed if one.new is None}
    ids = sorted({found for one in changed if (found := task_around(one.path)) is not None})
    with open_index(store.repository) as index:
        rows = {one: index.find(one) for one in ids}
    return Moved(
        tuple(
            MovedTask(
                one, one in added, one in removed, row.status if row else None, row.title if row else None
            )
            for one, row in rows.items()
        ),
        tuple(dict.fromkeys(one.path for one in changed if task_around(one.path) is None)),
    )


def sync(
    context: Context,
    remote: str | None = None,
    *,
    restore: bool = False,
    follows: bool = True,
    timeout_seconds: float = LONGEST_SECONDS,
) -> Synced:
    """Takes in what a remote has, and pushes what it lacks; without a name it is the usual remote.

    With `restore` it continues where the remote's branch lost commits that it had, and brings them back. If it `follows`,
    the forge is asked for pull requests, after what another clone made of the same events is here.
    """
    context.store.tip()
    saved = TakenUp() if context.world.in_session else take_up(context)
    merged = notice_merges(context)
    name = _remote(context, remote)
    if name is None:
        followed = _follow(context) if follows else ()
        context.warn_of_fallen()
        return Synced(
            Reached.NO_REMOTE, taken_up=saved.paths, left=saved.left, merged=merged, followed=followed
        )
    syncing = _Sync(context, name, saved, timeout_seconds, restore)
    done = syncing.run()
    followed = _follow(context) if follows else ()
    if follows and done.reached is Reached.DONE and context.store.tip() != syncing.tip:
        done = syncing.run()
    context.warn_of_fallen()  # what was pushed before has come back
    return replace(done, merged=merged, followed=followed)


def _follow(context: Context) -> tuple[TaskMoved, ...]:
    """Takes in what happened to pull requests, and returns the tasks that it moved; only then the runner is loaded."""
    try:
        mode = context.settings.merge.mode
    except GitticksError:  # a sync may bring what repairs them
        return ()
    if context.world.in_session or mode is not MergeMode.PULL_REQUEST:
        return ()
    from gitticks.runner.context import RunContext
    from gitticks.runner.pull_requests import PullRequests

    moved: list[TaskMoved] = []

    def listen(event: RunEvent) -> None:
        if isinstance(event, TaskMoved):
            moved.append(event)
        elif isinstance(event, Warned):
            about = f"`{event.task}`: " if event.task else ""
            context.warnings.append(f"{about}{event.message}")

    try:
        require_team_trusted(context)
        PullRequests(RunContext(context.repository, context.settings, context.world, listen)).look_once()
    except GitticksError as error:
        context.warnings.append(f"pull requests were not checked: {error.in_one_line}")
    return tuple(moved)


def _remote(context: Context, asked: str | None) -> str | None:
    known = remotes(context.repository)
    if asked is not None:
        if asked not in known:
            adding = f"`git remote add NAME {asked}` adds it, then run `gt sync NAME`"
            hint = adding if "/" in asked or ":" in asked else "`git remote -v` lists them"
            raise NotFoundError(f"there is no remote `{asked}`", hint=hint)
        return asked
    found = remote_of_branch(context.repository, STATE_BRANCH, known)
    if found is None and known:
        raise NotFoundError(
            f"it is not clear which remote has the tasks: {', '.join(f'`{one}`' for one in known)}",
            hint=f"`git config branch.{STATE_BRANCH}.remote {known[0]}` says which",
        )
    return found


def _strange(context: Context, remote: str, words: str) -> NotFoundError:
    """Returns the error for a remote whose address is probably wrong."""
    address = re.sub(r"(?<=://)[^/@]*@", "", address_of(context.repository, remote))
    return NotFoundError(
        f"there is no repository at `{address}`, the address of `{remote}`: {words}",
        hint=f"`git remote set-url {remote} URL` corrects the address; if it is right, run `gt sync` again later",
    )


@dataclass(slots=True)
class _Sync:
    """One sync with one remote, and what it has done so far, over all its rounds."""

    context: Context
    remote: str
    saved: TakenUp
    timeout_seconds: float
    restore: bool
    tip: str = ""
    fetched: str | None = None
    unknown: int = 0
    came: list[Span] = field(default_factory=list)
    went: list[Span] = field(default_factory=list)
    reports: list[MergeReport] = field(default_factory=list)

    def run(self) -> Synced:
        """Fetches, takes in and pushes until both sides have the same; returns what this and earlier calls did."""
        repository, store = self.context.repository, self.context.store
        with hold_lock(repository.own_file("sync.lock"), wait_seconds=self.timeout_seconds):
            known = last_shared(store, self.remote)
            if known is None:
                known = read_ref(repository.common_dir, tracking_ref(self.remote, STATE_BRANCH))
            if known is not None:
                remember_shared(store, self.remote, known)
            for number in range(MOST_ROUNDS):
                ended = self._once(known)
                if ended is not None:
                    return ended
                known = self.fetched or known
                pause(number)
        raise LostRaceError(
            f"others pushed to `{self.remote}` first {MOST_ROUNDS} times in a row", hint="`gt sync`"
        )

    def _once(self, known: str | None) -> Synced | None:
        unreached = self._fetch(known)
        if unreached is not None:
            return unreached
        self._take_in()
        if self.tip == self.fetched:
            remember_shared(self.context.store, self.remote, self.tip)
            return self._result(Reached.DONE)
        refuse_push(self.context, self.remote, self.tip, self.fetched)
        pushed = push(
            self.context.repository, self.remote, self.tip, STATE_BRANCH, timeout_seconds=self.timeout_seconds
        )
        match pushed.outcome:
            case Pushed.DONE:
                self.went.append((self.fetched, self.tip))
                remember_shared(self.context.store, self.remote, self.tip)
                return self._result(Reached.DONE)
            case Pushed.REFUSED:
                raise RefusedError(
                    f"`{self.remote}` refused the tasks: {pushed.words}",
                    hint="nothing is lost: they are here, and `gt sync` pushes them once that is fixed",
                )
            case Pushed.UNKNOWN:
                self.unknown += 1
                is_given_up = self.unknown == MOST_UNKNOWN
                return self._result(Reached.OFFLINE, pushed.words) if is_given_up else None
        return None

    def _fetch(self, known: str | None) -> Synced | None:
        """Fetches; returns how the sync ends if it cannot continue."""
        where = self.context.repository, self.remote, STATE_BRANCH
        fetched = fetch(
            *where, takes_all_names=True, beside=(CLAIMS, SEEN), timeout_seconds=self.timeout_seconds
        )
        if fetched.outcome is Fetched.UNREACHABLE and fetched.is_strange:
            raise _strange(self.context, self.remote, fetched.words)
        if fetched.outcome is Fetched.UNREACHABLE:
            return self._result(Reached.OFFLINE, fetched.words)
        if fetched.outcome is Fetched.REFUSED:
            raise RefusedError(
                f"the tasks of `{self.remote}` could not be fetched: {fetched.words}",
                hint=f"`git fetch {self.remote} {STATE_BRANCH}` shows the whole answer",
            )
        self.fetched = fetched.commit
        with suppress(GitticksError):  # a sync may bring what repairs the settings
            lease = timedelta(seconds=self.context.settings.claims.lease)
            note_claims(self.context.repository, self.remote, self.context.now + lease)
        if known is not None and not self.restore:
            # That the branch lost what it had, somebody may have meant, or an attack may be it.
            words = words_of_rewritten(self.context.store, self.remote, known, self.fetched)
            if words is not None:
                raise RefusedError(f"{words}; nothing was taken in or pushed", hint=RESTORE)
        return None

    def _take_in(self) -> None:
        if self.fetched is None:
            self.tip = self.context.store.tip()
            return
        store = self.context.store
        taken = take_in(store, self.fetched, self.remote, author=self.context.author)
        self.tip = taken.after
        if self.tip not in (taken.before, self.fetched):
            with suppress(GitticksError):  # a run does it too, once the settings can be read
                around = Circumstances(
                    self.context.now, self.context.settings, self.context.world.random_number
                )
                store.transact(lambda transaction: follow_epics(transaction, around), author=ENGINE_IDENTITY)
                self.tip = store.tip()
        self.came.append((taken.before, taken.after))
        self.context.warnings += warnings_of(taken.removed)
        self.reports.append(taken.report)

    def _result(self, reached: Reached, words: str = "") -> Synced:
        came = moved_in(self.context.store, self.came)
        cycles: tuple[Cycle, ...] = ()
        if came.tasks:  # each side may have linked in one direction
            with open_index(self.context.repository) as index:
                graph = index.graph(index.listed(open_only=True))
            ids = {one.id for one in came.tasks}
            cycles = tuple(cycle for cycle in cycles_of(graph) if not ids.isdisjoint(cycle.tasks))
        # What another clone could not join is as much a person's as what this one could not.
        there = self.context.store.snapshot()
        kept_there = [path for path in came.files if standing_beside(path) and there.read(path) is not None]
        return Synced(
            reached,
            self.remote,
            came=came,
            went=moved_in(self.context.store, self.went),
            conflicts={path: parts for one in self.reports for path, parts in one.conflicts.items()},
            overridden={path: names for one in self.reports for path, names in one.overridden.items()},
            renamed=tuple(one for report in self.reports for one in report.renamed),
            kept=tuple(path for one in self.reports for path in one.kept),
            beside=tuple(
                dict.fromkeys((*(path for one in self.reports for path in one.beside), *kept_there))
            ),
            cycles=cycles,
            taken_up=self.saved.paths,
            left=self.saved.left,
            words=words,
            tip=self.tip,
        )
