"""A mailbox with a task in it, and what is read and taken from it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitticks.document.taskfile import TaskFile
from gitticks.model.ids import TaskId
from gitticks.model.status import Isolation, Role
from gitticks.runner.mailbox import Delivery, fill, read, take
from gitticks.runner.workspaces import Workspace

AT = datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC)


GIVEN = """\
---
id: k7f2
title: Keep the return URL
status: working
priority: 1
---

Please fix it.

## Context

The login page.

## Questions

### 2026-01-02T03:04:05Z · agent · claude

Which page?

### 2026-01-02T03:05:00Z · human · Ada

The first one.

## Notes

### 2026-01-02T03:06:00Z · human · Ada

Mind the tests.
"""


def given(text: str = GIVEN) -> TaskFile:
    return TaskFile.parse(text.encode(), "TASK.md")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    path = tmp_path / "k7f2"
    path.mkdir()
    made = Workspace(TaskId("k7f2"), path, "gitticks/work/k7f2", "main", "0" * 40, "0" * 40, Isolation.TASK)
    fill(made, given(), "Do it.")
    return made


def after(workspace: Workspace, text: str, role: Role = Role.WORKER) -> Delivery:
    """Returns what is read after the agent wrote `text`."""
    (workspace.mailbox / "TASK.md").write_text(text, encoding="utf-8")
    return read(workspace.mailbox, given(), role)


def taken(delivery: Delivery, role: Role = Role.WORKER) -> TaskFile:
    return take(given(), delivery, role, AT, "claude")[0]
