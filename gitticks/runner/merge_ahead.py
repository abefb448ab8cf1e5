"""Builds and checks merges, the next ones of a run in parallel, each as if those before it had been made.

Only the same merge may use what came of it (`workflow/merge_ahead.py`), so the base never gets an unchecked tree.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from queue import SimpleQueue
from typing import NamedTuple, Self

from gitticks.agents.process import StopRequest
from gitticks.errors import GitticksError, NotFoundError
from gitticks.git.checkouts import Checkout, checkout_at
from gitticks.git.identity import ENGINE_IDENTITY, Identity
from gitticks.git.merges.asides import PooledAside, left_asides
from gitticks.git.merges.commits import (
    CleanMerge,
    CleanRebase,
    Conflict,
    HookRefusedError,
    commit_merge,
    merge_in_memory,
    rebase_in_memory,
    throwaway_commit,
)
from gitticks.git.merges.history import merge_trailers
from gitticks.git.repository import Repository
from gitticks.model.ids import TaskId
from gitticks.model.settings import MergeMode, MergeStrategy
from gitticks.model.task import Task
from gitticks.runner import workspace_setup, workspaces
from gitticks.runner.context import RunContext
from gitticks.runner.verifiers import ChecksReport, has_commands, judge_tree, run_checks
from gitticks.runner.workspace_environment import remove_temporary_folder, temporary_folder
from gitticks.workflow.merge_ahead import Candidate, CheckedMerge, count_holding, may_stand_for

Aside = Callable[[str], AbstractContextManager[Checkout]]
"""Gives a checkout of a commit."""
_NOT_REBASED = "Squashed: its commits, rebased one by one, would not give this tree."


def build_merge(
    repository: Repository,
    task: Task,
    tip: str,
    strategy: MergeStrategy,
    made: tuple[Identity, Aside] | None = None,
) -> str | Conflict | None:
    """Returns the commit that brings a task's head to `tip`; None if `tip` lacks nothing of it. No branch is moved.

    `made` says who it is by and where hooks run, as `commit_merge` makes it; without that it is only to be tried out.
    """
    head = str(task.end_sha)
    trailers = merge_trailers(task.id, head)
    merged: CleanMerge | CleanRebase | Conflict
    if strategy is MergeStrategy.REBASE:
        author = None if made is None else made[0]
        merged = rebase_in_memory(repository, tip, head, committer=author, trailers=trailers)
    else:
        merged = merge_in_memory(repository, tip, head)
    if isinstance(merged, Conflict):
        return merged
    if merged.tree == repository.objects.tree_of(tip):
        return None
    if made is not None and isinstance(merged, CleanRebase):
        return merged.commit
    parents = [tip, head] if strategy is MergeStrategy.MERGE else [tip]
    if made is None:
        return throwaway_commit(repository, merged.tree, *parents)
    title = " ".join(task.title.split())
    subject = f"Merge {task.id}: {title}" if strategy is MergeStrategy.MERGE else title
    why = f"{_NOT_REBASED}\n\n" if strategy is MergeStrategy.REBASE else ""
    message = f"{subject}\n\n{why}{trailers}"
    return commit_merge(repository, merged.tree, parents, message, author=made[0], aside=made[1])


def make_merge(
    run: RunContext, task: Task, tip: str, made: tuple[Identity, Aside], stop: StopRequest
) -> str | Conflict | None:
    """Builds it for the base. A hook that refuses is asked again after a set-up, which takes long and few hooks need."""
    (merger, aside), strategy, setup = made, run.settings.merge.strategy, run.settings.setup

    @contextlib.contextmanager
    def set_up_aside(commit: str) -> Iterator[Checkout]:
        with _set_up(run, aside, commit, stop) as (checkout, _):
            workspace_setup.name_committer(run.repository, checkout.path, None)
            yield checkout

    try:
        return build_merge(run.repository, task, tip, strategy, made)
    except HookRefusedError:
        if setup.run is None and not setup.copy:
            raise
    return build_merge(run.repository, task, tip, strategy, (merger, set_up_aside))


def check_merge(run: RunContext, aside: Aside, commit: str, stop: StopRequest) -> ChecksReport:
    """Sets up a checkout of a merge and runs the quality gates there."""
    with _set_up(run, aside, commit, stop) as (checkout, environment):
        return run_checks(checkout.path, run.settings, environment, run.repository, on_merge=True, stop=stop)


@contextlib.contextmanager
def _set_up(
    run: RunContext, aside: Aside, commit: str, stop: StopRequest
) -> Iterator[tuple[Checkout, dict[str, str]]]:
    environment = run.outer_environment()
    with aside(commit) as checkout, temporary_folder(run.repository, checkout) as variables:
        environment |= variables
        # As in a workspace: a sandbox hides the person's own configuration.
        workspace_setup.name_committer(run.repository, checkout.path, ENGINE_IDENTITY)
        workspace_setup.set_up(run.repository, checkout, run.settings, environment, stop)
        yield checkout, environment


def checked_merge(run: RunContext, task: Task, tip: str, commit: str) -> CheckedMerge:
    """Returns which merge the check of `commit` is the check of."""
    settings, repository = run.settings, run.repository
    policy = (
        settings.verify,
        settings.setup,
        settings.merge,
        settings.sandbox,
        settings.permissions,
        settings.limits,
    )
    onto, tree = (repository.objects.tree_of(one) for one in (tip, commit))
    return CheckedMerge(Candidate(task.id, str(task.end_sha)), onto, tree, policy)


class PassedCheck(NamedTuple):
    """A merge that passed its checks, and in words what they found."""

    merge: CheckedMerge
    tested: str


class _Check(NamedTuple):
    merge: CheckedMerge
    commit: str
    stop: StopRequest
    report: Future[ChecksReport | None]


class _Supposed(NamedTuple):
    """What a base is about to be."""

    base: str
    commit: str
    tree: str


class ChecksAhead:
    """The checks that a run makes before their turn, at most `merge.ahead` at once, and fewer than it has agents.

    `look` is for the run's own thread, `begin`, `suppose` and `take` for that of the merge.
    """

    def __init__(self, run: RunContext) -> None:
        self._run = run
        settings = run.settings
        is_possible = has_commands(settings) and settings.merge.mode is MergeMode.QUEUE
        self._most = min(settings.merge.ahead, run.options.parallel - 1) if is_possible else 0
        self._lock = threading.Lock()
        self._ahead: list[_Check] = []
        self._skipped: set[tuple[Candidate, str]] = set()
        self._supposed: _Supposed | None = None
        self._merging: TaskId | None = None
        self._held = contextlib.ExitStack()
        self._pools: SimpleQueue[PooledAside] = SimpleQueue()
        # One more, which goes on while the merge whose turn it is waits for it.
        self._threads = ThreadPoolExecutor(max_workers=self._most + 1, thread_name_prefix="ahead")

    def __enter__(self) -> Self:
        """Checks nothing yet; what killed checks left for temporary files goes."""
        for path in left_asides(self._run.repository):
            with contextlib.suppress(NotFoundError):
                remove_temporary_folder(self._run.repository, checkout_at(self._run.repository, path))
        for _ in range(self._most + 1 if self._most else 0):
            self._pools.put(self._held.enter_context(PooledAside(self._run.repository)))
        return self

    def __exit__(self, *_: object) -> None:
        """Stops what is still checked and removes its checkouts."""
        with self._held, self._lock:
            self._drop(0)
            self._threads.shutdown()

    @property
    def is_on(self) -> bool:
        """True if anything is ever checked ahead."""
        return self._most > 0

    @property
    def task_ids(self) -> tuple[TaskId, ...]:
        """Returns the tasks whose merges are checked ahead, in order, or passed and wait for their turn."""
        with self._lock:
            return tuple(one.merge.candidate.task for one in self._ahead)

    def begin(self, task_id: TaskId) -> None:
        """Says whose turn it is; what the base becomes is not known yet."""
        with self._lock:
            self._merging, self._supposed = task_id, None

    def suppose(self, base: str, commit: str) -> None:
        """Says what the base becomes if the merge whose turn it is passes."""
        tree = self._run.repository.objects.tree_of(commit)
        with self._lock:
            self._supposed = _Supposed(base, commit, tree)

    def take(self, asked: CheckedMerge, stop: StopRequest) -> ChecksReport | None:
        """Waits for the check of exactly this merge and returns its result; None if there is none."""
        with self._lock:
            self._merging = None
            found = next((one for one in self._ahead if one.merge.candidate == asked.candidate), None)
            if found is None:
                return None
            self._ahead.remove(found)
            if not may_stand_for(found.merge, asked, passed=True):
                found.stop.request()
                return None
        with stop.listening(lambda _: found.stop.request()):
            report = found.report.result()
        passed = report is not None and report.failure is None
        return report if may_stand_for(found.merge, asked, passed=passed) else None

    def look(self, waiting: Sequence[Task]) -> None:
        """Begins the checks of what is next among those that wait, in their order, and stops those for nothing."""
        candidates = {Candidate(task.id, str(task.end_sha)): task for task in waiting}
        with self._lock:
            supposed = self._supposed
            merges = [one.merge for one in self._ahead]
            tree = None if supposed is None else supposed.tree
            self._drop(count_holding(merges, tree, candidates, self._merging))
            if supposed is None:
                return
            for candidate, task in candidates.items():
                if len(self._ahead) >= self._most:
                    return
                tip = self._ahead[-1].commit if self._ahead else supposed.commit
                if (
                    candidate in {one.merge.candidate for one in self._ahead}
                    or (candidate, tip) in self._skipped
                ):
                    continue
                built = self._build(task, supposed.base, tip)
                if built is None:
                    self._skipped.add((candidate, tip))
                    continue
                merge, commit = built
                stop = StopRequest()
                report = self._threads.submit(self._check, commit, stop)
                self._ahead.append(_Check(merge, commit, stop, report))

    def _build(self, task: Task, base: str, tip: str) -> tuple[CheckedMerge, str] | None:
        repository, head = self._run.repository, str(task.end_sha)
        try:
            own_base = workspaces.base_of(task, self._run.settings, repository)
            if own_base != base or judge_tree(repository, tip, head) is not None:
                return None
            commit = build_merge(repository, task, tip, self._run.settings.merge.strategy)
            if commit is None or isinstance(commit, Conflict):
                return None
            return checked_merge(self._run, task, tip, commit), commit
        except (GitticksError, OSError):
            return None  # its turn says what is wrong

    def _check(self, commit: str, stop: StopRequest) -> ChecksReport | None:
        pool = self._pools.get()
        try:
            return None if stop.is_requested else check_merge(self._run, pool.at, commit, stop)
        except (GitticksError, OSError):
            return None
        finally:
            self._pools.put(pool)

    def _drop(self, holding: int) -> None:
        for one in self._ahead[holding:]:
            one.stop.request()
        del self._ahead[holding:]
