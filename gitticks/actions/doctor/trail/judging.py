"""Follows the commits of a state branch one by one and keeps which tasks stand on something illegal.

A change is judged between two versions of a task. Where it is illegal, the version before it stays the last settled
one, and what follows is judged from there too. So a request that a person committed by hand is settled by the commit
that carries it out, and a mistake by the commit that takes it back or by a person's own decision that follows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gitticks.actions.doctor.trail.versions import NOTHING, Version, Versions, events_in
from gitticks.errors import DocumentError
from gitticks.git.log import TrailCommit
from gitticks.model.event import Event
from gitticks.model.ids import TaskId
from gitticks.model.status import ActorKind
from gitticks.model.task import Task
from gitticks.store.layout import HISTORY_FILE
from gitticks.workflow.history_rules import PastChange, is_persons_word, merge_problems, problems_of

_AGENTS_ADDRESS = "@gitticks.localhost"

HISTORY_CHANGED = f"had its {HISTORY_FILE} changed, to which lines are only added"


@dataclass(frozen=True, slots=True)
class Illegal:
    """What one commit did to one task, in words that follow the task's id."""

    commit: str
    task_id: TaskId
    problem: str


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A task that stands on something illegal.

    Attributes:
        settled: its last version that was legal.
        found: what was illegal since, oldest first.
        later: how many commits have changed it since without settling it.
    """

    settled: Version
    found: tuple[Illegal, ...]
    later: int = 0


@dataclass(slots=True)
class Trail:
    """The commits looked at so far, and what each left unsettled."""

    versions: Versions
    _unsettled: dict[str, Mapping[TaskId, Unsettled]] = field(default_factory=dict)

    def unsettled(self, commit: str) -> Mapping[TaskId, Unsettled]:
        """Returns the tasks that stand on something illegal at a commit that was followed, by id."""
        return self._unsettled.get(commit, {})

    def follow(self, commit: TrailCommit) -> None:
        """Judges one commit; its parents come before it, or count as settled."""
        after = self._merged(commit) if len(commit.parents) > 1 else self._changed(commit)
        if after:
            self._unsettled[commit.commit] = after

    def _changed(self, commit: TrailCommit) -> Mapping[TaskId, Unsettled]:
        parent = commit.parents[0] if commit.parents else None
        after = dict(self.unsettled(parent)) if parent is not None else {}
        for task_id, (old, new) in self.versions.changed(parent, commit.commit).items():
            _put(after, task_id, self._judge(commit, task_id, old, new, after.get(task_id)))
        return after

    def _judge(
        self, commit: TrailCommit, task_id: TaskId, old: Version, new: Version, before: Unsettled | None
    ) -> Unsettled | None:
        if new == old:
            return before
        found = self._problems(commit, task_id, old, new)
        if before is None:
            return Unsettled(old, found) if found else None
        if new == before.settled or not self._problems(commit, task_id, before.settled, new):
            return None
        if not found and self._is_decided_anew(before.settled, old, new):
            return None
        return Unsettled(before.settled, before.found + found, 0 if found else before.later + 1)

    def _is_decided_anew(self, settled: Version, old: Version, new: Version) -> bool:
        """True if a person decided about the task as it stands, and its history is whole."""
        before, after = self.versions.history(old), self.versions.history(new)
        added = events_in(after[len(before) :])
        return is_persons_word(added) and after.startswith(self.versions.history(settled))

    def _problems(
        self, commit: TrailCommit, task_id: TaskId, old: Version, new: Version
    ) -> tuple[Illegal, ...]:
        words = dict.fromkeys(self._words(commit, task_id, old, new))
        return tuple(Illegal(commit.commit, task_id, word) for word in words)

    def _words(self, commit: TrailCommit, task_id: TaskId, old: Version, new: Version) -> Iterator[str]:
        if not new.is_there:
            if old.is_there:
                yield "was removed, and tasks are only cancelled"
            return
        try:
            after = self.versions.task(new, task_id)
        except DocumentError as error:
            yield f"cannot be read: {error.message}"
            return
        had, has = self.versions.history(old), self.versions.history(new)
        if not has.startswith(had):
            yield HISTORY_CHANGED
            return
        events = events_in(has[len(had) :])
        if old.is_there and events:
            yield from _authorship(commit, events)
        if after is not None:
            yield from self._legality(commit, task_id, (old, new), after, events)

    def _legality(
        self,
        commit: TrailCommit,
        task_id: TaskId,
        versions: tuple[Version, Version],
        after: Task,
        events: tuple[Event, ...],
    ) -> Iterator[str]:
        try:
            before = self.versions.task(versions[0], task_id)
        except DocumentError:
            return  # what a broken file's fields were cannot be known
        offered = self.versions.artifacts(task_id, *versions)
        yield from problems_of(PastChange(before, after, events, offered, commit.is_replayed))

    def _merged(self, commit: TrailCommit) -> Mapping[TaskId, Unsettled]:
        """Takes over what each side left unsettled, and judges the tasks that are as on neither side."""
        changes = [self.versions.changed(parent, commit.commit) for parent in commit.parents]
        before = [self.unsettled(parent) for parent in commit.parents]
        joined = set.intersection(*(set(change) for change in changes))
        after: dict[TaskId, Unsettled] = {}
        for task_id in {one for side in before for one in side} - joined:
            side = next(number for number, change in enumerate(changes) if task_id not in change)
            _put(after, task_id, before[side].get(task_id))
        for task_id in joined:
            sides = [change[task_id][0] for change in changes]
            new = changes[0][task_id][1]
            known = [one.get(task_id) for one in before]
            _put(after, task_id, self._judge_merge(commit, task_id, sides, new, known))
        return after

    def _judge_merge(
        self,
        commit: TrailCommit,
        task_id: TaskId,
        sides: Sequence[Version],
        new: Version,
        before: Sequence[Unsettled | None],
    ) -> Unsettled | None:
        there = [side for side in sides if side.is_there]
        if not there:
            return self._judge(commit, task_id, NOTHING, new, None)
        found = tuple(
            Illegal(commit.commit, task_id, word) for word in self._merge_words(task_id, there, new)
        )
        if found:
            return Unsettled(there[0], found)
        return next((one for side, one in zip(sides, before, strict=True) if one and side.is_there), None)

    def _merge_words(self, task_id: TaskId, sides: Sequence[Version], new: Version) -> Iterator[str]:
        if not new.is_there:
            yield "was removed by a merge, and tasks are only cancelled"
            return
        try:
            merged = self.versions.task(new, task_id)
            tasks = [self.versions.task(side, task_id) for side in sides]
        except DocumentError as error:
            yield f"cannot be read: {error.message}"
            return
        if merged is not None:
            yield from merge_problems([task for task in tasks if task is not None], merged)
        lines = [set(self.versions.history(side).splitlines()) for side in sides]
        has = set(self.versions.history(new).splitlines())
        if not set[bytes]().union(*lines) <= has:
            yield f"lost lines of its {HISTORY_FILE} in a merge"
        if is_persons_word(events_in(b"\n".join(has - set[bytes]().union(*lines)))):
            yield "was decided about within a merge, and a merge decides nothing"


def _put(unsettled: dict[TaskId, Unsettled], task_id: TaskId, one: Unsettled | None) -> None:
    if one is None:
        unsettled.pop(task_id, None)
    else:
        unsettled[task_id] = one


def _authorship(commit: TrailCommit, events: Sequence[Event]) -> Iterator[str]:
    """Judges who the commit says asked for its events."""
    people = [event.actor.name for event in events if event.actor.is_human]
    if not commit.actors:
        yield f"had its {HISTORY_FILE} written by hand, which gitticks alone does"
    elif people and commit.author_email.endswith(_AGENTS_ADDRESS):
        yield f"has an event by {people[0]} in a commit that an agent made"
    elif people and not any(actor.startswith(ActorKind.HUMAN.value) for actor in commit.actors):
        yield f"has an event by {people[0]} in a commit of `Actor: {commit.actors[0]}`"
