"""Writes values as YAML: plain if every reader agrees on the meaning, else double-quoted.

Files are read by tools of YAML 1.1 too, where `no`, `012`, `1:30` and `2026-11-22` are no text; such text is quoted.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TypeAlias

from gitticks.document.texts import is_encodable
from gitticks.document.yaml_nodes import Loose
from gitticks.errors import GitticksError


class Plain:
    """Text that is written as it is, such as a time or `null`."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plain) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


YamlValue: TypeAlias = "str | int | float | bool | Plain | Sequence[YamlValue] | Mapping[str, YamlValue]"

_PLAIN = re.compile(r"(?:[^\W_]|[/_(.])(?:[^\s:#]|:(?=[^\s])|(?<=[^\s])#| (?=[^\s#]))*")
_FLOW_SPECIAL = re.compile(r"[,?\[\]{}]|:(?=[,\[\]{}])")
_MEANS_ANOTHER_TYPE = re.compile(
    r"""~|null|y|n|yes|no|true|false|on|off
    |[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-f_]+|[0-9][0-9_,]*)
    |[-+]?[0-9][0-9_]*(?::[0-9]+)+(?:\.[0-9_]*)?
    |[-+]?(?:\.[0-9_]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:e[-+]?[0-9]+)?
    |[-+]?\.(?:inf|nan)
    |[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*""",
    re.VERBOSE,
)
"""To be asked about text in lower case: a pattern that ignores case takes a millisecond to be made."""
_SHORT_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_BIDIRECTIONAL = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cn", "Co", "Zl", "Zp"})
_TAG_CHARACTERS = range(0xE0000, 0xE0080)


def render(value: YamlValue, *, flow: bool = False) -> str:
    """Returns the YAML of `value` on one line; lists and mappings in brackets and braces.

    With `flow` it can stand inside brackets or braces.

    Raises:
        GitticksError: a text holds NUL or half a surrogate pair, or a number is not finite.
    """
    if isinstance(value, Plain):
        return value.text
    if isinstance(value, str):
        return render_text(value, flow=flow)
    if isinstance(value, bool | int | float):
        return _number(value)
    if isinstance(value, Mapping):
        pairs = (f"{render_text(key, flow=True)}: {render(item, flow=True)}" for key, item in value.items())
        return "{" + ", ".join(pairs) + "}"
    return "[" + ", ".join(render(item, flow=True) for item in value) + "]"


def render_text(text: str, *, flow: bool = False) -> str:
    """Returns `text` as one YAML scalar that YAML 1.1 and 1.2 both read as that text."""
    if "\0" in text or not is_encodable(text):
        raise GitticksError(
            f"{ascii(text)[:60]} contains a character that a file cannot have", hint="delete it"
        )
    if _is_safe_plain(text, flow=flow):
        return text
    return '"' + "".join(_escaped(character) for character in text) + '"'


def loose(value: YamlValue) -> Loose:
    """Returns `value` as a tree of the texts that stand for it, to compare with what was read back."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {key: loose(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [loose(item) for item in value]
    return render(value)


def _number(value: bool | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        raise GitticksError(f"{value} cannot be written: it is not finite", hint="use a finite number")
    return f"{Decimal(repr(value)):f}"


def _is_safe_plain(text: str, *, flow: bool) -> bool:
    if _PLAIN.fullmatch(text) is None or _MEANS_ANOTHER_TYPE.fullmatch(text.lower()) is not None:
        return False
    if flow and _FLOW_SPECIAL.search(text) is not None:
        return False
    is_shown = text.isprintable() if text.isascii() else not any(map(_is_hidden, text))
    return is_shown and not text.endswith(":") and not text.startswith("...")


def _escaped(character: str) -> str:
    short = _SHORT_ESCAPES.get(character)
    if short is not None:
        return short
    if not _is_hidden(character):
        return character
    number = ord(character)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"  # noqa: PLR2004


def _is_hidden(character: str) -> bool:
    """True for what a terminal or an editor would act on, reorder by or not show."""
    if character.isascii():
        return not character.isprintable()
    return (
        character in _BIDIRECTIONAL
        or unicodedata.category(character) in _HIDDEN_CATEGORIES
        or ord(character) in _TAG_CHARACTERS
    )
