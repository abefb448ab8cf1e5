"""Reads Backlog.md: one markdown file for each task, and what its config says about statuses and ids."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from gitticks.document.foreign.parts import Parts, RecordError, clean, digest_of, text_of
from gitticks.document.foreign.record import ForeignTask, Format, Problem, Reading
from gitticks.document.frontmatter import split
from gitticks.document.lines import Source
from gitticks.document.sections import Body, read_body, same_name
from gitticks.document.yaml_nodes import loose_node
from gitticks.document.yaml_tree import parse_yaml
from gitticks.errors import DocumentError
from gitticks.model.notes import Section
from gitticks.model.status import Status

_MARKER = re.compile(r"^[ \t]*<!-- ?(?:SECTION:)?[A-Z_]+:(?:BEGIN|END) ?-->[ \t]*\n?", re.MULTILINE)
_PRIORITIES = {"critical": 0, "high": 1, "medium": 2, "low": 3}
_DONE, _TO_DO, _BUSY = ("done", "completed", "closed"), ("to do", "todo", "backlog", "draft"), "in progress"
_OLD_PREFIX = "task-"
_OURS = frozenset({Section.SCRIPT, Section.QUESTIONS, Section.HANDOFF, Section.REVIEW, Section.NOTES})
"""Sections that mean something to a gate or an agent, which no foreign text may fill."""


@dataclass(frozen=True, slots=True)
class Config:
    """What a project says of its tasks: its statuses in their order, and what its ids begin with."""

    statuses: tuple[str, ...] = ("To Do", "In Progress", "Done")
    prefix: str = "task"


def read_config(data: bytes, path: str) -> Config:
    """Returns what a `config.yml` says.

    Raises:
        RecordError: it cannot be read.
    """
    try:
        values = loose_node(parse_yaml(Source(text_of(data), path)))
    except DocumentError as error:
        raise RecordError(error.problem) from error
    parts = Parts.of(values if isinstance(values, dict) else {})
    default = Config()
    return Config(
        parts.texts("statuses") or default.statuses, (parts.line("task_prefix") or default.prefix).lower()
    )


def read_backlog(files: Iterable[tuple[str, bytes | None]], config: Config) -> Reading:
    """Returns what the files hold; each comes with its path, and None for one that is too large."""
    reading = Reading(Format.BACKLOG)
    for path, data in files:
        try:
            if data is None:
                raise RecordError("the file is too large")  # noqa: TRY301
            reading.add(_task_of(data, path, config))
        except DocumentError as error:
            reading.problems.append(Problem(path, error.line, error.problem))
        except RecordError as error:
            reading.problems.append(Problem(path, None, str(error)))
    known = {source_id.lower(): source_id for source_id in reading.tasks}
    reading.tasks = {one: _with_known_links(task, known, config) for one, task in reading.tasks.items()}
    return reading


def _task_of(data: bytes, path: str, config: Config) -> ForeignTask:
    text = text_of(data)
    file = split(text.encode(), path)
    values = loose_node(file.tree)
    parts = Parts.of(values if isinstance(values, dict) else {})
    source_id, title = parts.name("id"), parts.name("title")
    status = _status(parts, config)
    updated = parts.time("updated_date")
    summary, sections = _text(read_body(file.body_source, file.newline))
    return ForeignTask(
        source_id=source_id,
        title=title,
        path=path,
        line=None,
        digest=digest_of(text),
        status=status,
        priority=parts.priority(_PRIORITIES),
        labels=parts.texts("labels"),
        blocked_by=parts.texts("dependencies"),
        parent=parts.line("parent_task_id"),
        created=parts.time("created_date"),
        updated=updated,
        closed=(parts.time("completed_date") or updated) if status.is_terminal else None,
        summary=summary,
        sections=sections,
        extra=parts.left,
    )


def _status(parts: Parts, config: Config) -> Status:
    """Returns done for the last of the project's statuses, pending for the first, and working between them."""
    word = parts.left.get("status")
    name = word.strip().lower() if isinstance(word, str) else ""
    statuses = [one.lower() for one in config.statuses]
    if not name or name in _TO_DO or name == statuses[0]:
        status = Status.PENDING
    else:
        status = Status.DONE if name in _DONE or name == statuses[-1] else Status.WORKING
    if name in (*_TO_DO, *_DONE, _BUSY):
        parts.drop("status")
    return status


def _text(body: Body) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Returns the description, and the other sections with the tool's own comments taken out."""
    summary, sections = [_bare(body.preamble)], dict[str, str]()
    for block in body.blocks:
        text = _bare(body.content(block))
        if not block.is_section:
            continue
        if block.is_named("Description"):
            summary.append(text)
        elif text:
            name = next(
                (one.value for one in Section if same_name(one) == same_name(block.title)), block.title
            )
            name = f"Imported {name}" if name in _OURS else name
            sections[name] = f"{sections[name]}\n\n{text}" if name in sections else text
    return "\n\n".join(part for part in summary if part), tuple(sections.items())


def _bare(text: str) -> str:
    return _MARKER.sub("", clean(text)).strip("\n")


def _with_known_links(task: ForeignTask, known: dict[str, str], config: Config) -> ForeignTask:
    """Returns the task with its links as the other tasks write their ids: in any case, and with the old prefix."""

    def found(link: str) -> str:
        name = link.lower()
        newer = f"{config.prefix}-{name.removeprefix(_OLD_PREFIX)}" if name.startswith(_OLD_PREFIX) else name
        return known.get(name) or known.get(newer) or link

    changes: dict[str, Any] = {"blocked_by": tuple(dict.fromkeys(map(found, task.blocked_by)))}
    if task.parent is not None:
        changes["parent"] = found(task.parent)
    return replace(task, **changes)
