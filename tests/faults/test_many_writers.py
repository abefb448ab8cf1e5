"""Sixteen writers in one clone: every acknowledged change is there, each once, and nobody starves."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.faults.writers import (
    IS_FULL,
    Wish,
    assert_each_once,
    commits_since,
    gt_writers,
    live_writers,
    longest_wait,
    most_overtaken,
    wishes_of,
)
from tests.support.figures import record
from tests.support.projects import Project, make_project

WRITERS = 16
MOST_OVERTAKEN = 6 * WRITERS
"""Far more than what fair turns allow, and far less than what a writer sees that starves."""

SHARED = ("k7f2", "m3xq", "b1kd")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = make_project(tmp_path / "repository")
    for name in SHARED:
        made.make(name)
    made.ok("list")
    return made


def plans_of(count: int) -> list[list[Wish]]:
    return [wishes_of(f"w{writer}", count, SHARED[writer % len(SHARED) :]) for writer in range(WRITERS)]


def test_living_processes(project: Project) -> None:
    plans = plans_of(50 if IS_FULL else 4)
    before = project.tip()
    begun = time.monotonic()
    acknowledged = live_writers(project, plans)
    seconds = time.monotonic() - begun
    wishes = [wish for plan in plans for wish in plan]
    assert [one.wish for one in acknowledged] == wishes
    assert commits_since(project, before) == len(wishes)
    assert_each_once(project, wishes)
    record(
        "16 living writers in one clone",
        acknowledged=len(acknowledged),
        longest_wait_seconds=longest_wait(acknowledged),
        most_overtaken=most_overtaken(acknowledged),
        changes_a_second=round(len(acknowledged) / seconds, 1),
    )
    assert most_overtaken(acknowledged) <= MOST_OVERTAKEN


def test_processes_of_the_command(project: Project) -> None:
    plans = plans_of(50 if IS_FULL else 2)
    before = project.tip()
    acknowledged = gt_writers(project, plans)
    wishes = [wish for plan in plans for wish in plan]
    assert commits_since(project, before) == len(wishes)
    assert_each_once(project, wishes)
    record(
        "16 `gt` at once in one clone",
        acknowledged=len(acknowledged),
        longest_wait_seconds=longest_wait(acknowledged),
        most_overtaken=most_overtaken(acknowledged),
    )
    assert most_overtaken(acknowledged) <= MOST_OVERTAKEN
