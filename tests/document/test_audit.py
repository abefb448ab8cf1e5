"""audit.jsonl: its lines, its chains, and what is seen of a change."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gitticks.document.audit import FIRST, chain, find_breaks, read_audit, render_entry
from gitticks.model.audit import AuditEntry, Decided, UserAction


def entry(number: int, **changes: object) -> AuditEntry:
    at = datetime(2026, 11, 23, 12, 0, number, 250, tzinfo=UTC)
    made = AuditEntry(at, 3, "h8d4", "claude", "shell", f"go test {number} ü", Decided.ALLOWED, "a rule")
    return made._replace(**changes)  # type: ignore[arg-type]


def lines_of(writer: str, *numbers: int, before: str = FIRST) -> bytes:
    return chain([entry(number) for number in numbers], writer, before)[0]


def test_what_is_written_is_read() -> None:
    asked = entry(1, epic_id=None, decision=Decided.ASKED, user_action=UserAction.APPROVED_ALWAYS)
    data, head = chain([entry(0), asked], "ada", FIRST)
    found = read_audit(data)
    assert found.entries == (entry(0), asked)
    assert (found.broken, found.torn, found.head("ada"), found.head("bob")) == ((), b"", head, FIRST)
    assert find_breaks(found) == ()


def test_a_line_has_the_keys_of_the_specification() -> None:
    keys = [
        "timestamp",
        "iteration",
        "epic_id",
        "agent",
        "operation",
        "target",
        "decision",
        "reason",
        "user_action",
    ]
    assert list(render_entry(entry(0))) == keys


def test_chains_of_several_writers_may_be_mixed_in_any_way() -> None:
    ada, bob = lines_of("ada", 1, 2, 3).splitlines(True), lines_of("bob", 4, 5).splitlines(True)
    mixed = read_audit(b"".join([bob[0], ada[0], ada[1], bob[1], ada[2]]))
    assert find_breaks(mixed) == ()
    assert mixed.head("bob") == mixed.lines[3].hash


CHANGES = [
    ("a word", lambda lines: [*lines[:2], lines[2].replace(b"claude", b"codex!")], 3, "its content was"),
    ("a line gone", lambda lines: [lines[0], lines[2]], 2, "is missing or was changed"),
    ("the first gone", lambda lines: lines[1:], 1, "is missing or was changed"),
    ("a line twice", lambda lines: [*lines, lines[1]], 4, "does not follow the last line"),
    ("no JSON", lambda lines: [*lines, b"{\n"], 4, "it is not JSON"),
    ("no place", lambda lines: [*lines, b"{}\n"], 4, "lacks its place"),
    ("cut off", lambda lines: [*lines, b'{"timestamp'], 4, "cut off"),
]


@pytest.mark.parametrize(
    ("change", "number", "problem"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES]
)
def test_a_change_is_seen_and_its_line_named(change: object, number: int, problem: str) -> None:
    assert callable(change)
    found = find_breaks(read_audit(b"".join(change(lines_of("ada", 1, 2, 3).splitlines(True)))))
    assert [one.number for one in found] == [number]
    assert problem in found[0].problem
