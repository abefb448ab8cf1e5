"""Finds another tracker's data, and imports everything in one commit; repeating it changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from gitticks.document.history import render_event
from gitticks.document.values import format_time
from gitticks.errors import DocumentError, GitticksError, NotFoundError, UsageError
from gitticks.importing.backlog import find_backlog, has_config, read_backlog
from gitticks.importing.beads import find_beads, read_beads
from gitticks.importing.exported import STDIN, RecordError, digest_of
from gitticks.importing.github import read_github
from gitticks.importing.links import (
    Known,
    Linked,
    Places,
    leads_to_new,
    left_links,
    link,
    links_of_others,
    wanted,
)
from gitticks.importing.record import ForeignTask, Format, Problem, Reading
from gitticks.importing.task_text import as_text, is_too_large, kept, key_of, task_text
from gitticks.importing.ticks import find_ticks, read_ticks
from gitticks.model.event import Actor, Event, EventType
from gitticks.model.ids import TaskId, task_path
from gitticks.model.status import TaskType
from gitticks.model.task import Task
from gitticks.safe_read import reason_of
from gitticks.store import layout
from gitticks.store.transaction import Transaction
from gitticks.world import World

_SOURCES: dict[Format, tuple[Callable[[Path], Path | None], Callable[[Path], Reading]]] = {
    Format.TICKS: (find_ticks, read_ticks),
    Format.BEADS: (find_beads, read_beads),
    Format.BACKLOG: (find_backlog, read_backlog),
}
"""What finds data in a folder, in the order in which a format is guessed, and what reads it."""


@dataclass(slots=True)
class Imported:
    """The result of an import, real or simulated.

    Attributes:
        format: the source's.
        source: what it is called.
        is_guessed: nobody had named the format.
        others: further formats of which there is data too, where one was guessed.
        is_dry_run: nothing was written.
        created: how many tasks are new, by status.
        ids: ids here of what is new, by the ids at the source where these differ.
        updated: tasks that were changed at the source since, and here too now.
        linked: tasks that had been imported before with links to nothing, whose targets come now; the links are made.
        unchanged: how many had been imported before and are as they were.
        behind: tasks that changed at the source since, and not here.
        kept: tasks that changed on both sides, and stay as they are here.
        new_epics: how many tasks became epics because others are part of them.
        missing_links: how many links lead to nothing here.
        skipped: how many were left out, by reason.
        problems: what could not be taken as it is.
    """

    format: Format
    source: str
    is_guessed: bool
    is_dry_run: bool
    created: dict[str, int] = field(default_factory=dict)
    ids: dict[str, TaskId] = field(default_factory=dict)
    updated: list[TaskId] = field(default_factory=list)
    linked: list[TaskId] = field(default_factory=list)
    unchanged: int = 0
    behind: list[TaskId] = field(default_factory=list)
    kept: list[TaskId] = field(default_factory=list)
    new_epics: int = 0
    others: tuple[Format, ...] = ()
    missing_links: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Returns how many tasks are new."""
        return sum(self.created.values())

    @property
    def is_empty(self) -> bool:
        """True if the source held no task that could be taken."""
        return not (self.created or self.updated or self.linked or self.unchanged or self.behind or self.kept)


class BringIn:
    """Puts what was read into one transaction; with `takes_updates` also what changed at the source since, and not here."""

    def __init__(
        self,
        reading: Reading,
        transaction: Transaction,
        outcome: Imported,
        *,
        actor: Actor,
        world: World,
        takes_updates: bool,
    ) -> None:
        self._transaction = transaction
        self._outcome = outcome
        self._actor = actor
        self._world = world
        self._takes_updates = takes_updates
        large = [one for one in reading.tasks.values() if is_too_large(one)]
        left_out = {one.source_id for one in large}
        tasks = {name: one for name, one in reading.tasks.items() if name not in left_out}
        self._reading = replace(reading, tasks=tasks, problems=outcome.problems, skipped=outcome.skipped)
        self._places = Places.of(transaction, self._reading, world.random_number)
        outcome.skipped.update(reading.skipped)
        outcome.problems += reading.problems
        for one in large:
            self._skip(one, "it is larger than a task can be")

    def carry_out(self) -> Imported:
        """Returns the result."""
        foreign = {
            self._places.ids[one.source_id]: one for one in self._reading.tasks.values() if self._is_due(one)
        }
        bare = {task_id: self._task(task_id, one) for task_id, one in foreign.items()}
        linked = link(self._places, foreign, bare)
        for task_id, task in linked.tasks.items():
            self._write(task, foreign[task_id], linked)
        outcome = self._outcome
        outcome.problems += linked.problems
        if outcome.count:
            outcome.problems += links_of_others(self._places)
        outcome.new_epics = linked.new_epics
        missing = ("missing_parent", "missing_blockers")
        outcome.missing_links = sum(
            len(one.get(kind, ())) for one in linked.left_out.values() for kind in missing
        )
        self._describe()
        return outcome

    def _is_due(self, one: ForeignTask) -> bool:
        """True for what is new, and for what is to be brought up to date; counts the others."""
        known = self._places.known.get(one.source_id)
        if known is None:
            return True
        if known.digest == one.digest:
            return self._is_due_again(one, known)
        if known.is_touched:
            self._outcome.kept.append(known.task_id)
        elif not self._takes_updates:
            self._outcome.behind.append(known.task_id)
        else:
            return True
        return False

    def _is_due_again(self, one: ForeignTask, known: Known) -> bool:
        """True for a task that nobody has touched and that may be read otherwise now; its links, or after an upgrade.

        Tells of links that could be made now where somebody has touched the task.
        """
        if not known.is_touched and (self._takes_updates or leads_to_new(self._places, one)):
            return True
        if known.is_touched:
            left = left_links(self._places, known.task_id, one, also_old=self._takes_updates)
            self._outcome.problems += [] if left is None else [left]
        self._outcome.unchanged += 1
        return False

    def _task(self, task_id: TaskId, one: ForeignTask) -> Task:
        is_renamed = task_id != wanted(one.wish)
        there, before = one.task, self._places.tasks.get(task_id)
        is_epic = there.is_epic or (before is not None and before.is_epic)
        asked_at = there.updated or (before and before.asked_at) or self._world.now()
        return replace(
            there,
            id=task_id,
            type=TaskType.EPIC if is_epic else TaskType.TASK,
            blocked_by=(),
            parent=None,
            asked_at=asked_at if there.awaiting else None,
            created=there.created if before is None else before.created,
            created_by=there.created_by if before is None else before.created_by,
            external_ref=one.ref if is_renamed else there.external_ref,
        )

    def _write(self, task: Task, one: ForeignTask, linked: Linked) -> None:
        before = self._places.tasks.get(task.id)
        try:
            data = self._data(task, one, linked)
            event = render_event(self._event(task, one, before, data.decode()))
        except DocumentError as error:
            self._skip(one, error.problem)
            return
        is_same = before is not None and self._places.known[one.source_id].digest == one.digest
        old = self._transaction.read(task_path(task.id))
        self._transaction.write(task_path(task.id), data)
        if is_same and self._transaction.read(task_path(task.id)) == old:  # its secrets are masked by now
            self._outcome.unchanged += 1
            return
        if before is None:
            self._transaction.write(layout.history_path(task.id), event.encode())
            self._outcome.created[task.status.value] = self._outcome.created.get(task.status.value, 0) + 1
            if task.id != one.source_id:
                self._outcome.ids[one.source_id] = task.id
        else:
            self._transaction.append(layout.history_path(task.id), event.encode())
            is_linked = (task.parent, task.blocked_by) != (before.parent, before.blocked_by)
            (self._outcome.linked if is_same and is_linked else self._outcome.updated).append(task.id)

    def _skip(self, one: ForeignTask, why: str) -> None:
        problem = Problem(one.path, one.line, f"`{one.source_id}` was skipped: {why}")
        self._reading.skip("no task can hold it", problem)

    def _data(self, task: Task, one: ForeignTask, linked: Linked) -> bytes:
        """Returns the file; a field that is too large for its frontmatter, and that no record keeps, is a section."""
        extra = self._extra(task, one, linked)
        if one.record is None:
            held = kept(extra)
            large = {key: value for key, value in extra.items() if key_of(key) not in held}
            sections = [(f"Imported {key}", as_text(value)) for key, value in large.items()]
            one = replace(one, sections=(*one.sections, *sections))
        return task_text(task, one, extra)

    def _extra(self, task: Task, one: ForeignTask, linked: Linked) -> dict[str, Any]:
        """Returns what the source said and has no place of ours, with links as words."""
        extra: dict[str, Any] = {"source": self._reading.format.value, "id": one.source_id}
        for kind, targets in {**one.links, **linked.left_out.get(task.id, {})}.items():
            extra[kind.replace("-", "_")] = " ".join(targets)
        if one.task.external_ref not in (None, task.external_ref):
            extra["external_ref"] = one.task.external_ref
        named = {key if key not in extra else f"{key}_there": value for key, value in one.extra.items()}
        return {**named, **extra}

    def _event(self, task: Task, one: ForeignTask, before: Task | None, text: str) -> Event:
        times = {"created": one.task.created, "updated": one.task.updated, "closed": one.task.closed}
        data: dict[str, Any] = {key: format_time(time) for key, time in times.items() if time is not None}
        data |= {"source": self._reading.format.value, "source_id": one.source_id, "digest": one.digest}
        data["file"] = digest_of(self._transaction.mask_text(text))
        if one.record is not None:
            data["record"] = one.record
        return Event(
            EventType.IMPORTED,
            self._world.now(),
            self._actor,
            from_status=None if before is None else before.status,
            to_status=None if before is None else task.status,
            data=data,
        )

    def _describe(self) -> None:
        new, updated = self._outcome.count, len(self._outcome.updated) + len(self._outcome.linked)
        parts = [f"{new} new"] if new else []
        parts += [f"{updated} updated"] if updated else []
        actor = self._actor
        trailers = [("Event", EventType.IMPORTED.value), ("Actor", f"{actor.kind.value} {actor.name}")]
        subject = f"import: {self._reading.format}, {', '.join(parts) or 'nothing'}"
        self._transaction.describe(subject, trailers)


class Source(NamedTuple):
    """Data of another tracker: its format, its file or folder, and whether the format was guessed among `others`.

    `path` is None where the tracker's own program is asked.
    """

    format: Format
    path: Path | None
    is_guessed: bool = False
    others: tuple[Format, ...] = ()

    @property
    def name(self) -> str:
        """Returns what messages call it: a command, or a path."""
        return "gh issue list" if self.path is None else str(self.path)


def find_source(wanted: Format | None, path: str | None, directory: Path, top: Path) -> Source:
    """Returns the data that the user named, relative to `directory`, or that is at the `top` as usual."""
    if path == STDIN:
        if wanted not in (Format.GITHUB, Format.BEADS):
            raise UsageError("stdin is one file of beads or of GitHub", hint="`gt import beads -`")
        return Source(wanted, Path(STDIN))
    given = None if path is None else directory / path
    if given is not None and not given.exists():
        formats = ", ".join(Format)
        raise NotFoundError(
            f"`{path}` is neither a file or folder here nor a format ({formats})", hint="`gt import --help`"
        )
    if given is not None and not (given.is_file() or given.is_dir()):
        piped = Format.GITHUB if wanted is Format.GITHUB else Format.BEADS
        raise UsageError(f"`{path}` is no regular file", hint=f"`gt import {piped} -` reads stdin")
    if wanted is Format.GITHUB or (wanted is Format.BEADS and given is not None and given.is_file()):
        return Source(wanted, given)
    places = {
        one: place
        for one, (find, _) in _SOURCES.items()
        if wanted in (None, one) and (place := find(given or top)) is not None
    }
    if wanted is None and given is None and places.get(Format.BACKLOG) == top and not has_config(top):
        del places[Format.BACKLOG]  # many a repository has a folder `tasks` of its own
    if not places and wanted is None and given is not None and given.suffix == ".json" and given.is_file():
        places[Format.GITHUB] = given
    if not places:
        raise NotFoundError(
            f"there is no data of {wanted or 'another tracker'} in `{given or top}`",
            hint="name the format and the place: `gt import beads path/to/issues.jsonl`",
        )
    (found, place), *others = places.items()
    return Source(found, place, is_guessed=wanted is None, others=tuple(one for one, _ in others))


def read_source(source: Source, directory: Path) -> Reading:
    """Returns what the source holds; where a program is asked, it is started in `directory`."""
    try:
        if source.format is Format.GITHUB or source.path is None:
            return read_github(source.path, directory)
        _, read = _SOURCES[source.format]
        return read(source.path)
    except OSError as error:
        raise GitticksError(
            f"`{source.name}` cannot be read: {reason_of(error)}", hint="`gt import --help`"
        ) from error
    except RecordError as error:
        raise GitticksError(f"`{source.name}`: {error}", hint=_cure(source, error)) from error


def _cure(source: Source, error: RecordError) -> str:
    """Returns the next command for a source that cannot be read at all."""
    if source.path is None or "UTF-16" not in str(error):
        return "`gt import --help`"
    better = source.path.with_name(f"utf8-{source.path.name}")
    return f"`iconv -f UTF-16 -t UTF-8 {quote(str(source.path))} > {quote(str(better))}`, and import that"
