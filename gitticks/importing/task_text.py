"""Writes a TASK.md from another tracker's task; foreign text cannot create a section or entry."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from gitticks.document.entries import escape, heading_line, normalised
from gitticks.document.fields import written
from gitticks.document.history import MOST_LINE_BYTES
from gitticks.document.sections import Body, same_name
from gitticks.document.taskfile import TaskFile, read_task
from gitticks.document.texts import MOST_BYTES, MOST_LINES, Source, trimmed
from gitticks.document.yaml_nodes import loose_node
from gitticks.document.yaml_read import MOST_BYTES as MOST_YAML_BYTES
from gitticks.document.yaml_scalars import render
from gitticks.errors import DocumentError
from gitticks.importing.exported import canonical
from gitticks.importing.record import ForeignTask, clean, one_line
from gitticks.model.notes import Section
from gitticks.model.task import Task

IMPORTED = "imported"
_LONGEST_EXTRAS = 8_000
_ROOM_FOR_EXTRAS = 2 * _LONGEST_EXTRAS
_DEEPEST = 4
_LINES_AROUND = 4
_MOST_FIELD_LINES = 100
_ROOM_FOR_FIELDS = MOST_YAML_BYTES
_OURS = (Section.SCRIPT, Section.QUESTIONS, Section.HANDOFF, Section.REVIEW, Section.NOTES)
"""Sections that mean something to a gate or an agent, which no foreign text may fill."""
_NESTED_FENCE = re.compile(r"^(?=[ \t>*+\-0-9.)])[ \t>*+\-0-9.)]+(?:`{3}|~{3})", re.MULTILINE)
"""A code fence that begins inside a list, a quote or an indentation; elsewhere `escape` sees fences as CommonMark."""


def is_too_large(foreign: ForeignTask) -> bool:
    """True if the task's file, or its record on a line of the history, would not fit; asked before links are made."""
    texts = [foreign.summary, *(text for _, text in foreign.sections), *(one.text for one in foreign.notes)]
    lines = sum(text.count("\n") + _LINES_AROUND for text in texts)
    size = sum(len(text.encode("utf-8", "replace")) for text in texts) + lines
    fields = sum(len(render(value).encode()) for value in written(foreign.task).values())
    record = json.dumps(foreign.record or "", ensure_ascii=False).encode("utf-8", "replace")
    return (
        size > MOST_BYTES - _ROOM_FOR_FIELDS
        or fields > MOST_YAML_BYTES - _ROOM_FOR_EXTRAS
        or lines > MOST_LINES - _MOST_FIELD_LINES
        or len(record) > MOST_LINE_BYTES - _ROOM_FOR_FIELDS
    )


def task_text(task: Task, foreign: ForeignTask, imported: Mapping[str, Any]) -> bytes:
    """Returns the whole file."""
    lines = [f"{key}: {render(value)}\n" for key, value in written(task).items()]
    body = _body(foreign, task.file)
    data = f"---\n{''.join(lines)}{IMPORTED}: {render(kept(imported))}\n---\n{body}".encode()
    if read_task(data, task.file) != task:
        raise DocumentError("it cannot be written so that it reads the same", path=task.file)
    return data


def kept(imported: Mapping[str, Any]) -> dict[str, Any]:
    """Returns fields as YAML can hold them: what is large or deep as its JSON, and the largest left to the history."""
    found: dict[str, Any] = {}
    room = _LONGEST_EXTRAS
    for key, value in ((one, value) for one, value in imported.items() if value is not None):
        held = _yaml_value(value)
        size = len(render(held))
        if size <= room:
            found[key_of(key)] = held
            room -= size
    return found


def imported_words(file: TaskFile, key: str) -> list[str]:
    """Returns the words that a task's file keeps under a key of `imported`, none where there are none."""
    imported = loose_node(file.frontmatter.tree.get(IMPORTED))
    value = imported.get(key) if isinstance(imported, dict) else None
    return value.split() if isinstance(value, str) else []


def key_of(name: str) -> str:
    """Returns the key under which a foreign field is kept."""
    return one_line(str(name))[:100] or "unnamed"


def section_title(name: str) -> str:
    """Returns the title of the section that is made of a foreign one; closing signs are no part of it."""
    title = one_line(name).strip("# ")
    known = next((one for one in Section if same_name(one) == same_name(title)), None)
    if known in _OURS:
        return f"Imported {known}"
    return known or title or "Imported"


def as_text(value: Any) -> str:
    """Returns a foreign value for people to read: a text as it is, a list of texts by lines, all else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "\n".join(f"- {item}" for item in value)
    return json.dumps(value, ensure_ascii=False, indent=1)


def _yaml_value(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, bool | int | float):
        return value
    return _simple(value) if _is_flat(value, _DEEPEST) else clean(canonical(value))


def _is_flat(value: Any, depth: int) -> bool:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth >= 0 and all(_is_flat(item, depth - 1) for item in items)


def _simple(value: Any) -> Any:
    if isinstance(value, dict):
        return {one_line(str(key)): _simple(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_simple(item) for item in value if item is not None]
    return clean(value) if isinstance(value, str) else value


def _body(foreign: ForeignTask, path: str) -> str:
    """Returns the text below the frontmatter; where fences are hard to tell, none of them is kept as one."""
    texts = [foreign.summary, *(text for _, text in foreign.sections), *(one.text for one in foreign.notes)]
    if not any(_NESTED_FENCE.search(text) for text in texts):
        return _joined(foreign, keep_fences=True)
    names = [
        *(section_title(name) for name, _ in foreign.sections),
        *([Section.NOTES.value] if foreign.notes else []),
    ]
    for keep_fences in (True, False):
        body = _joined(foreign, keep_fences=keep_fences)
        blocks = Body(Source(body, path), "\n").blocks
        if [block.title for block in blocks if block.is_section] == names:
            return body
    raise DocumentError("its text cannot be distinguished from gitticks' own sections", path=path)


def _joined(foreign: ForeignTask, *, keep_fences: bool) -> str:
    parts = "\n".join(_parts(foreign, keep_fences=keep_fences))
    return f"\n{parts}" if parts else ""


def _parts(foreign: ForeignTask, *, keep_fences: bool) -> Iterator[str]:
    if foreign.summary.strip():
        yield _safe(foreign.summary, keep_fences=keep_fences)
    for name, text in foreign.sections:
        below = f"\n{_safe(text, keep_fences=keep_fences)}" if text.strip() else ""
        yield f"## {section_title(name)}\n{below}"
    if foreign.notes:
        yield f"## {Section.NOTES.value}\n"
    for entry in map(normalised, sorted(foreign.notes, key=lambda one: one.at)):
        yield f"{heading_line(entry)}\n\n{_safe(entry.text, keep_fences=keep_fences)}"


def _safe(text: str, *, keep_fences: bool) -> str:
    return f"{escape(trimmed(clean(text)), keep_fences=keep_fences)}\n"
