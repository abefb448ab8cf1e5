"""Backlog.md: one Markdown file per task, statuses and ids from its config."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from gitticks.document.frontmatter import FrontmatterHandler
from gitticks.document.sections import Body, same_name
from gitticks.document.texts import Source, decode, trimmed
from gitticks.document.yaml_nodes import loose_node
from gitticks.document.yaml_read import parse_yaml
from gitticks.errors import DocumentError
from gitticks.importing.exported import RecordError, digest_of, read_file, text_of
from gitticks.importing.record import ForeignTask, Format, Parts, Reading, clean, is_given_up
from gitticks.importing.task_text import section_title
from gitticks.model.ids import TaskId
from gitticks.model.status import Status
from gitticks.model.task import Task

_TASKS = ("tasks", "completed")
_CONFIGS = ("config.yml", "config.yaml")
_NO_TASKS = ("drafts", "archive/tasks", "archive/drafts", "milestones", "docs", "decisions")
"""Folders that hold no work to be done."""
_SECTION = re.compile(r" {0,3}##(?:[ \t]|\Z)")
"""A heading that begins a section; a text that is underlined is none of the tool's, which writes no such headings."""
_MARKER = re.compile(r"[ \t]*<!-- ?(?:SECTION:)?([A-Z_]+):(BEGIN|END) ?-->[ \t]*")
_COMMENT, _COMMENTS = "COMMENT", "COMMENTS"
_UNQUOTED = re.compile(r"^(\w+:|[ \t]*-)([ \t]+)([@`].*?)([ \t]*\r?)$", re.MULTILINE)
_UNQUOTED_LIST = re.compile(r"^(\w+:[ \t]+)\[([^\[\]'\"{}\r\n]*@[^\[\]'\"{}\r\n]*)\]", re.MULTILINE)
"""Names such as `@otto` where YAML wants quotes; the tool reads them without."""
_NUMBER = re.compile(r"(?:.*-)?(\d+(?:\.\d+)*)")
_PRIORITIES = {"critical": 0, "high": 1, "medium": 2, "low": 3}
_STATUSES: tuple[str, ...] = ("To Do", "In Progress", "Done")
_DONE, _TO_DO, _BUSY = ("done", "completed", "closed"), ("to do", "todo", "backlog", "draft"), "in progress"
_EMPTY = frozenset(
    {
        "acceptance criteria",
        "definition of done",
        "implementation plan",
        "implementation notes",
        "comments",
        "final summary",
    }
)
"""Sections of the tool's own, which say nothing while they are empty."""


def _read_statuses(data: bytes, path: str) -> tuple[str, ...]:
    """Returns a project's statuses in their order, as its config says; none where it does not."""
    try:
        values = loose_node(parse_yaml(Source(text_of(data), path)))
    except DocumentError as error:
        raise RecordError(error.problem) from error
    return Parts.of(values if isinstance(values, dict) else {}).texts("statuses")


def find_backlog(place: Path) -> Path | None:
    """Returns the project's folder in `place`, or that it is itself."""
    folders = (place / "backlog", place)
    return next((one for one in folders if any((one / name).is_dir() for name in _TASKS)), None)


def has_config(folder: Path) -> bool:
    """True if more than its folder of tasks says that this is a project."""
    return any((folder / name).is_file() for name in _CONFIGS)


def read_backlog(folder: Path) -> Reading:
    """Returns what the project's files hold."""
    reading, statuses = Reading(Format.BACKLOG), _STATUSES
    for file in (folder / name for name in _CONFIGS):
        with reading.noting(str(file)):
            if file.is_file():
                statuses = _read_statuses(read_file(file), str(file)) or statuses
    for file in (file for name in _TASKS for file in sorted((folder / name).glob("*.md"))):
        with reading.noting(str(file)):
            reading.add(_task_of(read_file(file), str(file), statuses))
    for name in _TASKS:
        for _ in (folder / name).glob("*/**/*.md"):
            reading.skip(f"a file in a folder of `{name}/`")
    for name in _NO_TASKS:
        for _ in (folder / name).glob("*.md"):
            reading.skip(f"a file of `{name}/`")
    known = _Known.of(reading)
    reading.tasks = {one: _with_known_links(task, known) for one, task in reading.tasks.items()}
    return reading


def _task_of(data: bytes, path: str, statuses: Sequence[str]) -> ForeignTask:
    text = text_of(data)
    fields, body = _split(text, path)
    parts = Parts.of(fields)
    source_id, title = parts.name("id"), parts.name("title")
    status = _status(parts, [one.lower() for one in statuses])
    updated = parts.time("updated_date")
    summary, sections = _text(body, path)
    return ForeignTask(
        Task(
            TaskId(source_id),
            title,
            status=status,
            priority=parts.priority(_PRIORITIES),
            labels=parts.texts("labels"),
            assignee=", ".join(parts.texts("assignee")) or None,
            blocked_by=tuple(map(TaskId, parts.texts("dependencies"))),
            parent=None if (parent := parts.line("parent_task_id")) is None else TaskId(parent),
            created=parts.time("created_date"),
            updated=updated,
            closed=(parts.time("completed_date") or updated) if status.is_terminal else None,
        ),
        path,
        None,
        digest_of(text),
        summary=summary,
        sections=sections,
        extra=parts.left,
    )


def _status(parts: Parts, statuses: Sequence[str]) -> Status:
    """Returns done for the last of the project's statuses, pending for the first, and working between them.

    A status that says that nothing was done is cancelled, wherever it is.
    """
    word = parts.left.get("status")
    name = word.strip().lower() if isinstance(word, str) else ""
    if not name or name in _TO_DO or name == statuses[0]:
        status = Status.PENDING
    elif is_given_up(name):
        status = Status.CANCELLED
    else:
        status = Status.DONE if name in _DONE or name == statuses[-1] else Status.WORKING
    if name in (*_TO_DO, *_DONE, _BUSY):
        parts.drop("status")
    return status


def _split(text: str, path: str) -> tuple[dict[str, Any], str]:
    """Returns the fields and the text below; names that YAML cannot read without quotes are given some."""
    handler = FrontmatterHandler(path)
    yaml, body = handler.split(decode(text.encode(), path))
    try:
        return handler.load(yaml), body
    except DocumentError:
        quoted = _quoted(yaml)
        if quoted == yaml:
            raise
        return handler.load(quoted), body


def _quoted(yaml: str) -> str:
    def one(match: re.Match[str]) -> str:
        return f"{match[1]}{match[2]}{quotes(match[3])}{match[4]}"

    def every(match: re.Match[str]) -> str:
        return f"{match[1]}[{', '.join(quotes(item.strip()) for item in match[2].split(','))}]"

    def quotes(value: str) -> str:
        return "'" + value.replace("'", "''") + "'"

    return _UNQUOTED_LIST.sub(every, _UNQUOTED.sub(one, yaml))


def _text(body: str, path: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Returns the description, and the other sections without the tool's own markers.

    What stands between a section's markers belongs to it, whatever it looks like.
    """
    lines = clean(body).split("\n")
    regions = dict(_regions(lines))
    heads = _headings(path, lines, regions)
    summary, sections = ["\n".join(lines[: heads[0] if heads else None])], dict[str, str]()
    for first, end in pairwise([*heads, len(lines)]):
        title = section_title(lines[first])
        text = trimmed("\n".join(_without_markers(lines, first, end, regions.get(first))))
        if same_name(title) == "description":
            summary.append(text)
        elif text or title.lower() not in _EMPTY:
            sections[title] = "\n\n".join(part for part in (sections.get(title, ""), text) if part)
    return "\n\n".join(text for part in summary if (text := trimmed(part))), tuple(sections.items())


def _regions(lines: list[str]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yields each heading that a marker follows, with the lines of that marker and of the one that ends it."""
    marks = [
        (number, found[1], found[2])
        for number, line in enumerate(lines)
        if (found := _MARKER.fullmatch(line))
    ]
    last = -1
    for place, (first, name, kind) in enumerate(marks):
        heading = next((one for one in range(first - 1, last, -1) if lines[one].strip()), None)
        if first < last or kind != "BEGIN" or heading is None or not _SECTION.match(lines[heading]):
            continue
        end = next((one for one, other, kind in marks[place:] if (other, kind) == (name, "END")), None)
        if end is not None:
            last = end
            yield heading, (first, end)


def _headings(path: str, lines: list[str], regions: Mapping[int, tuple[int, int]]) -> list[int]:
    """Returns the lines at which sections begin, none of which is between markers."""
    open_lines = list(lines)
    for first, last in regions.values():
        open_lines[first : last + 1] = [""] * (last + 1 - first)
    found = Body(Source("\n".join(open_lines), path, first_line=0), "\n").blocks
    starts = (block.heading.line for block in found if block.is_section)
    return [number for number in starts if _SECTION.match(lines[number])]


def _without_markers(
    lines: list[str], heading: int, end: int, region: tuple[int, int] | None
) -> Iterator[str]:
    """Yields the lines of a section but for the markers around them, and those around each comment."""
    comments = region is not None and _marked(lines[region[0]]) == _COMMENTS
    for number in range(heading + 1, end):
        is_inside = region is not None and region[0] <= number <= region[1]
        if region is not None and number in region:
            continue
        if not (comments and is_inside and _marked(lines[number]) == _COMMENT):
            yield lines[number]


def _marked(line: str) -> str | None:
    found = _MARKER.fullmatch(line)
    return None if found is None else found[1]


class _Known(NamedTuple):
    """The ids of all tasks, by themselves in lower case, and by their numbers where one task alone has that."""

    ids: Mapping[str, str]
    numbers: Mapping[tuple[str, ...], str | None]

    @classmethod
    def of(cls, reading: Reading) -> _Known:
        """Returns the ids of what was read."""
        numbers: dict[tuple[str, ...], str | None] = {}
        for source_id in reading.tasks:
            number = _number(source_id)
            if number is not None:
                numbers[number] = None if number in numbers else source_id
        return cls({one.lower(): one for one in reading.tasks}, numbers)

    def find(self, link: str) -> TaskId:
        """Returns the id that a link means: as it is, or the only one of the number after the usual prefix or none."""
        name, number = link.lower(), _number(link)
        is_old = number is not None and name.rpartition("-")[0] in ("", "task")
        alone = self.numbers.get(number) if is_old and number is not None else None
        return TaskId(self.ids.get(name) or alone or link)


def _number(name: str) -> tuple[str, ...] | None:
    """Returns the number in an id, part for part and without leading zeros."""
    found = _NUMBER.fullmatch(name)
    return None if found is None else tuple(one.lstrip("0") for one in found[1].split("."))


def _with_known_links(task: ForeignTask, known: _Known) -> ForeignTask:
    """Returns the task with its links as the other tasks write their ids: in any case, and with the old prefix."""
    there = task.task
    parent = None if there.parent is None else known.find(there.parent)
    blockers = tuple(dict.fromkeys(map(known.find, there.blocked_by)))
    return replace(task, task=replace(there, blocked_by=blockers, parent=parent))
