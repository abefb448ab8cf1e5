"""Times as files hold them: UTC with whole seconds, read with any offset."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import NamedTuple, TypeAlias, TypeVar

from gitticks.document.texts import Source
from gitticks.document.yaml_nodes import Mapping as MappingNode
from gitticks.document.yaml_nodes import Node, Scalar, Sequence
from gitticks.errors import DocumentError

_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:(?:[Tt]|[ \t]+)(\d\d:\d\d(?::\d\d)?)(?:\.\d*)?[ \t]*([Zz]|[-+]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)

T = TypeVar("T")
WordT = TypeVar("WordT", bound=StrEnum)
INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
NUMBER = re.compile(r"[-+]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][-+]?[0-9]{1,4})?")
FLAGS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
ARGUMENT_HINT = "write one that has no control characters and does not begin with `-`"
_SHOWN = 60


def parse_time(text: str) -> datetime | None:
    """Returns the UTC time, without fractions of a second, or None if it is none; a date is its midnight."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    day, clock, offset = match[1], match[2] or "00:00", match[3] or "Z"
    try:
        return datetime.fromisoformat(f"{day}T{clock}{offset.upper()}").astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def format_time(time: datetime) -> str:
    """Returns the time as `2026-11-22T10:02:03Z`; one without a zone is taken as UTC."""
    utc = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    return utc.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def format_date(day: date) -> str:
    """Returns the day as `2026-11-22`."""
    return day.isoformat()[:10]


class At(NamedTuple):
    """The key that is being read, for messages."""

    source: Source
    name: str

    def error(self, node: Node, problem: str, *, hint: str | None = None) -> DocumentError:
        """Returns the error that the key's value is wrong."""
        return self.source.error(f"`{self.name}` {problem}", node.start, hint=hint)

    def inside(self, key: str) -> At:
        """Returns the place of a key within this one."""
        return At(self.source, f"{self.name}.{key}")


Reader: TypeAlias = Callable[[At, Node], T]


def shown(node: Node) -> str:
    """Returns a node's value for a message: quoted, short, without control characters."""
    if not isinstance(node, Scalar):
        return "a list" if isinstance(node, Sequence) else "a mapping"
    text = node.text if len(node.text) <= _SHOWN else node.text[:_SHOWN] + "…"
    return repr(text) if text.isprintable() else ascii(text)


def near(word: str, words: Iterable[str]) -> str | None:
    """Returns the one of `words` that `word` is probably meant to be."""
    from difflib import get_close_matches  # only where something is wrong

    found = get_close_matches(word[:_SHOWN].lower(), list(words), n=1)
    return found[0] if found else None


def read_text(at: At, node: Node) -> str:
    """Returns a scalar's text as it is, whatever type YAML would see in it."""
    if not isinstance(node, Scalar):
        raise at.error(node, f"is not text: {shown(node)}", hint=f"write `{at.name}: …` on one line")
    return node.text.rstrip("\r\n") if node.style in ("|", ">") else node.text


def is_argument(text: str) -> bool:
    """True for what can stand among a program's arguments: it is no option there, and has no control characters."""
    return text.isprintable() and not text.startswith("-")


def read_argument(at: At, node: Node) -> str:
    """Returns a text that will stand among the arguments of an agent's program."""
    text = read_text(at, node)
    if not is_argument(text):
        problem = f"cannot be passed to an agent's program: {shown(node)}"
        raise at.error(node, problem, hint=ARGUMENT_HINT)
    return text


def read_word(words: type[WordT]) -> Reader[WordT]:
    """Returns a reader of one of the words of a closed set."""
    read = read_choice([word.value for word in words])
    return lambda at, node: words(read(at, node))


def read_choice(words: Collection[str]) -> Reader[str]:
    """Returns a reader of one of some words."""

    def read(at: At, node: Node) -> str:
        text = read_text(at, node)
        if text not in words:
            guess, allowed = near(text, words), ", ".join(words)
            hint = f"did you mean `{guess}`?" if guess else f"write one of {allowed}"
            raise at.error(node, f"is not one of {allowed}: {shown(node)}", hint=hint)
        return text

    return read


def read_integer(least: int, most: int | None = None) -> Reader[int]:
    """Returns a reader of whole numbers of a range."""
    wanted = f"a number from {least} to {most}" if most is not None else f"a whole number from {least} up"

    def read(at: At, node: Node) -> int:
        text = _plain(node)
        number = int(text) if text is not None and INTEGER.fullmatch(text) else None
        if number is None or number < least or (most is not None and number > most):
            raise at.error(
                node, f"is not {wanted}: {shown(node)}", hint=f"write `{at.name}: {nearest(node)}`"
            )
        return number

    def nearest(node: Node) -> int:
        text = node.text.strip() if isinstance(node, Scalar) else ""
        if not INTEGER.fullmatch(text):
            return least if most is None else (least + most) // 2
        return max(least, int(text) if most is None else min(int(text), most))

    return read


def read_number(at: At, node: Node) -> float:
    """Returns a finite number that is not negative."""
    number = _number(node)
    if not 0 <= number < math.inf:
        raise at.error(node, f"is not a number from 0 up: {shown(node)}", hint=f"write `{at.name}: 0`")
    return number


def read_dollars(at: At, node: Node) -> float:
    """Returns what may be spent; nothing at all would start nothing."""
    number = _number(node)
    if not 0 < number < math.inf:
        raise at.error(node, f"is not a number above 0: {shown(node)}", hint=f"write `{at.name}: 1`")
    return number


def read_flag(at: At, node: Node) -> bool:
    """Returns true or false."""
    text = _plain(node)
    if text is None or text not in FLAGS:
        raise at.error(node, f"is not true or false: {shown(node)}", hint=f"write `{at.name}: true`")
    return FLAGS[text]


def read_time(at: At, node: Node) -> datetime:
    """Returns a UTC time with whole seconds."""
    time = parse_time(read_text(at, node).strip())
    if time is None:
        hint = "write it as 2026-11-22T10:02:03Z"
        raise at.error(node, f"is not a time: {shown(node)}", hint=hint)
    return time


def read_date(at: At, node: Node) -> date:
    """Returns the day of a date or time."""
    time = parse_time(read_text(at, node).strip())
    if time is None:
        raise at.error(node, f"is not a date: {shown(node)}", hint="write it as 2026-11-22")
    return time.date()


def read_list(item: Reader[T]) -> Reader[tuple[T, ...]]:
    """Returns a reader of lists, in brackets or one item a line."""

    def read(at: At, node: Node) -> tuple[T, ...]:
        if not isinstance(node, Sequence):
            raise at.error(node, f"is not a list: {shown(node)}", hint=f"write `{at.name}: [one, two]`")
        return tuple(item(at, part) for part in node.items)

    return read


def mapping_of(at: At, node: Node) -> MappingNode:
    """Returns the node if it is a mapping."""
    if not isinstance(node, MappingNode):
        raise at.error(node, f"is not a mapping: {shown(node)}", hint=f"write `{at.name}: {{key: value}}`")
    return node


def read_parts(at: At, node: Node, readers: Mapping[str, Reader[object]]) -> dict[str, object]:
    """Returns the values of a mapping's known keys; unknown keys and nulls are left out."""
    mapping = mapping_of(at, node)
    values: dict[str, object] = {}
    for key, reader in readers.items():
        value = mapping.get(key)
        if value is not None and not (isinstance(value, Scalar) and value.is_null):
            values[key] = reader(at.inside(key), value)
    return values


def _number(node: Node) -> float:
    text = _plain(node)
    return float(text) if text is not None and NUMBER.fullmatch(text) else math.nan


def _plain(node: Node) -> str | None:
    return node.text if isinstance(node, Scalar) and not node.style else None
