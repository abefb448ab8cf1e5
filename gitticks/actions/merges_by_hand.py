"""Detects merges made or undone with plain git."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable, Iterator
from shlex import quote
from typing import NamedTuple

from gitticks.actions.context import Context
from gitticks.actions.derived_state import FAILED, MERGES_KEPT, MERGES_SEEN, state_of_merges
from gitticks.errors import GitticksError, first_of
from gitticks.git.files import write_synced
from gitticks.git.locks import hold_lock_if_possible
from gitticks.git.log import committer_of, fast_forwarder
from gitticks.git.merges.commits import has_work, why_in_doubt
from gitticks.git.merges.history import find_merge, find_same_patch, is_ancestor, lost_commits, merge_of
from gitticks.git.refs import BRANCHES, default_base, read_ref
from gitticks.model.event import ENGINE, Actor, EventType
from gitticks.model.ids import WORK_BRANCH, TaskId
from gitticks.model.status import ActorKind, Awaiting, Status
from gitticks.model.task import Task
from gitticks.runner.liveness import live_tasks
from gitticks.runner.shared_base import MERGE_LOCK
from gitticks.store.decisions import carry_out
from gitticks.store.index import open_index
from gitticks.workflow.triggers import MergeFound

_MOST_NAMED = 5


class FoundMerge(NamedTuple):
    """A task whose work was found in its base: as which commit, and what became of the task."""

    id: TaskId
    title: str
    commit: str
    base: str
    status: Status

    @property
    def outcome(self) -> str:
        """Returns what became of the task, in words."""
        return "done" if self.status is Status.DONE else f"{self.status}, and waits for your decision"


class _Candidate(NamedTuple):
    """A task that has work of its own, and where that and its base stand."""

    task: Task
    head: str
    base: str
    tip: str


def notice_merges(context: Context) -> tuple[FoundMerge, ...]:
    """Moves every task on whose work somebody merged by hand; tasks with a live session are left alone.

    All are while a merge is being made: what moves the base then is gitticks itself.
    """
    if context.world.in_session:
        return ()
    candidates = tuple(_candidates(context))
    if not any(one.task.is_merging for one in candidates):
        return _notice_all(context, candidates)
    with hold_lock_if_possible(context.repository.own_file(MERGE_LOCK), wait_seconds=0.0) as is_alone:
        if not is_alone:
            return ()  # the next command looks again
        return _notice_all(context, tuple(_candidates(context)))


def _notice_all(context: Context, candidates: tuple[_Candidate, ...]) -> tuple[FoundMerge, ...]:
    place = context.repository.own_file(MERGES_SEEN)
    base = None
    with contextlib.suppress(GitticksError):  # settings that cannot be read keep nobody from looking at tasks
        base = context.settings.base
    base = base or default_base(context.repository)
    states = [
        (one.task.id, one.task.status, one.task.awaiting, one.task.merged_sha, one.head, one.base, one.tip)
        for one in candidates
    ]
    digest = hashlib.sha256(json.dumps(states).encode()).hexdigest()
    seen = f"{base} {read_ref(context.repository.common_dir, f'{BRANCHES}{base}')} {digest}"
    with contextlib.suppress(OSError):
        known, _, failed = place.read_text("utf-8", "replace").partition(FAILED)
        if known == seen:  # what failed may work now; all else was looked at
            candidates = tuple(one for one in candidates if one.task.id in failed.split(","))
            if not candidates:
                return ()
    found, failing = [], []
    for candidate in candidates:
        try:
            one = _notice(context, candidate)
        except GitticksError as error:
            doubt = f"cannot tell whether `{candidate.task.id}` was merged by hand: {error.in_one_line}"
            context.warnings.append(doubt)
            failing.append(candidate.task.id)
            continue
        found += [one] if one is not None else []
    if failing:
        seen += FAILED + ",".join(failing)
    with contextlib.suppress(OSError):
        place.parent.mkdir(exist_ok=True)
        place.write_text("" if found else seen, "utf-8")
    return tuple(found)


def _candidates(context: Context) -> Iterator[_Candidate]:
    common_dir = context.repository.common_dir
    with open_index(context.repository) as index:
        begun = index.begun()
        live = live_tasks(context.repository.own_place) if begun else frozenset()
        tasks = [index.task(row.id) for row in begun if row.id not in live]
        with_code = set(index.carriers().values()) if any(task.is_epic for task in tasks) else set()
    for task in tasks:
        if task.is_epic and not task.has_code and task.id not in with_code:
            continue  # what is on its branch is of tasks that left it, or are not done
        if task.branch != f"{WORK_BRANCH}{task.id}" or task.start_sha is None:
            continue
        head = read_ref(common_dir, f"{BRANCHES}{task.branch}") or task.end_sha
        base = task.base or context.settings.base
        tip = None if base is None else read_ref(common_dir, f"{BRANCHES}{base}")
        if head is not None and base is not None and tip is not None and head != task.start_sha:
            yield _Candidate(task, head, base, tip)


def _notice(context: Context, candidate: _Candidate) -> FoundMerge | None:
    """Moves one task on if its work is in its base."""
    from gitticks.store.approvals import why_unproven

    task = candidate.task
    commit = _find(context, candidate)
    if commit is None or commit in _recorded(context, task):
        return None
    if task.is_merging and merge_of(context.repository, commit) == (task.id, task.end_sha):
        return None  # the queue made it, and was killed; it has to bring the checkouts up to date too
    doubt = _doubt(context, candidate, commit)
    merger = ENGINE if doubt else _merger(context, candidate, commit)
    if not merger.is_human and (task.is_merging or task.is_offered):
        return None  # the queue merges it, or asks; the forge knows who did
    history = context.store.history(task.id)
    unproven = why_unproven(context.repository, context.resolved_settings, task, history, context.now)
    found = MergeFound(merger, commit, doubt or unproven)
    circumstances = context.circumstances(task, head=candidate.head)
    decision = context.store.transact(
        lambda transaction: carry_out(transaction, task.id, found, circumstances), author=context.author
    )
    after = decision.task
    return FoundMerge(after.id, after.title, commit, candidate.base, after.status)


def _find(context: Context, candidate: _Candidate) -> str | None:
    """Returns the commit by which the base got the work.

    Work that was never handed over, and that the base merely contains, may be the base's own: an agent that brought
    its branch up to date has its commits. So there only a merge, or the same changes, count.
    """
    task = candidate.task
    if not context.store.objects.has(candidate.head):  # the work is in another clone
        return None
    commit = find_merge(context.repository, candidate.tip, task.id, candidate.head)
    if commit is None:
        return find_same_patch(context.repository, candidate.tip, candidate.head)
    is_handed_over = task.end_sha == candidate.head or task.awaiting is Awaiting.WORK
    return commit if is_handed_over or commit != candidate.head else None


def _recorded(context: Context, task: Task) -> set[object]:
    """Returns the merges of a task that are known; one of before a reopening is no merge of what came after."""
    merged = (one for one in context.store.history(task.id) if one.type is EventType.MERGED)
    return {task.merged_sha, *(one.data.get("sha") for one in merged)}


def _doubt(context: Context, candidate: _Candidate, commit: str) -> str | None:
    """Returns why the work that a base got does not close its task, as a clause; None if it does.

    A person who merged another task's branch, on which the work was too, decided about that one alone.
    """
    repository, (task, head, _, tip) = context.repository, candidate
    doubt = why_in_doubt(repository, tip, task.id, (task.start_sha, head), commit)
    is_known = commit == head and _fast_forwarder(context, candidate) is not None
    if doubt is not None or is_known:
        return doubt
    since = lost_commits(repository, [f"{commit}^"], [tip])
    is_contained = is_ancestor(repository, head, commit)
    whole = commit if is_contained and commit != head else tip

    def has(base: str, one: Task, end: str) -> bool:
        return is_ancestor(repository, end, base) if is_contained else has_work(repository, base, one.id, end)

    # Not the index of `context`, which would show the command the task as it was.
    with open_index(context.repository) as index:
        others = tuple(index.tasks())
    for other in others:
        end = other.end_sha
        is_recent = other.is_open or other.merged_sha in since
        if other.id == task.id or end in (None, head) or not is_recent:
            continue
        if context.store.objects.has(end) and has(end, task, head) and has(whole, other, end):
            return f"with `{other.id}`"
    return None


def _merger(context: Context, candidate: _Candidate, commit: str) -> Actor:
    """Returns who made a merge: no person if nothing says so, as after a fast-forward in another clone."""
    name: str | None = committer_of(context.repository, commit).name
    if commit == candidate.head:
        name = _fast_forwarder(context, candidate)
    return Actor(ActorKind.HUMAN, name) if name else ENGINE


def _fast_forwarder(context: Context, candidate: _Candidate) -> str | None:
    return fast_forwarder(context.repository, candidate.base, str(candidate.task.branch), candidate.head)


class MissingMerges(NamedTuple):
    """Tasks that are done and whose code one base lacks.

    `commits` bring all of it back. `is_pulled` is False where the base's own remote branch has it, so that only a pull
    is missing. `is_gone` if there is no such branch any more, here or at its remote.
    """

    base: str
    tasks: tuple[TaskId, ...]
    commits: tuple[str, ...]
    is_pulled: bool = True
    is_gone: bool = False

    @property
    def words(self) -> str:
        """Returns what is missing where, as one sentence."""
        named = first_of([f"`{one}`" for one in self.tasks], _MOST_NAMED)
        which = "which is done" if len(self.tasks) == 1 else "which are done"
        if self.is_gone:
            return f"the base branch `{self.base}` is missing, with the code of {named}, {which}"
        return f"`{self.base}` lacks the code of {named}, {which}"

    @property
    def way_back(self) -> str:
        """Returns what to type, and where, for it to come back, as a clause."""
        if self.is_gone:
            return f"`git branch {quote(self.base)} {self.commits[0]}` restores it"
        merges = " && ".join(f"git merge --no-edit {commit}" for commit in self.commits)
        return f"`{merges}` on `{self.base}` restores it"


def find_missing(context: Context, tasks: Iterable[Task]) -> Iterator[MissingMerges]:
    """Yields what bases lack of those tasks that are done, one for each base; what is not stored here is no loss of it.

    Code that came into the base again, by a rebase or a cherry-pick say, is not missing, nor is what a base under
    another name has. A shallow clone does not know what its base contains.
    """
    if context.repository.is_shallow:
        return
    done: dict[str, list[Task]] = {}
    default = context.settings.base or default_base(context.repository)
    for task in tasks:
        base = task.base or default
        if task.status is Status.DONE and task.merged_sha is not None and base is not None:
            done.setdefault(base, []).append(task)
    for base, merged in done.items():
        tip = read_ref(context.repository.common_dir, BRANCHES + base)
        if tip is not None:
            yield from _missing(context, base, tip, merged)
        elif read_ref(context.repository.common_dir, f"refs/remotes/origin/{base}") is None:
            yield from _gone(context, base, merged, default)


def warn_of_missing(context: Context) -> None:
    """Warns of what the base lacks, and notes where everything stood if it lacks nothing."""
    with contextlib.suppress(GitticksError, OSError):
        base = context.settings.base or default_base(context.repository)
        if base is None:
            return
        seen = state_of_merges(context, base)
        found = [one for one in find_missing(context, context.index.tasks()) if one.is_pulled]
        for one in found:
            context.warnings.append(f"{one.words}: {one.way_back}; `gt doctor` says more")

        place = context.repository.own_file(MERGES_KEPT)
        place.parent.mkdir(exist_ok=True)
        if found:
            place.unlink(missing_ok=True)
        else:
            write_synced(place, seen.encode())


def _missing(context: Context, base: str, tip: str, tasks: list[Task]) -> Iterator[MissingMerges]:
    repository = context.repository
    shas = _by_merge(tasks)
    lost = [sha for sha in lost_commits(repository, [tip], shas) if sha in shas]
    remote = read_ref(repository.common_dir, f"refs/remotes/origin/{base}")
    unpulled = set(lost)
    if remote is not None and lost:
        unpulled = {*lost_commits(repository, [remote], lost)}
    away = {
        sha: [one for one in shas[sha] if not has_work(repository, tip, one.id, one.end_sha)]
        for sha in lost
        if sha in unpulled
    }
    there = {sha for sha, lacking in away.items() if not lacking}
    # What others built on came into the base with theirs.
    kept = [tip, *(str(task.end_sha) for sha in there for task in shas[sha])]
    gone = [sha for sha in lost_commits(repository, kept, away) if sha in away and sha not in there]
    late = [sha for sha in lost if sha not in unpulled]
    for is_pulled, some in ((True, gone), (False, late)):
        if some:
            ids = tuple(sorted(task.id for sha in some for task in away.get(sha, shas[sha])))
            yield MissingMerges(base, ids, _outermost(context, tip, some), is_pulled)


def _by_merge(tasks: Iterable[Task]) -> dict[str, list[Task]]:
    """Returns the tasks of each merge: an epic's has those of its tasks, and one with nothing to merge has another's."""
    shas: dict[str, list[Task]] = {}
    for task in tasks:
        if task.merged_sha is not None:
            shas.setdefault(task.merged_sha, []).append(task)
    return shas


def _gone(context: Context, base: str, tasks: list[Task], default: str | None) -> Iterator[MissingMerges]:
    """Yields what a base that is gone had of the tasks, and the present one lacks, as far as it is stored here.

    The newest merge has the rest.
    """
    repository, objects = context.repository, context.store.objects
    shas = _by_merge(tasks)
    tip = read_ref(repository.common_dir, BRANCHES + default) if default else None
    lost = lost_commits(repository, [tip] if tip else [], shas)
    stored = {sha: some for sha, some in shas.items() if sha in lost}
    if stored:
        newest = next(
            sha for sha in stored if not any(sha != one and objects.is_ancestor(sha, one) for one in stored)
        )
        ids = tuple(sorted(task.id for some in stored.values() for task in some))
        yield MissingMerges(base, ids, (newest,), is_gone=True)


def _outermost(context: Context, tip: str, commits: list[str]) -> tuple[str, ...]:
    kept: list[str] = []
    for commit in commits:
        if commit in lost_commits(context.repository, [tip, *kept], [commit]):
            kept.append(commit)
    return tuple(kept)
