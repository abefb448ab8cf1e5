"""Matches foreign tasks with those already here, and gives the others free ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from gitticks.document.values import format_time
from gitticks.errors import DocumentError, RefusedError
from gitticks.importing.exported import digest_of
from gitticks.importing.record import ForeignTask, Format, Problem, Reading
from gitticks.importing.task_text import imported_words
from gitticks.model.event import Event, EventType
from gitticks.model.forest import cycles_of_parents
from gitticks.model.graph import find_cycles
from gitticks.model.ids import TaskId, is_valid_id, new_id, task_path
from gitticks.model.queries import TaskGraph
from gitticks.model.status import Status, TaskType
from gitticks.model.task import Task
from gitticks.store.links import refuse_cycle
from gitticks.store.transaction import Transaction


class Known(NamedTuple):
    """A task that was imported before: the digest of what it was made of, and whether it was changed here since."""

    task_id: TaskId
    digest: str
    is_touched: bool


@dataclass(slots=True)
class Places:
    """Which id each foreign task has here, by its id at the source, and which of them were here already."""

    transaction: Transaction
    format: Format
    tasks: Mapping[TaskId, Task]
    ids: dict[str, TaskId] = field(default_factory=dict)
    known: dict[str, Known] = field(default_factory=dict)
    _by_ref: dict[str, list[TaskId]] = field(default_factory=dict)

    @classmethod
    def of(cls, transaction: Transaction, reading: Reading, random_number: Callable[[int], int]) -> Places:
        """Returns the places of everything that was read."""
        tasks = transaction.all_tasks()
        places = cls(transaction, reading.format, tasks)
        for task_id, task in tasks.items():
            if task.external_ref:
                places._by_ref.setdefault(task.external_ref, []).append(task_id)
        for one in reading.tasks.values():
            found = places.find(one.source_id, one) or places._itself(one)
            if found is not None:
                places.known[one.source_id] = found
                places.ids[one.source_id] = found.task_id
        places._give_out(
            [one for one in reading.tasks.values() if one.source_id not in places.ids], random_number
        )
        return places

    def find(self, source_id: str, one: ForeignTask | None = None) -> Known | None:
        """Returns the task that was imported from the same place under the same id, or None; `one` is what has it now."""
        wish, refs = (source_id, [source_id]) if one is None else (one.wish, [source_id, one.ref])
        for task_id in (wanted(wish), *(there for ref in refs for there in self._by_ref.get(ref, ()))):
            if task_id is not None and task_id in self.tasks:
                known = self._known(task_id, source_id, one)
                if known is not None:
                    return known
        return None

    def _itself(self, one: ForeignTask) -> Known | None:
        """Returns the task that comes back to where it was exported from, or None."""
        task = self.tasks.get(TaskId(one.source_id))
        is_itself = task is not None and task.created is not None and task.created == one.task.created
        return Known(TaskId(one.source_id), one.digest, is_touched=True) if is_itself else None

    def _known(self, task_id: TaskId, source_id: str, one: ForeignTask | None) -> Known | None:
        events = reversed(self.transaction.history(task_id))
        last = next((event for event in events if event.type is EventType.IMPORTED), None)
        if last is None or (last.data.get("source"), last.data.get("source_id")) != (
            self.format.value,
            source_id,
        ):
            return None
        if one is not None and self._is_another(one, last, self.tasks[task_id]):
            return None
        # What a person saves on the board leaves no event, so the file itself has to tell.
        text = (self.transaction.read(task_path(task_id)) or b"").decode("utf-8", "replace")
        return Known(task_id, str(last.data.get("digest")), last.data.get("file") != digest_of(text))

    def _is_another(self, one: ForeignTask, last: Event, here: Task) -> bool:
        """True for a task of another project, where the same id was given to what was created at another time.

        A URL decides only where no time is known, as it changes when a repository is renamed. Ids of beads begin with
        their project's name, and a merge there may change the time.
        """
        was, now = last.data.get("created"), one.task.created
        if was is not None and now is not None:
            return self.format is not Format.BEADS and was != format_time(now)
        return one.wanted_id is not None and len({here.external_ref, one.task.external_ref} - {None}) > 1

    def _give_out(self, foreign: list[ForeignTask], random_number: Callable[[int], int]) -> None:
        """Gives ids that need no change to their owners first, then those that do, then new ones to the rest."""
        taken = set(self.transaction.task_ids())
        wished = {one.source_id: wanted(one.wish) for one in foreign}
        for one in sorted(foreign, key=lambda one: one.wish != wished[one.source_id]):
            task_id = wished[one.source_id]
            if task_id is None or task_id in taken:
                task_id = new_id(taken.__contains__, len(taken), random_number)
            taken.add(task_id)
            self.ids[one.source_id] = task_id

    def is_new(self, source_id: str) -> bool:
        """True for what was read and was not here before."""
        return source_id in self.ids and source_id not in self.known

    def resolve(self, source_id: str) -> TaskId | None:
        """Returns the task that a link of the source means: one of those that were read, or an earlier import."""
        if source_id in self.ids:
            return self.ids[source_id]
        known = self.find(source_id)
        return None if known is None else known.task_id


def wanted(source_id: str) -> TaskId | None:
    """Returns the id that a foreign id becomes, or None where no rule makes it one of ours."""
    name = source_id.lower().replace(".", "-")
    return TaskId(name) if is_valid_id(name) else None


@dataclass(slots=True)
class Linked:
    """Tasks that are to be written, with their links, what was left out for each, and what there is to tell."""

    tasks: dict[TaskId, Task]
    foreign: Mapping[TaskId, ForeignTask]
    left_out: dict[TaskId, dict[str, list[str]]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    new_epics: int = 0

    def leave_out(self, task_id: TaskId, kind: str, link: str, why: str | None) -> None:
        """Keeps a link aside, and tells of it if there is a reason to."""
        self.left_out.setdefault(task_id, {}).setdefault(kind, []).append(link)
        if why is not None:
            one = self.foreign[task_id]
            self.problems.append(Problem(one.path, one.line, f"`{one.source_id}` {why}"))


def link(places: Places, foreign: Mapping[TaskId, ForeignTask], bare: Mapping[TaskId, Task]) -> Linked:
    """Returns the tasks with their parents and blockers; `bare` are those of `foreign` without links."""
    linked = Linked(dict(bare), foreign)
    for task_id, one in foreign.items():
        if one.task.parent is not None:
            _set_parent(linked, places, task_id, one.task.parent)
        for blocker in one.task.blocked_by:
            _add_blocker(linked, places, task_id, blocker)
    _cut_ancestors(linked, places)
    _cut_cycles(linked, places)
    _make_epics(linked)
    for task_id, one in foreign.items():
        blockers = (linked.tasks.get(name) or places.tasks[name] for name in linked.tasks[task_id].blocked_by)
        if one.is_held and any(blocker.is_open for blocker in blockers):
            linked.tasks[task_id] = replace(linked.tasks[task_id], awaiting=None, asked_at=None)
    return linked


def _set_parent(linked: Linked, places: Places, task_id: TaskId, name: str) -> None:
    parent = places.resolve(name)
    if parent is None:
        linked.leave_out(task_id, "missing_parent", name, None)
    elif parent not in linked.tasks and not places.tasks[parent].is_epic:
        linked.leave_out(
            task_id, "left_out_parent", name, f"is part of `{parent}`, which is not an epic here"
        )
    else:
        linked.tasks[task_id] = replace(linked.tasks[task_id], parent=parent)


def _add_blocker(linked: Linked, places: Places, task_id: TaskId, name: str) -> None:
    blocker = places.resolve(name)
    found = None if blocker is None else linked.tasks.get(blocker) or places.tasks.get(blocker)
    task = linked.tasks[task_id]
    if blocker is None or found is None:
        linked.leave_out(task_id, "missing_blockers", name, None)
    elif found.status is Status.CANCELLED and task.is_open:
        linked.leave_out(task_id, "cancelled_blockers", name, None)
    elif blocker not in task.blocked_by:
        linked.tasks[task_id] = replace(task, blocked_by=(*task.blocked_by, blocker))


class _Link(NamedTuple):
    """A link that closes a cycle: to a blocker, or to a parent."""

    owner: TaskId
    target: TaskId
    is_parent: bool = False

    def cut(self, task: Task) -> Task:
        """Returns its task without it."""
        if self.is_parent:
            return replace(task, parent=None)
        return replace(task, blocked_by=tuple(one for one in task.blocked_by if one != self.target))

    def put_back(self, task: Task) -> Task:
        """Returns its task with it again."""
        if self.is_parent:
            return replace(task, parent=self.target)
        return replace(task, blocked_by=(*task.blocked_by, self.target))

    def leave_out(self, linked: Linked) -> None:
        """Keeps it aside, and tells of it."""
        kind, words = (
            ("left_out_parent", "was not added to")
            if self.is_parent
            else ("left_out_blockers", "does not wait for")
        )
        why = f"{words} `{self.target}`, because that would close a cycle"
        linked.leave_out(self.owner, kind, self.target, why)


def _cut_ancestors(linked: Linked, places: Places) -> None:
    """Takes the parent from tasks that would be their own ancestors."""

    def parent_of(task_id: TaskId) -> TaskId | None:
        task = linked.tasks.get(task_id) or places.tasks.get(task_id)
        return None if task is None else task.parent

    for cycle in cycles_of_parents(list(linked.tasks), parent_of):
        for last in reversed(cycle):
            if last in linked.tasks and (parent := linked.tasks[last].parent) is not None:
                found = _Link(last, parent, is_parent=True)
                linked.tasks[last] = found.cut(linked.tasks[last])
                found.leave_out(linked)
                break


def _make_epics(linked: Linked) -> None:
    for parent in {task.parent for task in linked.tasks.values()}:
        task = linked.tasks.get(parent) if parent is not None else None
        if task is not None and not task.is_epic:
            linked.tasks[task.id] = replace(task, type=TaskType.EPIC)
            linked.new_epics += 1


def _cut_cycles(linked: Linked, places: Places) -> None:
    """Takes links out until there is no cycle, then puts back those that close none any more.

    There is none among closed tasks either, as they may be reopened. Cycles among tasks that were here before stay.
    """
    tasks = {
        task_id: task if task.is_open else replace(task, status=Status.PENDING)
        for task_id, task in {**places.tasks, **linked.tasks}.items()
    }
    cut: list[_Link] = []
    while cycles := find_cycles(TaskGraph.of(tasks.values())):
        now: dict[_Link, None] = {}
        for cycle in cycles:
            links = [one for one in _links_of(tasks, cycle) if one.owner in linked.tasks]
            if links and now.keys().isdisjoint(links):  # else an earlier cut may have opened this one too
                now[links[0]] = None
        if not now:
            break
        for one in now:
            tasks[one.owner] = one.cut(tasks[one.owner])
        cut += now
    for one in sorted(cut, key=lambda one: not one.is_parent):
        again = one.put_back(tasks[one.owner])
        try:
            refuse_cycle(tasks, again)
        except RefusedError:
            one.leave_out(linked)
        else:
            tasks[one.owner] = again
    for owner in {one.owner for one in cut}:
        parent, blocked_by = tasks[owner].parent, tasks[owner].blocked_by
        linked.tasks[owner] = replace(linked.tasks[owner], parent=parent, blocked_by=blocked_by)


def _links_of(tasks: Mapping[TaskId, Task], cycle: tuple[TaskId, ...]) -> list[_Link]:
    """Returns the links that make a cycle: blockers, the last first, each of a task or an ancestor, and then parents."""
    blockers = []
    for waiting, blocker in pairwise(cycle):
        owner: TaskId | None = waiting
        seen: set[TaskId] = set()
        while owner is not None and owner not in seen:
            seen.add(owner)
            task = tasks.get(owner)
            if task is not None and blocker in task.blocked_by:
                blockers.append(_Link(owner, blocker))
            owner = None if task is None else task.parent
    parents = ((one, tasks[one].parent) for one in cycle[:-1])
    return [*reversed(blockers), *(_Link(one, up, is_parent=True) for one, up in parents if up is not None)]


def leads_to_new(places: Places, one: ForeignTask) -> bool:
    """True if a task that was here already has a link to one that comes now."""
    return any(places.is_new(name) for name in (one.task.parent, *one.task.blocked_by) if name is not None)


def left_links(places: Places, task_id: TaskId, one: ForeignTask, *, also_old: bool) -> Problem | None:
    """Returns what to tell of a task with such a link that was changed here, and so is not written again.

    `also_old` for links that led to nothing only because an earlier import did not know their targets.
    """
    task = places.tasks[task_id]
    old_parents, old_blockers = _words(places, task_id) if also_old else ([], [])

    def can_be_made(name: str, words: list[str], made: Iterable[TaskId | None]) -> bool:
        target = places.resolve(name)
        if places.is_new(name) or not words or target is None or target in made:
            return places.is_new(name)
        return places.tasks[target].status is not Status.CANCELLED

    blockers = [name for name in one.task.blocked_by if can_be_made(name, old_blockers, task.blocked_by)]
    parent = one.task.parent
    if parent is not None and not can_be_made(parent, old_parents, [task.parent]):
        parent = None
    if not blockers and parent is None:
        return None
    return _unmade(places, task_id, parent, blockers, (one.path, one.line))


def links_of_others(places: Places) -> Iterator[Problem]:
    """Yields what to tell of tasks that the source does not name now, and whose links could be made now."""
    named = {*places.ids.values()}
    for task_id in places.tasks:
        if task_id in named or b"missing_" not in (places.transaction.read(task_path(task_id)) or b""):
            continue
        parents, blockers = (
            [one for one in words if places.is_new(one)] for words in _words(places, task_id)
        )
        if parents or blockers:
            place = (task_path(task_id), None)
            yield _unmade(places, task_id, parents[0] if parents else None, blockers, place)


def _words(places: Places, task_id: TaskId) -> tuple[list[str], list[str]]:
    """Returns the names of a missing parent and of missing blockers as the task's file keeps them."""
    try:
        file = places.transaction.task_file(task_id)
    except DocumentError:
        return [], []
    if imported_words(file, "source") != [places.format.value]:
        return [], []
    return imported_words(file, "missing_parent"), imported_words(file, "missing_blockers")


def _unmade(
    places: Places,
    task_id: TaskId,
    parent: str | None,
    blockers: Iterable[str],
    place: tuple[str, int | None],
) -> Problem:
    others = " ".join(places.ids[name] for name in blockers)
    commands = [f"`gt block {task_id} {others}`"] if others else []
    commands += [f"`gt update {task_id} --parent {places.ids[parent]}`"] if parent is not None else []
    message = f"`{task_id}` has links to tasks that are here now, which were not added: {' and '.join(commands)} adds them"
    return Problem(*place, message)
