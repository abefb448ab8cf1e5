"""Paths on the state branch."""

from __future__ import annotations

import pytest

from gitticks.model.ids import TaskId
from gitticks.store import layout

K7F2 = TaskId("k7f2")


@pytest.mark.parametrize(
    ("path", "task_id"),
    [
        ("tasks/f2/k7f2/TASK.md", "k7f2"),
        ("tasks/0a/a/TASK.md", "a"),
        ("tasks/xx/k7f2/TASK.md", None),
        ("tasks/f2/k7f2/worklog.md", None),
        ("tasks/f2/K7F2/TASK.md", None),
        ("tasks/f2/k7f2/rounds/TASK.md", None),
        ("config.yaml", None),
    ],
)
def test_a_task_is_found_by_its_path(path: str, task_id: str | None) -> None:
    assert layout.task_of_path(path) == task_id


def test_the_paths_of_a_task() -> None:
    assert layout.history_path(K7F2) == "tasks/f2/k7f2/history.jsonl"
    assert layout.worklog_path(K7F2) == "tasks/f2/k7f2/worklog.md"
    assert layout.scratchpad_path(K7F2) == "tasks/f2/k7f2/scratchpad.md"
    assert layout.rounds_folder(K7F2) == "tasks/f2/k7f2/rounds"


@pytest.mark.parametrize(
    ("names", "kind", "name"),
    [
        ((), "handoff", "01-handoff.md"),
        ((), "review-security", "01-review-security.md"),
        (("01-review-security.md",), "handoff", "01-handoff.md"),
        (("01-handoff.md",), "review", "01-review.md"),
        (("01-handoff.md", "01-review.md"), "review-security", "02-review-security.md"),
        (("01-handoff.md", "01-review.md"), "handoff", "02-handoff.md"),
        (("01-handoff.md",), "handoff", "02-handoff.md"),
        (("07-review.md", "notes.txt"), "handoff", "08-handoff.md"),
        (("99-handoff.md",), "handoff", "100-handoff.md"),
        (("100-handoff.md",), "review", "100-review.md"),
    ],
)
def test_numbers_of_rounds_only_grow(names: tuple[str, ...], kind: str, name: str) -> None:
    assert layout.next_round_path(names, K7F2, kind) == f"tasks/f2/k7f2/rounds/{name}"


@pytest.mark.parametrize(
    ("config", "number"),
    [
        (None, 1),
        (b"", 1),
        (b"version: 1\n", 1),
        (b"# c\nversion: 3 # new\r\nx: 1\n", 3),
        (b"a:\n  version: 9\n", 1),
    ],
)
def test_the_format_is_read_without_a_parser(config: bytes | None, number: int) -> None:
    assert layout.format_of(config) == number
