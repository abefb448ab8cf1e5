"""The schema of a task's frontmatter as a table: each key, how it is read and written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import datetime
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, NamedTuple

from gitticks.document import quick_values, values
from gitticks.document.frontmatter import Frontmatter
from gitticks.document.texts import Source
from gitticks.document.values import At, Reader, format_date, format_time
from gitticks.document.yaml_edit import Change
from gitticks.document.yaml_nodes import Mapping as MappingNode
from gitticks.document.yaml_nodes import Node, Scalar
from gitticks.document.yaml_read import parse_simple
from gitticks.document.yaml_scalars import Plain, YamlValue
from gitticks.errors import DocumentError
from gitticks.model.ids import TaskId, is_valid_id
from gitticks.model.status import Awaiting, Isolation, Requires, Status, TaskType, Verdict
from gitticks.model.task import HUMAN_FIELDS, Approval, Claim, Task, Usage

MANUAL = "manual"
_MOST_QUICK_CHARACTERS = 10_000
_MOST_QUICK_BRACKETS = 100
_OBJECT_ID = re.compile(r"[0-9a-f]{4,64}")
_BRANCH = re.compile(r"(?![-/.])(?!.*(?:\.\.|@\{|//|[/.]$))[^\x00-\x20\x7f~^:?*\[\\]{1,250}")

_DEFAULTS = Task(TaskId("0"), "")
_WRITTEN = sorted(HUMAN_FIELDS | {"status"})
_KNOWN = frozenset(field.name for field in fields(Task)) | {"manual"}
_ALIKE = 0.8
"""How much of two names has to be the same: `label` is near `labels`, and `due` is a key of its own."""


class Field(NamedTuple):
    """One key of the frontmatter and attribute of `Task`, which bear the same name.

    `takes_null_as_text` marks the keys whose text counts as it stands, even where YAML would read null.
    """

    key: str
    read: Reader[object]
    write: Callable[[Any], YamlValue] = str
    quick: quick_values.Quick = lambda _: None
    is_always_written: bool = False
    takes_null_as_text: bool = False


def _read_id(at: At, node: Node) -> TaskId:
    text = values.read_text(at, node)
    if not is_valid_id(text):
        hint = "ids are lower-case letters, digits and `-`; `gt list` shows them"
        raise at.error(node, f"is not a task id: {values.shown(node)}", hint=hint)
    return TaskId(text)


def _filled(problem: str, hint: str) -> Reader[str]:
    def read(at: At, node: Node) -> str:
        text = values.read_text(at, node)
        if not text.strip():
            raise at.error(node, problem, hint=hint)
        return text

    return read


def _matching(pattern: re.Pattern[str], what: str, hint: str) -> Reader[str]:
    def read(at: At, node: Node) -> str:
        text = values.read_text(at, node)
        if pattern.fullmatch(text) is None:
            raise at.error(node, f"is not {what}: {values.shown(node)}", hint=hint)
        return text

    return read


_read_object_id = _matching(_OBJECT_ID, "a commit", "write a commit's full id, or delete it")
_read_branch = _matching(_BRANCH, "a branch name", "`git branch --list` shows them")


def _record(
    make: Callable[..., object], readers: Mapping[str, Reader[object]], *needed: str
) -> Reader[object]:
    def read(at: At, node: Node) -> object:
        parts = values.read_parts(at, node, readers)
        missing = next((key for key in needed if key not in parts), None)
        if missing is not None:
            hint = f"delete `{at.name}`, gitticks writes it itself"
            raise at.error(node, f"lacks `{missing}`", hint=hint)
        return make(**parts)

    return read


_read_approval = _record(
    Approval,
    {"by": values.read_text, "at": values.read_time, "head": _read_object_id, "strength": values.read_text},
    "by",
    "at",
)
_read_claim = _record(
    Claim,
    {
        "runner": values.read_text,
        "host": values.read_text,
        "since": values.read_time,
        "expires": values.read_time,
    },
    *Claim._fields,
)
_read_usage = _record(
    Usage,
    dict.fromkeys(("iterations", "tokens_in", "tokens_out"), values.read_integer(0))
    | dict.fromkeys(("cost", "seconds"), values.read_number),
)


def _read_sessions(at: At, node: Node) -> dict[str, str]:
    mapping = values.mapping_of(at, node)
    return {pair.key.text: values.read_text(at.inside(pair.key.text), pair.value) for pair in mapping.pairs}


def _write_time(time: datetime) -> Plain:
    return Plain(format_time(time))


def _write_record(record: Approval | Claim) -> dict[str, YamlValue]:
    parts = record._asdict().items()
    return {
        name: _write_time(part) if isinstance(part, datetime) else part
        for name, part in parts
        if part is not None
    }


def _text(key: str) -> Field:
    return Field(key, values.read_text, quick=quick_values.read_text)


def _quick_argument(text: str) -> str | None:
    found = quick_values.read_text(text)
    return found if found and values.is_argument(found) else None


def _word(key: str, words: type[StrEnum], *, is_always_written: bool = False) -> Field:
    by_text: dict[str, StrEnum] = {word.value: word for word in words}
    return Field(key, values.read_word(words), str, by_text.get, is_always_written)


def _count(key: str) -> Field:
    return Field(key, values.read_integer(0), int, quick_values.read_count)


def _object_id(key: str) -> Field:
    return Field(key, _read_object_id, quick=lambda text: text if _OBJECT_ID.fullmatch(text) else None)


def _time(key: str) -> Field:
    return Field(key, values.read_time, _write_time, quick_values.read_time)


def _day(key: str) -> Field:
    return Field(key, values.read_date, lambda day: Plain(format_date(day)), quick_values.read_date)


FIELDS: tuple[Field, ...] = (
    Field("id", _read_id, quick=quick_values.read_id, is_always_written=True, takes_null_as_text=True),
    Field(
        "title",
        _filled("is empty", "write what the task is about"),
        quick=quick_values.read_title,
        is_always_written=True,
        takes_null_as_text=True,
    ),
    _word("type", TaskType),
    _word("status", Status, is_always_written=True),
    Field("priority", values.read_integer(0, 4), int, {str(number): number for number in range(5)}.get),
    Field(
        "labels",
        values.read_list(_filled("holds an empty label", "delete it")),
        list,
        quick_values.read_list,
    ),
    Field("blocked_by", values.read_list(_read_id), list, quick_values.read_ids),
    Field("parent", _read_id, quick=quick_values.read_id),
    _word("requires", Requires),
    _word("asked", Requires),
    _word("awaiting", Awaiting),
    _word("verdict", Verdict),
    Field("approval", _read_approval, _write_record),
    _text("reviewer"),
    _text("assignee"),
    _day("due"),
    _day("defer_until"),
    _text("agent"),
    Field("model", values.read_argument, quick=_quick_argument),
    _word("isolation", Isolation),
    Field("base", _read_branch),
    Field("branch", _read_branch),
    _object_id("start_sha"),
    _object_id("end_sha"),
    _object_id("merged_sha"),
    _text("pr"),
    _count("review_round"),
    _count("failed_reviews"),
    _count("crash_count"),
    Field("usage", _read_usage, lambda usage: {name: part for name, part in usage._asdict().items() if part}),
    Field("claim", _read_claim, _write_record),
    Field("agent_sessions", _read_sessions, dict),
    _time("asked_at"),
    _time("responded_at"),
    _time("created"),
    _text("created_by"),
    _time("updated"),
    _time("closed"),
    _text("closed_reason"),
    _text("external_ref"),
)
"""Every key that a TASK.md can hold, in the order in which a new file is written."""
_BY_KEY = {field.key: field for field in FIELDS}


def read_fields(frontmatter: Frontmatter) -> Task:
    """Returns the task that the frontmatter says; unknown keys are ignored."""
    found: dict[str, Any] = {}
    source = frontmatter.source
    nodes = {pair.key.text: pair.value for pair in frontmatter.tree.pairs}
    for field in FIELDS:
        node = nodes.get(field.key)
        if node is not None and not _is_absent(field, node):
            found[field.key] = field.read(At(source, field.key), node)
    for key in ("id", "title"):
        if key in nodes and key not in found:
            raise At(source, key).error(nodes[key], "is empty")
        if key not in found:
            raise source.error(f"`{key}` is missing", 0, hint=f"add a line `{key}: …` to the frontmatter")
    if has_manual(frontmatter) and "awaiting" not in found:
        found["awaiting"] = Awaiting.WORK
    return Task(**found)


def _is_absent(field: Field, node: Node) -> bool:
    """True if the node says nothing: it is null, and null is not this key's text."""
    if not isinstance(node, Scalar) or not node.is_null:
        return False
    return not field.takes_null_as_text or not node.text


def read_quickly(yaml: str) -> Task | None:
    """Returns the task that the frontmatter says, or None where it takes the tree to tell."""
    most = _MOST_QUICK_BRACKETS
    if len(yaml) > _MOST_QUICK_CHARACTERS or yaml.count("[") > most or yaml.count("{") > most:
        return None
    found: dict[str, Any] = {}
    others: set[str] = set()
    count = 0
    for line in yaml.split("\n"):
        key, _, text = line.partition(": ")
        field = _BY_KEY.get(key)
        value = None if field is None else field.quick(text)
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
    node, field = tree.pairs[0].value, _BY_KEY.get(key)
    if field is None or _is_absent(field, node):
        others.add(key)
        return True
    try:
        found[key] = field.read(At(Source(line, ""), key), node)
    except DocumentError:
        return False
    return True


def without_manual(task: Task, frontmatter: Frontmatter) -> list[Change]:
    """Returns the changes that write an old `manual: true`, if there is one, as what it reads as."""
    if not has_manual(frontmatter):
        return []
    kept = [Change(("awaiting",), Awaiting.WORK.value)] if task.awaiting is Awaiting.WORK else []
    return [*kept, Change((MANUAL,), None)]


def has_manual(frontmatter: Frontmatter) -> bool:
    """True if the frontmatter says `manual: true`, the old form of `awaiting: work`."""
    node = frontmatter.tree.get(MANUAL)
    if node is None or (isinstance(node, Scalar) and node.is_null):
        return False
    return values.read_flag(At(frontmatter.source, MANUAL), node)


def written(task: Task) -> dict[str, YamlValue]:
    """Returns what the frontmatter says of the task: no nulls and defaults, but id, title and status."""
    result: dict[str, YamlValue] = {}
    for field in FIELDS:
        value = getattr(task, field.key)
        if field.is_always_written or value != getattr(_DEFAULTS, field.key):
            result[field.key] = field.write(value)
    return result


def changes(before: Task, after: Task, frontmatter: Frontmatter) -> list[Change]:
    """Returns the smallest changes of the frontmatter that turn one task into the other.

    With any of them an old `manual: true` becomes what it reads as, and a status that was left out is written.
    """
    old, new, tree = written(before), written(after), frontmatter.tree
    if old == new:
        return []
    if tree.get("status") is None:
        old = {key: value for key, value in old.items() if key != "status"}
    result: list[Change] = []
    for field in FIELDS:
        if old.get(field.key) != new.get(field.key):
            result += _field_changes(field.key, old.get(field.key), new.get(field.key), tree)
    return result + without_manual(after, frontmatter)


def _field_changes(key: str, old: YamlValue | None, new: YamlValue | None, tree: MappingNode) -> list[Change]:
    """Returns the changes of one key; of a mapping that stays, only the parts that differ."""
    if not isinstance(tree.get(key), MappingNode) or not isinstance(new, Mapping):
        return [Change((key,), new)]
    parts = old if isinstance(old, Mapping) else {}
    return [
        Change((key, part), new.get(part))
        for part in [*new, *(part for part in parts if part not in new)]
        if parts.get(part) != new.get(part)
    ]


def misnamed_keys(before: Frontmatter | None, after: Frontmatter) -> tuple[str, ...]:
    """Returns a warning with path and line for each new key that is probably meant as a field."""
    old = set() if before is None else {pair.key.text for pair in before.tree.pairs}
    found = []
    for pair in after.tree.pairs:
        key = pair.key.text
        near = [] if key in _KNOWN or key in old else get_close_matches(key, _WRITTEN, n=1, cutoff=_ALIKE)
        if near:
            place = f"{after.path}:{after.source.line(pair.start)}"
            found.append(f"{place}: `{key}` is not a field and is ignored: did you mean `{near[0]}`?")
    return tuple(found)
