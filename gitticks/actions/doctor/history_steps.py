"""Walks the commits of a state branch and records which tasks rest on illegal changes.

A change is judged between two versions of a task. Where it is illegal, the version before it stays the last settled
one, and what follows is judged from there too. So a request that a person committed by hand is settled by the commit
that carries it out, and a mistake by the commit that takes it back or by a person's own decision that follows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import NamedTuple

from gitticks.document.taskfile import TaskFile, read_task
from gitticks.errors import DocumentError
from gitticks.git.log import TrailCommit
from gitticks.git.objects import Objects
from gitticks.git.objects.trees import Entry, tree_id_of
from gitticks.model.event import Event
from gitticks.model.ids import TaskId, task_path
from gitticks.model.notes import ReviewOutcome, Section, open_questions
from gitticks.model.status import ActorKind, Status
from gitticks.model.task import Task
from gitticks.store import layout
from gitticks.store.layout import HISTORY_FILE, events_of
from gitticks.store.merging.commits import former_ids
from gitticks.workflow.artifacts import Artifacts
from gitticks.workflow.history_rules import PastChange, is_persons_word, merge_problems, problems_of

_MOST_KEPT = 2000

_AGENTS_ADDRESS = "@gitticks.localhost"
HISTORY_CHANGED = f"had lines of its {HISTORY_FILE} changed, which is append-only"


@dataclass(frozen=True, slots=True)
class Version:
    """A task's folder at one commit: the ids of its TASK.md, its history and the folder itself; None if missing.

    `former` is the id it has there if a merge gave it another one since.
    """

    task: str | None = None
    history: str | None = None
    folder: str | None = field(default=None, compare=False)
    former: TaskId | None = None


NOTHING = Version()


class Illegal(NamedTuple):
    """What one commit did to one task, in words that follow the task's id."""

    commit: str
    task_id: TaskId
    problem: str


class Unsettled(NamedTuple):
    """A task that stands on something illegal since its last legal version.

    `found` is what was illegal, oldest first; so many `later` commits changed the task without settling it. `doubtful`
    are the lines that illegal commits wrote into its history.
    """

    settled: Version
    found: tuple[Illegal, ...]
    doubtful: frozenset[bytes] = frozenset()
    later: int = 0


class Trail:
    """The commits looked at so far, out of one object database, and what each left unsettled."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._read = lru_cache(_MOST_KEPT)(self._read_task)
        self._unsettled: dict[str, Mapping[TaskId, Unsettled]] = {}

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
        for task_id, (old, new) in self._changes(parent, commit.commit).items():
            _put(after, task_id, self._judge(commit, task_id, old, new, after.get(task_id)))
        return after

    def _judge(
        self, commit: TrailCommit, task_id: TaskId, old: Version, new: Version, before: Unsettled | None
    ) -> Unsettled | None:
        if new == old:
            return before
        found = self._problems(commit, task_id, old, new)
        if before is None and not found:
            return None
        had, has = self._lines(old), self._lines(new)
        doubtful = has - had if found else frozenset[bytes]()
        if before is None:
            return Unsettled(old, found, doubtful)
        due = self._lines(before.settled) | (had - before.doubtful)
        if new == before.settled or not self._problems(commit, task_id, before.settled, new, due):
            return None
        if not found and due <= has and self._is_decided_anew(old, new):
            return None
        later = 0 if found else before.later + 1
        return Unsettled(before.settled, before.found + found, before.doubtful | doubtful, later)

    def _is_decided_anew(self, old: Version, new: Version) -> bool:
        """True if a person decided about the task as it stands."""
        before, after = self._history(old), self._history(new)
        return is_persons_word(events_of(after[len(before) :]))

    def _problems(
        self,
        commit: TrailCommit,
        task_id: TaskId,
        old: Version,
        new: Version,
        due: frozenset[bytes] | None = None,
    ) -> tuple[Illegal, ...]:
        words = dict.fromkeys(self._words(commit, task_id, old, new, due))
        return tuple(Illegal(commit.commit, task_id, word) for word in words)

    def _words(
        self, commit: TrailCommit, task_id: TaskId, old: Version, new: Version, due: frozenset[bytes] | None
    ) -> Iterator[str]:
        """Judges one step; or, with the lines that are `due` in its history by now, all that came since `old`.

        A revert brings lines back behind those that came later: in what order they stand is judged in one step only.
        """
        if new.task is None:
            if old.task is not None:
                yield "was deleted, but tasks can only be cancelled"
            return
        try:
            after = self._task(new, task_id)
        except DocumentError as error:
            yield f"cannot be read: {error.message}"
            return
        had, has = self._history(old), self._history(new)
        if not (has.startswith(had) if due is None else due <= self._lines(new)):
            yield HISTORY_CHANGED
            return
        events = events_of(has[len(had) :] if due is None else _without(has, self._lines(old)))
        written = events if due is None else events_of(_without(has, due))
        if old.task is not None and written:
            yield from _authorship(commit, written)
        try:
            before = self._task(old, task_id)
        except DocumentError:
            return  # what a broken file's fields were cannot be known
        if after is not None:
            offered = self._artifacts(task_id, old, new)
            children = partial(self._children, commit.commit, task_id)
            yield from problems_of(PastChange(before, after, events, offered, commit.is_replayed, children))

    def _merged(self, commit: TrailCommit) -> Mapping[TaskId, Unsettled]:
        """Takes over what each side left unsettled, and judges the tasks that are as on neither side."""
        changes = [self._changes(parent, commit.commit) for parent in commit.parents]
        before = [self.unsettled(parent) for parent in commit.parents]
        joined = set.intersection(*(set(change) for change in changes))
        after: dict[TaskId, Unsettled] = {}
        for task_id in {one for side in before for one in side} - joined:
            side = next(number for number, change in enumerate(changes) if task_id not in change)
            _put(after, task_id, before[side].get(task_id))
        for task_id in joined:
            new = changes[0][task_id][1]
            sides = [self._side(change, task_id, new) for change in changes]
            known = [_known(one, task_id, side) for one, side in zip(before, sides, strict=True)]
            _put(after, task_id, self._judge_merge(commit, task_id, sides, new, known))
        return after

    def _side(
        self, change: Mapping[TaskId, tuple[Version, Version]], task_id: TaskId, new: Version
    ) -> Version:
        """Returns what a parent of a merge has of a task, also where that gave its id to another one."""
        found = change[task_id][0]
        ids = former_ids(self._history(new)) if found.task is None else ()
        for former in ids:
            side = change.get(former, (NOTHING, NOTHING))[0]
            with suppress(DocumentError):
                before, after = self._task(side, former), self._task(new, task_id)
                if before and after and _birth(before) == _birth(after):
                    return replace(side, former=former)
        return found

    def _judge_merge(
        self,
        commit: TrailCommit,
        task_id: TaskId,
        sides: Sequence[Version],
        new: Version,
        before: Sequence[Unsettled | None],
    ) -> Unsettled | None:
        there = [side for side in sides if side.task is not None]
        if not there:
            return self._judge(commit, task_id, NOTHING, new, None)
        found = tuple(
            Illegal(commit.commit, task_id, word) for word in self._merge_words(task_id, there, new)
        )
        if found:
            return Unsettled(there[0], found)
        return next(
            (one for side, one in zip(sides, before, strict=True) if one and side.task is not None), None
        )

    def _merge_words(self, task_id: TaskId, sides: Sequence[Version], new: Version) -> Iterator[str]:
        if new.task is None:
            yield "was deleted by a merge, but tasks can only be cancelled"
            return
        try:
            merged = self._task(new, task_id)
            tasks = [self._task(side, task_id) for side in sides]
        except DocumentError as error:
            yield f"cannot be read: {error.message}"
            return
        if merged is not None:
            yield from merge_problems([task for task in tasks if task is not None], merged)
        due = frozenset[bytes]().union(*map(self._lines, sides))
        if not due <= self._lines(new):
            yield f"lost lines of its {HISTORY_FILE} in a merge"
        if is_persons_word(events_of(_without(self._history(new), due))):
            yield "was decided in a merge, but merges decide nothing"

    def _changes(self, old: str | None, new: str) -> dict[TaskId, tuple[Version, Version]]:
        """Returns the tasks whose folders differ between two commits, before and after; None is no commit."""
        trees = (None if one is None else self._objects.tree_of(one) for one in (old, new))
        tops = (None if one is None else self._objects.find(one, layout.TASKS_FOLDER) for one in trees)
        return {
            TaskId(name): (self._version(old_folder), self._version(new_folder))
            for between, before, after in self._objects.changed_entries(*map(tree_id_of, tops))
            for name, old_folder, new_folder in self._objects.changed_entries(
                tree_id_of(before), tree_id_of(after)
            )
            if layout.is_task_folder(between, name)
        }

    def _children(self, commit: str, epic_id: TaskId) -> Iterator[Task]:
        for task_id, (_, version) in self._changes(None, commit).items():
            with suppress(DocumentError):
                task = self._task(version, task_id)
                if task is not None and task.parent == epic_id:
                    yield task

    def _task(self, version: Version, task_id: TaskId) -> Task | None:
        if version.task is None or version.former is None:
            return None if version.task is None else self._read(version.task, task_id)
        return replace(self._read(version.task, version.former), id=task_id)

    def _lines(self, version: Version) -> frozenset[bytes]:
        return frozenset(self._history(version).splitlines())

    def _history(self, version: Version) -> bytes:
        return b"" if version.history is None else self._objects.read_blob(version.history)

    def _artifacts(self, task_id: TaskId, old: Version, new: Version) -> Callable[[], Artifacts]:
        """Returns what shows what a task's text offered to the gates, before a change or with it."""

        def read() -> Artifacts:
            known = []
            for blob in filter(None, (old.task, new.task)):
                with suppress(DocumentError):
                    known.append(TaskFile.parse(self._objects.read_blob(blob), task_path(task_id)))
            reviews = [
                file.review_outcome
                for file in known
                if file.task.status in (Status.AGENT_REVIEW, Status.REVIEWING, Status.DONE)
            ]
            # The change may have put a hand-off into `rounds/`, which went on and was sent back in one.
            paths = (one.path for one in self._objects.changed_files(old.folder, new.folder))
            return Artifacts(
                handoff=any(file.section(Section.HANDOFF) is not None for file in known)
                or any(
                    path.startswith(f"{layout.ROUNDS_FOLDER}/") and path.endswith("-handoff.md")
                    for path in paths
                ),
                review=_best(reviews),
                open_question=any(open_questions(file.entries(Section.QUESTIONS)) for file in known),
            )

        return read

    def _read_task(self, blob: str, task_id: TaskId) -> Task:
        task = read_task(self._objects.read_blob(blob), task_path(task_id))
        if task.id != task_id:
            raise DocumentError(f"the id is `{task.id}`", path=task_path(task_id))
        return task

    def _version(self, folder: Entry | None) -> Version:
        tree = tree_id_of(folder)
        if tree is None:
            return NOTHING
        find = self._objects.find_file
        return Version(find(tree, layout.TASK_FILE), find(tree, layout.HISTORY_FILE), tree)


def _without(history: bytes, lines: frozenset[bytes]) -> bytes:
    return b"\n".join(line for line in history.splitlines() if line not in lines)


def _best(reviews: list[ReviewOutcome]) -> ReviewOutcome:
    if ReviewOutcome.PASS in reviews:
        return ReviewOutcome.PASS
    return next((one for one in reviews if one is not ReviewOutcome.MISSING), ReviewOutcome.MISSING)


def _birth(task: Task) -> tuple[object, ...]:
    return task.created, task.created_by


def _known(unsettled: Mapping[TaskId, Unsettled], task_id: TaskId, side: Version) -> Unsettled | None:
    found = unsettled.get(side.former or task_id)
    if found is None or side.former is None:
        return found
    return found._replace(settled=replace(found.settled, former=side.former))


def _put(unsettled: dict[TaskId, Unsettled], task_id: TaskId, one: Unsettled | None) -> None:
    if one is None:
        unsettled.pop(task_id, None)
    else:
        unsettled[task_id] = one


def _authorship(commit: TrailCommit, events: Sequence[Event]) -> Iterator[str]:
    """Judges who the commit says asked for its events."""
    people = [event.actor.name for event in events if event.actor.is_human]
    if not commit.actors:
        yield f"had its {HISTORY_FILE} edited by hand, which only gitticks may write"
    elif people and commit.author_email.endswith(_AGENTS_ADDRESS):
        yield f"has an event by {people[0]} in a commit that an agent made"
    elif people and not any(actor.startswith(ActorKind.HUMAN.value) for actor in commit.actors):
        yield f"has an event by {people[0]} in a commit of `Actor: {commit.actors[0]}`"
