"""Reads values without a tree, each as gitticks itself writes it on a line of its own.

Building an index reads every task's file, and a tree with a place for each value costs more than the values. So most
keys have a quick reader too, for one value on its line as gitticks itself writes it. It gives exactly the value that
the tree gives (a property test compares them), and declines what it does not know, also every mistake: messages are
made from the tree, which knows the place.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from typing import TypeAlias

from gitticks.document.yaml_nodes import NULLS
from gitticks.document.yaml_read import FLOW_WORD, QUOTED, WORD
from gitticks.model.ids import is_valid_id

_MOST_DIGITS = 18

Quick: TypeAlias = Callable[[str], object]
"""Returns the value of the text behind a key, None where it does not know it."""

_is_text = re.compile(rf"{WORD}|{QUOTED}").fullmatch
_is_time = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII).fullmatch
_is_date = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII).fullmatch
_is_list = re.compile(rf"\[{FLOW_WORD}(?:, {FLOW_WORD})*\]").fullmatch
_ID = r"[0-9a-z][0-9a-z-]{0,63}"
_is_list_of_ids = re.compile(rf"\[{_ID}(?:, {_ID})*\]").fullmatch


def read_text(text: str) -> str | None:
    """Reads a plain or quoted text."""
    if _is_text(text) is None or not text.isprintable() or text in NULLS:
        return None
    return text[1:-1] if text.startswith('"') else text


def read_title(text: str) -> str | None:
    """Reads a text with something in it."""
    found = read_text(text)
    return found if found and not found.isspace() else None


def read_id(text: str) -> str | None:
    """Reads a task's id."""
    return text if is_valid_id(text) and text not in NULLS else None


def read_count(text: str) -> int | None:
    """Reads a number from 0."""
    return int(text) if text.isdecimal() and text.isascii() and len(text) <= _MOST_DIGITS else None


def read_time(text: str) -> datetime | None:
    """Reads a moment, in UTC."""
    try:
        return datetime.fromisoformat(text) if _is_time(text) else None
    except ValueError:
        return None


def read_date(text: str) -> date | None:
    """Reads a day."""
    try:
        return date.fromisoformat(text) if _is_date(text) else None
    except ValueError:
        return None


def read_list(text: str) -> tuple[str, ...] | None:
    """Reads a list of words."""
    return tuple(text[1:-1].split(", ")) if _is_list(text) else None


def read_ids(text: str) -> tuple[str, ...] | None:
    """Reads a list of ids."""
    return tuple(text[1:-1].split(", ")) if _is_list_of_ids(text) else None
