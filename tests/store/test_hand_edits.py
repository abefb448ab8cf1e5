from __future__ import annotations

from dataclasses import replace

import pytest

from gitticks.document.taskfile import TaskFile
from gitticks.model.status import Status, Verdict
from gitticks.store.hand_edits import merge_edit

BASE = """\
---
id: k7f2
title: Login  # the usual one
status: working
priority: 1
x-team: blue
---

Summary.

## Context

Context.
"""


def _file(text: str) -> TaskFile:
    return TaskFile.parse(text.encode(), "TASK.md")


def _merge_text(base: str, ours: str, theirs: str) -> str | None:
    """Merges where only one side changed something."""
    if ours == base:
        return theirs
    return ours if theirs in (base, ours) else None


def _merged(mine: str, theirs: str) -> TaskFile | None:
    return merge_edit(_file(BASE), _file(mine), _file(theirs), _merge_text)


def test_neighbouring_lines_of_the_frontmatter_do_not_conflict() -> None:
    mine = BASE.replace("title: Login ", "title: The login ")
    theirs = BASE.replace("working", "clarification").replace("priority: 1", "priority: 0")
    merged = _merged(mine, theirs)
    assert merged is not None
    assert (merged.title, merged.task.status, merged.task.priority) == ("The login", Status.CLARIFICATION, 0)
    assert "# the usual one" in merged.data.decode()


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (BASE.replace("x-team: blue", "x-team: red"), BASE.replace("priority: 1", "priority: 0")),
        (BASE.replace("priority: 1", "priority: 0"), BASE.replace("x-team: blue", "x-team: red")),
    ],
)
def test_unknown_keys_of_either_side_stay(mine: str, theirs: str) -> None:
    merged = _merged(mine, theirs)
    assert merged is not None
    assert merged.data.decode() == BASE.replace("blue", "red").replace("priority: 1", "priority: 0")


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (BASE.replace("priority: 1", "priority: 0"), BASE.replace("priority: 1", "priority: 3")),
        (BASE.replace("blue", "red"), BASE.replace("blue", "green")),
        (BASE.replace("Summary", "Mine"), BASE.replace("Summary", "Theirs")),
        (
            BASE.replace("status: working", "status: stuck"),
            BASE.replace("status: working", "status: cancelled"),
        ),
    ],
)
def test_the_same_changed_twice_is_a_conflict(mine: str, theirs: str) -> None:
    assert _merged(mine, theirs) is None


def test_a_verdict_of_the_editors_is_kept_as_a_wish() -> None:
    mine = _file(BASE)
    mine = mine.with_task(replace(mine.task, verdict=Verdict.APPROVED))
    merged = merge_edit(_file(BASE), mine, _file(BASE.replace("priority: 1", "priority: 0")), _merge_text)
    assert merged is not None
    assert (merged.task.verdict, merged.task.priority) == (Verdict.APPROVED, 0)
