from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gitticks.importing.exported import MOST_RECORD_BYTES, RecordError
from gitticks.importing.ticks import read_notes, read_ticks, task_of
from gitticks.model.status import Awaiting, Requires

AT = datetime(2026, 1, 1, tzinfo=UTC)


def tick(**fields: Any) -> Any:
    return task_of({"id": "a1b", "title": "A", "status": "open", **fields})


def test_whose_turn_it_is() -> None:
    assert tick(manual=True).task.awaiting is Awaiting.WORK
    assert tick(manual=False).task.awaiting is None
    assert tick(manual=True, awaiting="review").task.awaiting is Awaiting.REVIEW
    assert tick(requires="content").task.requires is Requires.CONTENT
    assert tick(awaiting="work", status="closed").task.awaiting is None
    assert tick(awaiting="tea").extra == {"awaiting": "tea"}


def test_nulls_say_nothing_and_a_verdict_is_only_kept() -> None:
    found = tick(verdict="approved", parent=None, labels=None, notes=None)
    assert (found.extra, found.task.parent, found.task.labels, found.notes) == (
        {"verdict": "approved"},
        None,
        (),
        (),
    )


def test_an_unknown_status_is_a_problem_of_its_file(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="the status is unknown: 'paused'"):
        tick(status="paused")
    for name, data in (
        ("a", b"{}"),
        ("b", b" " * (MOST_RECORD_BYTES + 1)),
        ("c", b'{"id": "c", "title": "C"}'),
    ):
        (tmp_path / f"{name}.json").write_bytes(data)
    reading = read_ticks(tmp_path)
    assert list(reading.tasks) == ["c"]
    assert [(Path(one.path).name, one.message) for one in reading.problems] == [
        ("a.json", "`id` is missing"),
        ("b.json", "the file is larger than 900,000 bytes"),
    ]


def test_notes_without_a_time_and_repeated_ones() -> None:
    text = "first\n2026-03-02 09:30 - again\n2026-03-02 09:30 - again\n2026-03-02 09:40 - [bot] by a bot"
    assert [(note.at, note.text) for note in read_notes(text, AT)] == [
        (AT, "first"),
        (datetime(2026, 3, 2, 9, 30, tzinfo=UTC), "again"),
        (datetime(2026, 3, 2, 9, 40, tzinfo=UTC), "[bot] by a bot"),
    ]


def test_as_many_lines_of_notes_as_a_tick_can_hold_are_read_at_once() -> None:
    (entry,) = read_notes("a\n" * 400_000, AT)
    assert entry.text.count("\n") == 399_999
