"""What another tracker wrote, as bytes, text and JSON: read within limits, and refused where it is none of these."""

from __future__ import annotations

import errno
import json
import math
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from gitticks.safe_read import read_plain_file, reason_of

STDIN = "-"
MOST_RECORD_BYTES = 900_000
MOST_LIST_BYTES = 200_000_000
_MARKS = (b"\xff\xfe", b"\xfe\xff")
_DEEPEST = 200
_TOO_DEEP = "this JSON is nested too deep"


class RecordError(Exception):
    """Why a record cannot be taken."""


def read_file(file: Path, most: int = MOST_RECORD_BYTES) -> bytes:
    """Returns the file's bytes."""
    try:
        return read_plain_file(file, most)
    except OSError as error:
        is_large = error.errno == errno.EFBIG
        raise RecordError(
            f"the file is larger than {most:,} bytes" if is_large else reason_of(error)
        ) from None


def lines_of(stream: BinaryIO) -> Iterator[bytes | None]:
    """Yields the lines; of one that is too long nothing is kept, not even in memory: it is None."""
    while line := stream.readline(MOST_RECORD_BYTES):
        is_long = len(line) == MOST_RECORD_BYTES and not line.endswith(b"\n")
        while is_long and line and not line.endswith(b"\n"):
            line = stream.readline(MOST_RECORD_BYTES)
        yield None if is_long else line


def refuse_utf16(start: bytes) -> None:
    """Refuses what begins as no UTF-8 does."""
    if start.startswith(_MARKS):
        raise RecordError("this is UTF-16; save it as UTF-8")


def text_of(data: bytes) -> str:
    """Returns the text of a file or line."""
    refuse_utf16(data)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RecordError(f"this is not UTF-8, from byte {error.start + 1} on") from None


def object_of(data: bytes) -> dict[str, Any]:
    """Returns the JSON object that some bytes hold."""
    value = json_of(data)
    if not isinstance(value, dict):
        raise RecordError("this is not a JSON object")
    return value


def json_of(data: bytes) -> Any:
    """Returns what some bytes hold as JSON."""
    try:
        value = json.loads(text_of(data), parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise RecordError(_TOO_DEEP) from None
    except ValueError as error:
        reason = f", {_reason(error)}" if isinstance(error, json.JSONDecodeError) else ""
        raise RecordError(f"this is not JSON{reason}") from None
    if _is_too_deep(value):
        raise RecordError(_TOO_DEEP)
    return value


def _is_too_deep(value: object) -> bool:
    """True for what can be read, but perhaps not be written again further down in the program."""
    depth, level = 0, [value]
    while level and depth <= _DEEPEST:
        below = [list(one.values()) if isinstance(one, dict) else one for one in level]
        level = [
            item for one in below if isinstance(one, list) for item in one if isinstance(item, dict | list)
        ]
        depth += 1
    return bool(level)


def _reason(error: json.JSONDecodeError) -> str:
    line = f"line {error.lineno}, " if error.lineno > 1 else ""
    return f"{error.msg.lower().removesuffix(' starting at')} in {line}column {error.colno}"


def _refuse(name: str) -> float:
    raise ValueError(name)


def _finite(text: str) -> float:
    """Returns a number that can be written again."""
    if not math.isfinite(float(text)):
        raise RecordError(f"the number {text[:40]} is too large")
    return float(text)


def canonical(value: Any) -> str:
    """Returns JSON that is the same for equal values."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def digest_of(text: str) -> str:
    """Returns what tells one text from another."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
