"""The kinds of setting values: how each is read from YAML or plain text, and shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import Enum, StrEnum
from typing import Any, NamedTuple

from gitticks.document import values
from gitticks.document.texts import Source
from gitticks.document.values import At, Reader
from gitticks.document.yaml_nodes import Mapping as MappingNode
from gitticks.document.yaml_nodes import Node, Scalar, Sequence, loose_node
from gitticks.document.yaml_read import parse_yaml
from gitticks.document.yaml_scalars import Plain, YamlValue, render
from gitticks.errors import DocumentError
from gitticks.model.settings import PermissionRule, ReviewerSettings

_DURATION = re.compile(r"([0-9]{1,9})([smhd]?)")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_MOST_DAYS = 36_500
"""A time so far ahead is still one that a date can hold."""
_SIZE = re.compile(r"([0-9]{1,12})(|b|kb|mb|gb)", re.IGNORECASE)
_BYTES = {"": 1, "b": 1, "kb": 1000, "mb": 1_000_000, "gb": 1_000_000_000}
_SHOWN_DURATIONS = (("d", 86_400), ("h", 3600), ("m", 60))
_SHOWN_SIZES = (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000))
_HOST = re.compile(r"(?:\*|(?:\*\.)?([a-z0-9_-]+(?:\.[a-z0-9_-]+)*))(?::([0-9]{1,5}))?", re.ASCII)
_REVIEWER_NAME = re.compile(r"\w(?:[\w.-]{0,62}\w)?", re.ASCII)
_LOOPBACK, _PORTS = "127.0.0.1", range(1, 65536)
_OPENED_PORTS = range(1024, 65536)
"""What a sandbox can open for its agent, which has no right to the others."""
_SPOKEN_FLAGS = {
    "yes": "true",
    "on": "true",
    "1": "true",
    "no": "false",
    "off": "false",
    "0": "false",
    "": "true",
}


class Form(Enum):
    """How a value is typed on a command line, and written into YAML."""

    TEXT = "text as it stands"
    WORD = "a word"
    PLAIN = "a number, a time, a size"
    FLAG = "true or false"
    LIST = "a YAML list in brackets, or one item"


class Kind(NamedTuple):
    """How the values of a setting are read and shown; `wanted` says so to people."""

    wanted: str
    read: Reader[object]
    form: Form = Form.PLAIN
    show: Callable[[Any], str] = str
    is_nullable: bool = False

    def parse(self, name: str, text: str, path: str) -> object:
        """Returns the value that `text`, from a command line or git's configuration, means."""
        node = self._node(text)
        if self.is_nullable and isinstance(node, Scalar) and node.is_null:
            return None
        return self.read(At(Source("", path), name), node)

    def yaml(self, text: str) -> YamlValue:
        """Returns `text` as it is to be written into the file, in the words that were typed."""
        node = self._node(text)
        if not isinstance(node, Scalar):
            return loose_node(node)
        is_plain = node.is_null or self.form in (Form.PLAIN, Form.FLAG)
        return Plain(node.text) if is_plain else node.text

    def _node(self, text: str) -> Node:
        if self.form is Form.LIST:
            return _list_node(text)
        stripped = text.strip()
        if self.is_nullable and stripped in ("", "null"):
            return Scalar("null", "", 0, 0)
        if self.form is Form.TEXT:
            return Scalar(text, '"', 0, 0)
        return Scalar(
            _SPOKEN_FLAGS.get(stripped.lower(), stripped) if self.form is Form.FLAG else stripped, "", 0, 0
        )


def _list_node(text: str) -> Node:
    if not text.strip():
        return Sequence((), flow=True, start=0, end=0)
    alone = Sequence((Scalar(text, '"', 0, 0),), flow=True, start=0, end=0)
    if text.lstrip().startswith("{"):
        return _only_mapping(text) or alone
    if not text.lstrip().startswith("["):
        return alone
    return _parsed(text) or Scalar(text, '"', 0, 0)


def _only_mapping(text: str) -> Node | None:
    """Returns a list of the one mapping that a text is; None for a text that only looks like one, as `{a,b}.txt`."""
    try:
        found = _parsed(f"[{text}]")
    except DocumentError:
        return None
    item = found.items[0] if isinstance(found, Sequence) and len(found.items) == 1 else None
    has_values = isinstance(item, MappingNode) and not any(
        isinstance(pair.value, Scalar) and pair.value.is_null for pair in item.pairs
    )
    return found if has_values else None


def _parsed(text: str) -> Node | None:
    tree = parse_yaml(Source(f"value: {text}", "the value"))
    return None if tree is None else tree.get("value")


def word(words: type[StrEnum]) -> Kind:
    """Returns the kind of one of the words of a closed set."""
    return Kind(f"one of {', '.join(words)}", values.read_word(words), Form.WORD)


def choice(*words: str) -> Kind:
    """Returns the kind of one of some words."""
    return Kind(f"one of {', '.join(words)}", values.read_choice(words), Form.WORD)


def integer(least: int, most: int | None = None, *, is_nullable: bool = False) -> Kind:
    """Returns the kind of whole numbers from `least` up, or to `most`."""
    upwards = "up" if most is None else f"to {most}"
    return Kind(
        f"a whole number from {least} {upwards}", values.read_integer(least, most), is_nullable=is_nullable
    )


def size_from(least: int) -> Kind:
    """Returns the kind of sizes from `least` bytes up."""
    shown = SIZE.show(least)

    def read(at: At, node: Node) -> int:
        size = _read_size(at, node)
        if size < least:
            raise at.error(
                node, f"is less than {shown}: {values.shown(node)}", hint=f"write `{at.name}: {shown}`"
            )
        return size

    return SIZE._replace(wanted=f"a size from {shown} up", read=read)


def _amount(form: re.Pattern[str], units: Mapping[str, int], what: str, hint: str) -> Reader[int]:
    def read(at: At, node: Node) -> int:
        match = form.fullmatch(values.read_text(at, node))
        if match is None or int(match[1]) == 0:
            raise at.error(node, f"is not {what}: {values.shown(node)}", hint=f"write {hint}")
        return int(match[1]) * units[match[2].lower()]

    return read


def _read_duration(at: At, node: Node) -> int:
    seconds = _read_any_duration(at, node)
    if seconds > _MOST_DAYS * _SECONDS["d"]:
        problem = f"is longer than {_MOST_DAYS}d: {values.shown(node)}"
        raise at.error(node, problem, hint=f"write `{at.name}: {_MOST_DAYS}d`")
    return seconds


def _in_units(units: tuple[tuple[str, int], ...], smallest: str) -> Callable[[int], str]:
    def show(value: int) -> str:
        unit, factor = next((unit for unit in units if value % unit[1] == 0), (smallest, 1))
        return f"{value // factor}{unit}"

    return show


def _read_filled(at: At, node: Node) -> str:
    text = values.read_text(at, node)
    if not text.strip() or "\0" in text:
        raise at.error(node, "is empty", hint=f"delete `{at.name}`, or write a value")
    return text


def _read_argument(at: At, node: Node) -> str:
    _read_filled(at, node)
    return values.read_argument(at, node)


def _read_host(at: At, node: Node) -> str:
    text = _read_filled(at, node)
    host = _HOST.fullmatch(text.lower())
    is_address = host is not None and (host[1] or "").rpartition(".")[2].isdecimal() and host[1] != _LOOPBACK
    if host is None or is_address or (host[2] is not None and int(host[2]) not in _PORTS):
        hint = "write `example.org`, `*.example.org`, `git.example.org:8443` or `localhost:8080`; addresses are never reached"
        raise at.error(node, f"has what is no host: {values.shown(node)}", hint=hint)
    return text


def _read_allowed_host(at: At, node: Node) -> str:
    text = _read_host(at, node)
    name, _, port = text.lower().partition(":")
    if name in ("localhost", _LOOPBACK) and int(port or 0) not in _OPENED_PORTS:
        problem = (
            f"has `{text}`, and of this machine only single ports from {_OPENED_PORTS.start} can be reached"
        )
        raise at.error(node, problem, hint=f"write `{name}:8080`")
    return text


def _read_host_of_rule(at: At, node: Node) -> str:
    text = _read_filled(at, node)
    if "/" in text or " " in text or text.count(":") == 1:
        problem = f"has what is no host: {values.shown(node)}; a rule is about every address and port of one"
        raise at.error(node, problem, hint="write `example.org` or `*.example.org`")
    return text


def _refuse_unknown(at: At, node: Node, known: tuple[str, ...]) -> None:
    for pair in values.mapping_of(at, node).pairs:
        if pair.key.text not in known:
            raise unknown_key(at.source, f"{at.name}.{pair.key.text}", pair.key, known)


def unknown_key(source: Source, name: str, key: Scalar, known: tuple[str, ...]) -> Exception:
    """Returns the error for a key that no setting has, with the near one if there is any."""
    guess = values.near(key.text, known)
    hint = f"did you mean `{guess}`?" if guess else f"the keys here are {', '.join(known)}"
    return source.error(f"there is no setting `{name}`", key.start, hint=hint)


def _read_reviewer(at: At, node: Node) -> ReviewerSettings:
    keys = ("name", "agent", "focus")
    if isinstance(node, Scalar):
        found = ReviewerSettings(_read_filled(at, node))
    else:
        _refuse_unknown(at, node, keys)
        parts: dict[str, Any] = values.read_parts(at, node, dict.fromkeys(keys, _read_filled))
        if "name" not in parts:
            raise at.error(
                node, "has a reviewer without `name`", hint="write `{name: correctness, focus: …}`"
            )
        found = ReviewerSettings(**parts)
    if _REVIEWER_NAME.fullmatch(found.name) is None:  # what it answers is a file of that name
        problem = f"has a reviewer whose name cannot be that of a file: {found.name!r}; it has letters, digits, `-`, `_`, `.`"
        raise at.error(node, problem, hint="choose another, such as `correctness`")
    return found


def _read_reviewers(at: At, node: Node) -> tuple[ReviewerSettings, ...]:
    found = values.read_list(_read_reviewer)(at, node)
    names = [one.name.casefold() for one in found]
    twice = next((one.name for one, name in zip(found, names, strict=True) if names.count(name) > 1), None)
    if twice is not None:
        hint = "each needs a name of its own, also where upper and lower case are the same"
        raise at.error(node, f"has two reviewers of the name `{twice}`", hint=hint)
    return found


_OPERATION = choice("file_read", "file_write", "shell", "network")
_RULE_OF_SHELL = "{operation: shell, commands: [git push]}"
_PATTERNS = {"file_read": "paths", "file_write": "paths", "shell": "commands", "network": "hosts"}
_TEXTS: Reader[tuple[str, ...]] = values.read_list(_read_filled)


def _read_rule(at: At, node: Node) -> PermissionRule:
    readers: dict[str, Reader[object]] = {
        "operation": _OPERATION.read,
        "paths": _TEXTS,
        "commands": _TEXTS,
        "hosts": values.read_list(_read_host_of_rule),
    }
    if not isinstance(node, MappingNode):
        raise at.error(
            node, f"has what is no rule: {values.shown(node)}", hint=f"write `{at.name}: [{_RULE_OF_SHELL}]`"
        )
    _refuse_unknown(at, node, tuple(readers))
    parts: dict[str, Any] = values.read_parts(at, node, readers)
    if "operation" not in parts:
        raise at.error(node, "has a rule without `operation`", hint=f"`operation` is {_OPERATION.wanted}")
    fitting = _PATTERNS[parts["operation"]]
    for name in ("paths", "commands", "hosts"):
        if name in parts and name != fitting:
            hint = f"a rule about `{parts['operation']}` has `{fitting}`, or nothing for all of it"
            raise at.error(node, f"has a rule about `{parts['operation']}` with `{name}`", hint=hint)
        if parts.get(name) == ():
            problem = f"has a rule with no `{name}` in its list; without `{name}` it is about every `{parts['operation']}`"
            raise at.error(node, problem, hint=f"name some, or delete `{name}`")
    return PermissionRule(**parts)


def _show_list(items: tuple[object, ...]) -> str:
    return render([_as_yaml(item) for item in items])


def _as_yaml(item: object) -> YamlValue:
    if isinstance(item, PermissionRule | ReviewerSettings):
        return {name: _as_yaml(part) for name, part in item._asdict().items() if part not in (None, ())}
    return list(item) if isinstance(item, tuple) else str(item)


TEXT = Kind("text", _read_filled, Form.TEXT, is_nullable=True)
ARGUMENT = Kind("text that does not begin with `-`", _read_argument, Form.TEXT, is_nullable=True)
NEEDED_TEXT = Kind("text", _read_filled, Form.TEXT)
FLAG = Kind("true or false", values.read_flag, Form.FLAG, lambda value: "true" if value else "false")
NUMBER = Kind("a number from 0 up", values.read_number)
BUDGET = Kind("a number of dollars above 0", values.read_dollars, is_nullable=True)
COST = Kind("a number of dollars", values.read_number, is_nullable=True)
_read_any_duration = _amount(_DURATION, _SECONDS, "a duration", "90s, 30m, 2h, 14d or seconds")
DURATION = Kind("a time such as 30m", _read_duration, show=_in_units(_SHOWN_DURATIONS, "s"))
DURATION_OR_NULL = DURATION._replace(is_nullable=True)
_read_size = _amount(_SIZE, _BYTES, "a size", "64MB, 200kB or bytes")
SIZE = Kind("a size such as 64MB", _read_size, show=_in_units(_SHOWN_SIZES, "B"))
TEXTS = Kind("a list", _TEXTS, Form.LIST, _show_list)
HOSTS = Kind("a list of hosts", values.read_list(_read_host), Form.LIST, _show_list)
ALLOWED_HOSTS = Kind("a list of hosts", values.read_list(_read_allowed_host), Form.LIST, _show_list)
REVIEWERS = Kind(
    "a list of names, or of `{name: …, agent: …, focus: …}`",
    _read_reviewers,
    Form.LIST,
    _show_list,
)
RULES = Kind(
    f"a list of rules such as `{_RULE_OF_SHELL}`, `{{operation: network, hosts: […]}}`, or with `paths` about "
    "`file_read` and `file_write`",
    values.read_list(_read_rule),
    Form.LIST,
    _show_list,
)
