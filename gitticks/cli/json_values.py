"""The values of richer types as JSON knows them; only where some have to be printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from pathlib import Path
from typing import Any

from gitticks.document.values import format_date, format_time


def plain_value(value: object) -> Any:
    """Returns an enum's value, a time, a path, or the fields of a dataclass or of any other mapping."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, date):
        return format_date(value)
    if isinstance(value, Path):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return _plain({field.name: getattr(value, field.name) for field in fields(value)})
    return _plain(value) if isinstance(value, Mapping) else value


def _plain(fields_by_name: Mapping[Any, object]) -> dict[str, Any]:
    from gitticks.cli.json_output import plain

    return {str(name): plain(one) for name, one in fields_by_name.items()}
