"""Writes a task as an issue of beads; one that came from there is its own record with what changed since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gitticks.document.entries import normalised
from gitticks.document.escapes import unescape
from gitticks.document.foreign import beads
from gitticks.document.foreign.parts import clean
from gitticks.document.foreign.record import ForeignTask
from gitticks.document.foreign.writing import IMPORTED
from gitticks.document.lines import trimmed
from gitticks.document.taskfile import TaskFile
from gitticks.document.times import format_date, format_time
from gitticks.document.yaml_nodes import loose_node
from gitticks.model.notes import Entry, Section
from gitticks.model.status import Phase, Status
from gitticks.model.task import Task

_FIELDS_OF_SECTIONS = {Section.CONTEXT: "design", Section.ACCEPTANCE: "acceptance_criteria"}
_LEFT_OUT = (
    "missing_blockers",
    "cancelled_blockers",
    "left_out_blockers",
    "missing_parent",
    "left_out_parent",
)


@dataclass(frozen=True, slots=True)
class Names:
    """The ids that tasks have in beads, by their ids here."""

    of_tasks: Mapping[str, str]

    def __getitem__(self, task_id: str) -> str:
        """Returns the task's id in beads; the same as here for what did not come from there."""
        return self.of_tasks.get(task_id, task_id)


def issue_of(file: TaskFile, record: Mapping[str, Any] | None, names: Names) -> dict[str, Any]:
    """Returns the issue as an object of JSON.

    Args:
        file: the task.
        record: what it was imported from, None if it was born here.
        names: the ids of all tasks in beads.
    """
    task = file.task
    issue: dict[str, Any] = dict(record) if record is not None else {"id": names[task.id]}
    was = beads.task_of(issue) if record is not None else None
    _put(issue, "title", task.title, None if was is None else was.title)
    _texts(issue, file, was)
    _state(issue, task, was)
    _put(issue, "priority", task.priority, None if was is None else was.priority)
    if was is None or (was.is_epic and not task.is_epic):
        issue["issue_type"] = task.type.value
    _put(issue, "labels", list(task.labels), None if was is None else list(was.labels))
    day = format_date(task.defer_until) if task.defer_until else None
    _put(
        issue,
        "defer_until",
        day,
        format_date(was.defer_until) if was is not None and was.defer_until else None,
    )
    if task.external_ref not in (None, issue["id"]):
        _put(issue, "external_ref", task.external_ref, None if was is None else was.external_ref)
    _times(issue, task, was)
    _links(issue, file, names)
    _comments(issue, file, was)
    return issue


def _put(issue: dict[str, Any], key: str, value: Any, was: Any) -> None:
    """Sets a field that differs from what was imported; one that says nothing any more is taken out."""
    if value == was:
        return
    if value in (None, "", []):
        issue.pop(key, None)
    else:
        issue[key] = value


def _texts(issue: dict[str, Any], file: TaskFile, was: ForeignTask | None) -> None:
    _put(issue, "description", unescape(file.summary), None if was is None else _as_kept(was.summary))
    before = dict(was.sections) if was is not None else {}
    for section, key in _FIELDS_OF_SECTIONS.items():
        text = file.section(section)
        _put(issue, key, unescape(text) if text else None, _as_kept(before.get(section, "")) or None)
    known = {*_FIELDS_OF_SECTIONS, Section.NOTES}
    others = [block for block in file.body.blocks if block.is_section and not any(map(block.is_named, known))]
    texts = [f"## {block.title}\n\n{text}" for block in others if (text := file.body.content(block))]
    if texts:
        issue["notes"] = "\n\n".join([*([issue["notes"]] if issue.get("notes") else []), *texts])


def _as_kept(text: str) -> str:
    return trimmed(clean(text))


def _state(issue: dict[str, Any], task: Task, was: ForeignTask | None) -> None:
    if was is not None and task.status is was.status:
        return
    if task.status.phase is Phase.CLOSED:
        issue["status"] = "closed"
    else:
        issue["status"] = "open" if task.status is Status.PENDING else "in_progress"


def _times(issue: dict[str, Any], task: Task, was: ForeignTask | None) -> None:
    _put(issue, "created_at", _time(task.created), _time(was.created) if was is not None else None)
    _put(issue, "created_by", task.created_by, was.created_by if was is not None else None)
    _put(issue, "updated_at", _time(task.updated), _time(was.updated) if was is not None else None)
    _put(issue, "closed_at", _time(task.closed), _time(was.closed) if was is not None else None)
    _put(issue, "close_reason", task.closed_reason, was.closed_reason if was is not None else None)


def _time(time: datetime | None) -> str | None:
    return None if time is None else format_time(time)


def _links(issue: dict[str, Any], file: TaskFile, names: Names) -> None:
    """Keeps the dependencies that still hold, or that could not be taken over, and adds new ones."""
    task = file.task
    blockers = [names[one] for one in task.blocked_by]
    parents = [] if task.parent is None else [names[task.parent]]
    left_out = _left_out(file, names)
    kept: list[Any] = []
    had: set[tuple[bool, str]] = set()
    for one in issue.get("dependencies") or []:
        kind = str(one.get("type") or "blocks") if isinstance(one, dict) else ""
        target = str(one.get("depends_on_id")) if isinstance(one, dict) else ""
        is_parent = kind == beads.PARENT
        wanted = parents if is_parent else blockers
        if not (is_parent or kind in beads.BLOCKING) or target in left_out or target in wanted:
            kept.append(one)
            had.add((is_parent, target))
    for is_parent, target in [*((False, one) for one in blockers), *((True, one) for one in parents)]:
        if (is_parent, target) not in had:
            kept.append(_dependency(issue["id"], target, task, is_parent=is_parent))
    if kept or issue.get("dependencies"):
        issue["dependencies"] = kept


def _dependency(issue_id: str, target: str, task: Task, *, is_parent: bool) -> dict[str, Any]:
    kind = beads.PARENT if is_parent else "blocks"
    made = {"created_at": _time(task.updated or task.created), "created_by": task.created_by}
    known = {key: value for key, value in made.items() if value is not None}
    return {"issue_id": issue_id, "depends_on_id": target, "type": kind, **known}


def _left_out(file: TaskFile, names: Names) -> set[str]:
    imported = loose_node(file.frontmatter.tree.get(IMPORTED))
    words: list[str] = []
    for kind in (*_LEFT_OUT, "parents"):
        value = imported.get(kind) if isinstance(imported, dict) else None
        words += value.split() if isinstance(value, str) else []
    return {*words, *(names[word] for word in words)}


def _comments(issue: dict[str, Any], file: TaskFile, was: ForeignTask | None) -> None:
    known = {normalised(one) for one in was.notes} if was is not None else set()
    new = [one for one in file.entries(Section.NOTES) if one not in known]
    if new:
        old = issue.get("comments") or []
        issue["comments"] = [
            *old,
            *(_comment(issue["id"], at, one) for at, one in enumerate(new, len(old) + 1)),
        ]


def _comment(issue_id: str, number: int, entry: Entry) -> dict[str, Any]:
    return {
        "id": number,
        "issue_id": issue_id,
        "author": entry.name,
        "text": entry.text,
        "created_at": format_time(entry.at),
    }
