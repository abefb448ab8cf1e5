"""Notices work that a person merged with git alone, or that a pull brought: by merge, squash or rebase.

Every command that asks may find something, so it is cheap where there is nothing: what was looked at is remembered by
where bases and branches stood, and only when one has moved git is asked again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.errors import GitticksError
from gitticks.model.event import Actor
from gitticks.model.ids import TaskId
from gitticks.model.status import ActorKind, Awaiting, Status
from gitticks.model.task import Task
from gitticks.store.layout import WORK_BRANCH

if TYPE_CHECKING:
    from gitticks.workflow.decision import Decision

_OWN_ADDRESSES = ("@gitticks.localhost", "gitticks@localhost")


@dataclass(frozen=True, slots=True)
class FoundMerge:
    """A task whose work was found in its base: as which commit, and what became of the task."""

    id: TaskId
    title: str
    commit: str
    base: str
    status: Status


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A task that has work of its own, and where that and its base stand."""

    task: Task
    head: str
    base: str
    tip: str


def notice_merges(context: Context) -> tuple[FoundMerge, ...]:
    """Moves every task on whose work somebody merged by hand; tasks with a live session are left alone."""
    if context.world.in_session:
        return ()
    candidates = tuple(_candidates(context))
    if not candidates:
        return ()
    place = context.repository.own_dir / "merges-seen"
    seen = _digest(candidates)
    with contextlib.suppress(OSError):
        if place.read_text("utf-8", "replace") == seen:
            return ()
    found = tuple(one for candidate in candidates if (one := _notice(context, candidate)) is not None)
    with contextlib.suppress(OSError):
        place.parent.mkdir(exist_ok=True)
        place.write_text(seen if not found else "", "utf-8")
    return found


def _candidates(context: Context) -> Iterator[_Candidate]:
    from gitticks.git.refs import BRANCHES, read_ref
    from gitticks.runner.liveness import live_tasks
    from gitticks.store.index import open_index

    common_dir = context.repository.common_dir
    with open_index(context.repository) as index:
        begun = index.begun()
        live = live_tasks(context.repository.own_place) if begun else frozenset()
        tasks = [index.task(row.id) for row in begun if row.id not in live]
    for task in tasks:
        if task.branch != f"{WORK_BRANCH}{task.id}" or task.start_sha is None or task.is_merging:
            continue
        head = read_ref(common_dir, f"{BRANCHES}{task.branch}") or task.end_sha
        base = task.base or context.settings.base
        tip = None if base is None else read_ref(common_dir, f"{BRANCHES}{base}")
        if head is not None and base is not None and tip is not None and head != task.start_sha:
            yield _Candidate(task, head, base, tip)


def _digest(candidates: tuple[_Candidate, ...]) -> str:
    states = [
        (one.task.id, one.task.status, one.task.awaiting, one.task.merged_sha, one.head, one.base, one.tip)
        for one in candidates
    ]
    return hashlib.sha256(json.dumps(states).encode()).hexdigest()


def _notice(context: Context, candidate: _Candidate) -> FoundMerge | None:
    """Moves one task on if its work is in its base; what cannot be told becomes a warning."""
    from gitticks.store.decisions import carry_out
    from gitticks.workflow.triggers import MergeFound

    task = candidate.task
    try:
        commit = _find(context, candidate)
        if commit is None or commit == task.merged_sha:
            return None
        found = MergeFound(_merger(context, commit), commit)
        circumstances = context.circumstances(task, head=candidate.head)
        decision: Decision = context.store.transact(
            lambda transaction: carry_out(transaction, task.id, found, circumstances), author=context.author
        )
    except GitticksError as error:
        context.warnings.append(f"whether `{task.id}` was merged by hand is not known: {error.message}")
        return None
    after = decision.task
    return FoundMerge(after.id, after.title, commit, candidate.base, after.status)


def _find(context: Context, candidate: _Candidate) -> str | None:
    """Returns the commit by which the base got the work.

    Work that was never handed over, and that the base merely contains, may be the base's own: an agent that brought
    its branch up to date has its commits. So there only a merge, or the same changes, count.
    """
    from gitticks.git.merges import find_merge
    from gitticks.git.merges.history import find_same_patch

    task = candidate.task
    commit = find_merge(context.repository, candidate.tip, task.id, candidate.head)
    if commit is None:
        return find_same_patch(context.repository, candidate.tip, candidate.head)
    is_handed_over = task.end_sha == candidate.head or task.awaiting is Awaiting.WORK
    return commit if is_handed_over or commit != candidate.head else None


def _merger(context: Context, commit: str) -> Actor:
    """Returns the person who made a merge; the one who asks where gitticks or an agent made the commit itself."""
    from gitticks.git.merges.history import committer_of

    who = committer_of(context.repository, commit)
    is_own = who.email.endswith(_OWN_ADDRESSES)
    return Actor(ActorKind.HUMAN, context.author.name if is_own else who.name)
