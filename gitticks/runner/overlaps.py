"""Forecasts conflicts between work in progress, while it can still be avoided."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from gitticks.errors import GitticksError, first_of
from gitticks.git.merges.forecast import forecast
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.git.repository import Repository
from gitticks.model.ids import WORK_BRANCH, TaskId
from gitticks.model.settings import Settings
from gitticks.model.task import Task
from gitticks.runner.events import Warned
from gitticks.runner.run_record import Foreseen, write_foreseen
from gitticks.runner.workspace_plan import base_of, shown_paths
from gitticks.workflow.merge_ahead import Waiting, merge_order

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from gitticks.runner.context import RunContext


LOOK_SECONDS = 5.0
"""A run looks for conflicts at most so often."""
_MOST_SHOWN = 3


class _Work(NamedTuple):
    """Work that is not merged: its name, the commit that it has come to, and the branch that it is for."""

    name: str
    head: str
    base: str


def find_overlaps(
    repository: Repository, tasks: Iterable[Task], settings: Settings, among: Iterable[str]
) -> tuple[Foreseen, ...]:
    """Returns the conflicts of unmerged work with its base and with other work for the same base, as far as `among` takes part.

    Work is named after its task, or after the epic where its tasks share a branch. Only commits count.
    """
    work = _unmerged(repository, tasks, settings)
    if not {one.name for one in work}.intersection(among):
        return ()
    return tuple(_forecast(repository, work, among))


def _unmerged(repository: Repository, tasks: Iterable[Task], settings: Settings) -> frozenset[_Work]:
    found = set()
    for task in tasks:
        branch = task.branch or ""
        if not task.is_open or not branch.startswith(WORK_BRANCH):
            continue
        tip = read_ref(repository.common_dir, BRANCHES + branch)
        if tip is not None and tip != task.start_sha:
            found.add(_Work(branch.removeprefix(WORK_BRANCH), tip, base_of(task, settings, repository)))
    return frozenset(found)


def _forecast(
    repository: Repository,
    work: Iterable[_Work],
    among: Iterable[str] | None = None,
    *,
    with_base: bool = True,
) -> Iterator[Foreseen]:
    by_base: dict[str, dict[str, str]] = {}
    for one in sorted(work):
        by_base.setdefault(one.base, {})[one.name] = one.head
    wanted = None if among is None else [*among]
    for base, heads in by_base.items():
        tip = read_ref(repository.common_dir, BRANCHES + base)
        if tip is not None:
            found = forecast(repository, tip, heads, among=wanted, with_base=with_base)
            yield from (Foreseen(one.name, one.other, base, one.paths) for one in found)


def keep_overlaps(repository: Repository, tasks: Iterable[Task], settings: Settings) -> tuple[Foreseen, ...]:
    """Finds the conflicts of all unmerged work, keeps them for the commands that do not look themselves, and returns them."""
    return _keep(repository, _unmerged(repository, tasks, settings))


def _keep(repository: Repository, work: frozenset[_Work]) -> tuple[Foreseen, ...]:
    """Finds the conflicts of work, keeps each with the refs that it holds for and where these stand, and returns them."""
    refs = {one.name: (f"{BRANCHES}{WORK_BRANCH}{one.name}", one.head) for one in work}
    found = []
    for one in _forecast(repository, work):
        ref = f"{BRANCHES}{one.base}"
        other = (ref, read_ref(repository.common_dir, ref)) if one.other is None else refs[one.other]
        found.append((one, (refs[one.name], other)))
    write_foreseen(repository.own_dir, found)
    return tuple(one for one, _ in found)


class OverlapWatch:
    """Looks for conflicts during a run, and keeps and reports what it foresees."""

    def __init__(self, run: RunContext) -> None:
        self._run = run
        self._seen: frozenset[tuple[str, str | None]] | None = None
        self._reported: set[tuple[str, str | None]] = set()
        self._next_at = 0.0
        self._look: Future[None] | None = None

    def look(self, pool: ThreadPoolExecutor, tasks: Iterable[Task]) -> None:
        """Begins a look in a thread, at most one at a time and once in a while."""
        now = self._run.world.monotonic_seconds()
        if now >= self._next_at and (self._look is None or self._look.done()):
            self._next_at = now + LOOK_SECONDS
            self._look = pool.submit(self.note, tuple(tasks))

    def note(self, tasks: Iterable[Task]) -> None:
        """Looks if a branch has moved, keeps what is found, and reports what is new.

        A forecast that fails keeps nobody from working.
        """
        run = self._run
        with contextlib.suppress(GitticksError, OSError):
            work = _unmerged(run.repository, tasks, run.settings)
            bases = {(one.base, read_ref(run.repository.common_dir, BRANCHES + one.base)) for one in work}
            seen = frozenset([*((one.name, one.head) for one in work), *bases])
            if seen == self._seen:
                return
            found = _keep(run.repository, work)
            self._seen = seen
            self._report(found)

    def _report(self, found: Iterable[Foreseen]) -> None:
        with_whom: dict[TaskId, list[str]] = {}
        for one in found:
            if (one.name, one.other) not in self._reported:
                self._reported.add((one.name, one.other))
                words = f"`{one.other or one.base}` in {shown_paths(one.paths)}"
                with_whom.setdefault(TaskId(one.name), []).append(words)
        for task_id, conflicts in with_whom.items():
            self._run.emit(Warned(task_id, f"its work conflicts with {first_of(conflicts, _MOST_SHOWN)}"))


def find_pairs(repository: Repository, tasks: Iterable[Task]) -> list[tuple[TaskId, TaskId]]:
    """Returns which of these tasks' hand-offs for the same base conflict with one another; none if git cannot tell."""
    work = [_Work(task.id, task.end_sha, task.base) for task in tasks if task.base and task.end_sha]
    with contextlib.suppress(GitticksError):
        found = list(_forecast(repository, work, with_base=False))
        return [(TaskId(one.name), TaskId(one.other)) for one in found if one.other is not None]
    return []


def in_merge_order(repository: Repository, tasks: Iterable[Task]) -> list[Task]:
    """Returns those of some tasks that are approved and not merged yet, in the order in which they are merged."""
    approved = {task.id: task for task in tasks if task.is_merging}
    waiting = [
        Waiting(task.id, task.approval.at, task.blocked_by)
        for task in approved.values()
        if task.approval is not None
    ]
    # Of two that conflict with one another each has one conflict.
    pairs = find_pairs(repository, approved.values()) if len(approved) > 2 else ()  # noqa: PLR2004
    return [approved[one] for one in merge_order(waiting, pairs)]


def overlap_warnings(
    repository: Repository, tasks: Iterable[Task], settings: Settings, name: str
) -> tuple[str, ...]:
    """Returns what a worker on the branch of this name should know of them."""
    try:
        found = find_overlaps(repository, tasks, settings, [name])
    except GitticksError:
        return ()  # a forecast keeps nobody from working
    return tuple(_words(one, name) for one in found)


def _words(overlap: Foreseen, name: str) -> str:
    where = shown_paths(overlap.paths)
    if overlap.other is None:
        return f"your commits conflict with the current base branch in {where}: `git merge` it and resolve the conflict"
    other = overlap.other if overlap.name == name else overlap.name
    return (
        f"`{other}`, which others work on at the same time, conflicts with your commits in {where}: change no more "
        "there than you need"
    )
