"""Where both sides changed one field, the later change of that field stands, whatever else was written since."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.model.status import Awaiting
from gitticks.model.task import Task
from tests.support.clones import Clone, make_two_clones, on_path
from tests.support.repositories import git

__all__ = ["on_path"]


@pytest.fixture
def clones(tmp_path: Path, on_path: Path) -> tuple[Clone, Clone]:
    assert on_path.exists()
    one, other = make_two_clones(tmp_path)
    return one, other


def shared(one: Clone, other: Clone, *arguments: str) -> str:
    """Makes a task that both clones have."""
    task = one.create("Say hello", *arguments)
    one.ok("sync")
    other.ok("sync")
    return task


def edit(clone: Clone, task: str, old: str, new: str, day: int) -> None:
    """Changes a line by hand and commits it with plain git, on a day of last January."""
    file = clone.board_file(task)
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    dates = {f"GIT_{who}_DATE": f"2026-01-{day:02}T10:00:00Z" for who in ("AUTHOR", "COMMITTER")}
    quietly = ("-c", "core.hooksPath=/dev/null", "commit", "--quiet", "-am")  # a hook adds a commit of now
    git(*quietly, f"edit of day {day}", at=clone.board, environment=dates)


def end(one: Clone, other: Clone, task: str, how: str) -> Task:
    """Brings both clones together, whichever merges, and returns the task that both have then."""
    first, second = (one, other) if how.endswith("older") else (other, one)
    if how.startswith("sync"):
        for clone in (first, second, first):
            clone.ok("sync")
    else:
        assert first.push().returncode == 0
        assert second.pull().returncode == 0
        assert second.push().returncode == 0
        assert first.pull().returncode == 0
    assert one.board_file(task).read_bytes() == other.board_file(task).read_bytes()
    return one.task(task)


HOWS = ("sync the older", "sync the newer", "pull the older", "pull the newer")


@pytest.mark.parametrize("how", HOWS)
def test_a_note_makes_an_older_title_no_newer(clones: tuple[Clone, Clone], how: str) -> None:
    one, other = clones
    task = shared(one, other)
    edit(other, task, "title: Say hello", "title: A newer title", 20)
    edit(one, task, "title: Say hello", "title: Z older title", 10)
    one.ok("note", task, "raises the time of the task")
    assert end(one, other, task, how).title == "A newer title"


@pytest.mark.parametrize("how", HOWS)
def test_each_field_goes_by_its_own_time(clones: tuple[Clone, Clone], how: str) -> None:
    one, other = clones
    task = shared(one, other, "--reviewer", "mira", "--agent", "old")
    edit(one, task, "reviewer: mira", "reviewer: z", 10)
    edit(one, task, "agent: old", "agent: b", 22)
    edit(other, task, "reviewer: mira", "reviewer: a", 20)
    edit(other, task, "agent: old", "agent: y", 12)
    merged = end(one, other, task, how)
    assert (merged.reviewer, merged.agent) == ("a", "b")


@pytest.mark.parametrize("how", HOWS)
def test_a_value_that_was_taken_back_counts_from_then(clones: tuple[Clone, Clone], how: str) -> None:
    one, other = clones
    task = shared(one, other)
    edit(one, task, "title: Say hello", "title: B once", 5)
    edit(one, task, "title: B once", "title: A last", 20)
    edit(other, task, "title: Say hello", "title: Y", 10)
    edit(other, task, "title: Y", "title: X", 12)
    other.ok("note", task, "raises the time of the task")
    assert end(one, other, task, how).title == "A last"


@pytest.mark.parametrize("how", HOWS)
def test_whose_turn_it_is_goes_by_its_own_time_too(clones: tuple[Clone, Clone], how: str) -> None:
    one, other = clones
    task = shared(one, other)
    edit(other, task, "status: pending", "status: pending\nawaiting: approval", 20)
    edit(one, task, "status: pending", "status: pending\nawaiting: work", 10)
    one.ok("note", task, "raises the time of the task")
    assert end(one, other, task, how).awaiting is Awaiting.APPROVAL


def test_a_title_that_came_by_an_earlier_merge_keeps_its_time(clones: tuple[Clone, Clone]) -> None:
    one, other = clones
    task = shared(one, other)
    edit(one, task, "title: Say hello", "title: Z of day 10", 10)
    edit(other, task, "title: Say hello", "title: Say hello\nreviewer: ada", 15)
    one.ok("sync")
    other.ok("sync")
    edit(other, task, "title: Z of day 10", "title: A of day 20", 20)
    edit(one, task, "title: Z of day 10", "title: Y of day 18", 18)
    one.ok("note", task, "raises the time of the task")
    assert end(one, other, task, "pull the newer").title == "A of day 20"
