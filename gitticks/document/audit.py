"""audit.jsonl: each decision as a canonical JSON line, in a hash chain per writer.

A line holds the hash of the line before it of the same writer, so that lines of several writers can be united by git
and each chain be followed by itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from gitticks.model.audit import AuditEntry, Decided, UserAction

FIRST = "0" * 64
"""Stands in a writer's first line for the hash of the line before."""
MOST_LINE_BYTES = 100_000


class AuditLine(NamedTuple):
    """One line: its number from 1, the decision, who wrote it, and its place in the writer's chain."""

    number: int
    entry: AuditEntry
    writer: str
    before: str
    hash: str


class BrokenLine(NamedTuple):
    """A line that is none, or not as it was written, and why."""

    number: int
    problem: str


class AuditFile(NamedTuple):
    """The lines of a file in their order, those that are none, and the bytes of a last line that was cut off."""

    lines: tuple[AuditLine, ...]
    broken: tuple[BrokenLine, ...] = ()
    torn: bytes = b""

    def head(self, writer: str) -> str:
        """Returns the hash that a writer's next line continues from: the one that no other line of theirs continues from."""
        own = [line for line in self.lines if line.writer == writer]
        followed = {line.before for line in own}
        return next((line.hash for line in reversed(own) if line.hash not in followed), FIRST)

    @property
    def entries(self) -> tuple[AuditEntry, ...]:
        """Returns the decisions."""
        return tuple(line.entry for line in self.lines)


def render_entry(entry: AuditEntry) -> dict[str, Any]:
    """Returns a decision as JSON has it, with all its keys."""
    return {
        **entry._asdict(),
        "timestamp": entry.timestamp.isoformat(timespec="microseconds").replace("+00:00", "Z"),
    }


def parse_entry(body: Mapping[str, Any]) -> AuditEntry:
    """Returns the decision that a JSON object holds.

    Raises:
        ValueError: a value is missing or wrong.
    """
    try:
        at = datetime.fromisoformat(body["timestamp"])
        action = body.get("user_action")
        texts = {name: body[name] for name in ("agent", "operation", "target", "reason")}
        epic = body.get("epic_id")
        if at.tzinfo is None or not all(isinstance(text, str) for text in texts.values()):
            raise ValueError("a value has the wrong type")
        return AuditEntry(
            at,
            int(body["iteration"]),
            None if epic is None else str(epic),
            decision=Decided(body["decision"]),
            user_action=None if action is None else UserAction(action),
            **texts,
        )
    except (KeyError, TypeError) as error:
        raise ValueError("a value is missing or has the wrong type") from error


def chain(entries: Iterable[AuditEntry], writer: str, before: str) -> tuple[bytes, str]:
    """Returns the lines that continue from `before`, and the hash of the last."""
    done = []
    for entry in entries:
        body = {**render_entry(entry), "writer": writer, "before": before}
        before = _hash(body)
        done.append(_canonical({**body, "hash": before}) + b"\n")
    return b"".join(done), before


def read_audit(data: bytes) -> AuditFile:
    """Returns all that a file holds; a line whose hash is not that of its words is broken."""
    *whole, last = data.split(b"\n")
    lines: list[AuditLine] = []
    broken: list[BrokenLine] = []
    for number, text in enumerate(whole, start=1):
        if not text.strip():
            continue
        try:
            lines.append(_line(number, text))
        except (ValueError, RecursionError) as error:
            broken.append(BrokenLine(number, str(error)))
    return AuditFile(tuple(lines), tuple(broken), last)


def find_breaks(file: AuditFile) -> tuple[BrokenLine, ...]:
    """Returns what speaks against a file: broken lines, and lines that follow none or that a second line follows."""
    found = list(file.broken)
    if file.torn:
        found.append(BrokenLine(len(file.lines) + len(file.broken) + 1, "the last line was cut off"))
    hashes = {(line.writer, line.hash) for line in file.lines}
    followed: set[tuple[str, str]] = set()
    for line in file.lines:
        key = (line.writer, line.before)
        if line.before != FIRST and key not in hashes:
            found.append(
                BrokenLine(line.number, f"the line before it of `{line.writer}` is missing or was changed")
            )
        elif key in followed:
            found.append(BrokenLine(line.number, f"it does not follow the last line of `{line.writer}`"))
        followed.add(key)
    return tuple(sorted(found))


def _line(number: int, text: bytes) -> AuditLine:
    if len(text) > MOST_LINE_BYTES:
        raise ValueError("it is too long")
    try:
        body = json.loads(text)
    except ValueError as error:
        raise ValueError("it is not JSON") from error
    if not isinstance(body, dict) or not all(
        isinstance(body.get(key), str) for key in ("writer", "before", "hash")
    ):
        raise ValueError("it lacks its place in the chain")
    recorded = body.pop("hash")
    if _hash(body) != recorded:
        raise ValueError("its content was changed")
    return AuditLine(number, parse_entry(body), body["writer"], body["before"], recorded)


def _canonical(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()


def _hash(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(_canonical(dict(sorted(body.items())))).hexdigest()
