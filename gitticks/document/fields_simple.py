"""A fast reader for frontmatter that gitticks itself writes, one value per line.

Building an index reads every task's file, and a tree with a place for each value costs more than the values. This
reader gives exactly the task that `read_fields` gives for the tree (a property test compares them), and declines
what it does not know, also every mistake: messages are made from the tree, which knows the place.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from enum import StrEnum
from typing import Any, TypeAlias

from gitticks.document.fields import FIELDS, MANUAL, OBJECT_ID, Field, is_absent
from gitticks.document.texts import Source
from gitticks.document.values import At
from gitticks.document.yaml_nodes import NULLS
from gitticks.document.yaml_read import FLOW_WORD, QUOTED, WORD, parse_simple
from gitticks.errors import DocumentError
from gitticks.model.status import Awaiting, Isolation, Requires, Status, TaskType, Verdict
from gitticks.model.task import Task

MOST_CHARACTERS = 10_000
MOST_BRACKETS = 100
_ID = r"[0-9a-z][0-9a-z-]{0,63}"
_MOST_DIGITS = 18

Read: TypeAlias = Callable[[str], object]
"""Returns the value of the text behind a key, None where it does not know it."""

_is_text = re.compile(rf"{WORD}|{QUOTED}").fullmatch
_is_id = re.compile(_ID).fullmatch
_is_object_id = OBJECT_ID.fullmatch
_is_time = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII).fullmatch
_is_date = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII).fullmatch
_is_list = re.compile(rf"\[{FLOW_WORD}(?:, {FLOW_WORD})*\]").fullmatch
_is_list_of_ids = re.compile(rf"\[{_ID}(?:, {_ID})*\]").fullmatch


def read_simple(yaml: str) -> Task | None:
    """Returns the task that the frontmatter says, or None where it takes the tree to tell."""
    if len(yaml) > MOST_CHARACTERS or yaml.count("[") > MOST_BRACKETS or yaml.count("{") > MOST_BRACKETS:
        return None
    found: dict[str, Any] = {}
    others: set[str] = set()
    count = 0
    for line in yaml.split("\n"):
        key, _, text = line.partition(": ")
        read = _READERS.get(key)
        value = None if read is None else read(text)
        if value is not None:
            found[key] = value
        elif line and not (line.startswith("#") and line.isprintable()):
            if not _read_by_tree(line, key, found, others):
                return None
        else:
            continue
        count += 1
    if count != len(found) + len(others) or "id" not in found or "title" not in found:
        return None
    return Task(**found)


def _read_by_tree(line: str, key: str, found: dict[str, Any], others: set[str]) -> bool:
    """Reads a line of a rarer form, whose tree is that of its text alone; False where it has none or is wrong."""
    tree = parse_simple(line)
    if tree is None or key == MANUAL or key in found:
        return False
    node, field = tree.pairs[0].value, _FIELDS.get(key)
    if field is None or is_absent(field, node):
        others.add(key)
        return True
    try:
        found[key] = field.read(At(Source(line, ""), key), node)
    except DocumentError:
        return False
    return True


def _text(text: str) -> str | None:
    if _is_text(text) is None or not text.isprintable() or text in NULLS:
        return None
    return text[1:-1] if text.startswith('"') else text


def _title(text: str) -> str | None:
    found = _text(text)
    return found if found and not found.isspace() else None


def _id(text: str) -> str | None:
    return text if _is_id(text) and text not in NULLS else None


def _object_id(text: str) -> str | None:
    return text if _is_object_id(text) else None


def _count(text: str) -> int | None:
    return int(text) if text.isdecimal() and text.isascii() and len(text) <= _MOST_DIGITS else None


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if _is_time(text) else None
    except ValueError:
        return None


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if _is_date(text) else None
    except ValueError:
        return None


def _labels(text: str) -> tuple[str, ...] | None:
    return tuple(text[1:-1].split(", ")) if _is_list(text) else None


def _ids(text: str) -> tuple[str, ...] | None:
    return tuple(text[1:-1].split(", ")) if _is_list_of_ids(text) else None


def _word(words: type[StrEnum]) -> Read:
    return {word.value: word for word in words}.get


_FIELDS: dict[str, Field] = {field.key: field for field in FIELDS}
_READERS: dict[str, Read] = {
    "id": _id,
    "title": _title,
    "type": _word(TaskType),
    "status": _word(Status),
    "priority": {str(number): number for number in range(5)}.get,
    "labels": _labels,
    "blocked_by": _ids,
    "parent": _id,
    "requires": _word(Requires),
    "asked": _word(Requires),
    "awaiting": _word(Awaiting),
    "verdict": _word(Verdict),
    "reviewer": _text,
    "assignee": _text,
    "due": _date,
    "defer_until": _date,
    "agent": _text,
    "model": _text,
    "isolation": _word(Isolation),
    "start_sha": _object_id,
    "end_sha": _object_id,
    "merged_sha": _object_id,
    "pr": _text,
    "review_round": _count,
    "failed_reviews": _count,
    "crash_count": _count,
    "asked_at": _time,
    "responded_at": _time,
    "created": _time,
    "created_by": _text,
    "updated": _time,
    "closed": _time,
    "closed_reason": _text,
    "external_ref": _text,
}
