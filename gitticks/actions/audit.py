"""Permission decisions: searched, exported and verified line by line."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from gitticks.actions.context import Context
from gitticks.document.audit import find_breaks, read_audit, render_entry
from gitticks.errors import GitticksError
from gitticks.git.log import read_trailers
from gitticks.model.audit import AuditEntry, Decided, Outcome
from gitticks.model.ids import BOARD_FOLDER, TaskId
from gitticks.store.audit import TRAILER, PendingAudit, tasks_with_pending
from gitticks.store.layout import AUDIT_FILE, audit_path, state_tip, task_around
from gitticks.terminal_safety import are_harmless, escaped, is_harmful

COLUMNS = ("timestamp", "task", *AuditEntry._fields[1:], "writer")


class Recorded(NamedTuple):
    """One decision with its task; `writer` is None while it is noted here and not on the branch yet."""

    task: TaskId
    entry: AuditEntry
    writer: str | None = None


class Wanted(NamedTuple):
    """Which decisions are looked for; what is None does not matter.

    `refused` is true for what agents were denied.
    """

    operation: str | None = None
    agent: str | None = None
    decision: Decided | None = None
    refused: bool | None = None
    since: datetime | None = None

    def takes(self, entry: AuditEntry) -> bool:
        """True for a decision that is looked for."""
        return (
            self.operation in (None, entry.operation)
            and self.agent in (None, entry.agent, entry.client)
            and self.decision in (None, entry.decision)
            and self.refused in (None, entry.is_refused)
            and (self.since is None or entry.timestamp >= self.since)
        )


def find_decisions(
    context: Context, tasks: Iterable[TaskId] = (), wanted: Wanted | None = None
) -> tuple[Recorded, ...]:
    """Returns decisions in the order of time, of some tasks or of all; also those that are not committed yet."""
    named = tuple(tasks)
    found = [
        Recorded(task, line.entry, line.writer)
        for task, data in _files(context, named)
        for line in read_audit(data).lines
    ]
    committed = {(one.task, one.entry) for one in found}
    own_dir = context.repository.own_dir
    for task in named or tasks_with_pending(own_dir):
        noted = (Recorded(task, entry) for entry in PendingAudit(own_dir, task).entries())
        found += [one for one in noted if (one.task, one.entry) not in committed]
    kept = found if wanted is None else [one for one in found if wanted.takes(one.entry)]
    return tuple(sorted(kept, key=lambda one: one.entry.timestamp))


def counts_of(found: Iterable[Recorded]) -> list[str]:
    """Returns how many decisions came out which way, in words; requests that were asked count as they were answered."""
    counted = Counter(one.entry.outcome for one in found)
    return [
        f"{counted[outcome]} {outcome}"
        for outcome in Outcome
        if counted[outcome] or outcome is not Outcome.LEFT
    ]


def as_objects(found: Iterable[Recorded]) -> list[dict[str, object]]:
    """Returns decisions with all their keys, as JSON has them."""
    return [{"task": one.task, **render_entry(one.entry), "writer": one.writer} for one in found]


def as_csv(found: Iterable[Recorded]) -> Iterator[str]:
    """Yields the lines of a table of decisions, its heading first."""
    yield csv_line(COLUMNS)
    for body in as_objects(found):
        yield csv_line(["" if body[name] is None else str(body[name]) for name in COLUMNS])


class Checked(NamedTuple):
    """What checking came to: files and lines looked at, and each problem with its place."""

    files: int
    lines: int
    problems: tuple[str, ...]


def verify_audit(context: Context, tasks: Iterable[TaskId] = ()) -> Checked:
    """Checks every line, every chain, and that no line vanished that a commit of the state branch names."""
    named = tuple(tasks)
    problems: list[str] = []
    hashes: dict[str, set[tuple[str, str]]] = {}
    lines = 0
    for task, data in _files(context, named):
        file = read_audit(data)
        lines += len(file.lines)
        hashes[task] = {(line.writer, line.hash) for line in file.lines}
        problems += [
            f"{BOARD_FOLDER}/{audit_path(task)}:{one.number}: {one.problem}" for one in find_breaks(file)
        ]
    for commit, anchor in read_trailers(context.repository, state_tip(context.repository), TRAILER):
        match anchor.split():
            case [task_id, writer, head] if not named or task_id in named:
                if (writer, head) not in hashes.get(task_id, set()) and _has_task(context, task_id):
                    problems.append(
                        f"{BOARD_FOLDER}/{audit_path(TaskId(task_id))}: lines of `{writer}` that commit {commit[:10]} names are missing"
                    )
    return Checked(len(hashes), lines, tuple(problems))


def _has_task(context: Context, task_id: str) -> bool:
    """True while the task has a folder; one that was deleted took its audit with it, which the log shows."""
    try:
        return context.store.snapshot().has_task(TaskId(task_id))
    except GitticksError:
        return True


def _files(context: Context, tasks: tuple[TaskId, ...]) -> Iterator[tuple[TaskId, bytes]]:
    store = context.store
    if not tasks:
        there = store.objects.changed_files(None, store.objects.tree_of(state_tip(context.repository)))
        found = (task_around(one.path) for one in there if one.path.endswith(f"/{AUDIT_FILE}"))
        tasks = tuple(dict.fromkeys(task for task in found if task is not None))
    for task in tasks:
        data = store.read(audit_path(task))
        if data is not None:
            yield task, data


def csv_line(values: Iterable[str]) -> str:
    """Returns a line of a table, without its end, that is safe in a spreadsheet and on a terminal."""
    stream = io.StringIO()
    # A value is quoted for the line ends in it because they are in the terminator.
    csv.writer(stream, lineterminator="\r\n").writerow(map(_plain, values))
    return stream.getvalue().removesuffix("\r\n")


def _plain(text: str) -> str:
    """Returns a cell that no spreadsheet takes for a formula, and in which nothing steers a terminal."""
    cell = f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
    if are_harmless(cell):
        return cell
    return "".join(escaped(char) if is_harmful(char) and char not in "\t\n" else char for char in cell)
