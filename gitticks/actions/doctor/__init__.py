"""Finds problems, says how to fix them, and fixes what is safe to fix."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import NamedTuple

from gitticks.model.ids import TaskId


class Severity(StrEnum):
    """Errors keep gitticks from working, warnings from working well; notes are only worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Topic(StrEnum):
    """What the doctor looks at, in that order; the values are the headings of its report."""

    MACHINE = "machine"
    REPOSITORY = "repository"
    LOCKS = "locks"
    SETTINGS = "settings"
    BOARD = "board"
    INDEX = "index"
    FILES = "files"
    TASKS = "tasks"
    HISTORY = "history"
    WORKSPACES = "workspaces"
    SESSIONS = "sessions"


class Repair(StrEnum):
    """What `gt doctor --fix` can do without taking anything from anybody."""

    LOCKS = "clear locks whose owners are dead"
    BOARD = "create or fix the board"
    HOOKS = "install hooks and the merge driver"
    STEP = "update the board"
    FILES = "restore what was deleted or renamed on the board"
    DROPPED = "restore what git dropped from the state branch"
    FALLEN = "restore what was lost from the state branch"
    PATHS = "remove paths that cannot be checked out from the state branch"
    MARKERS = "merge by meaning what git merged line by line"
    INDEX = "rebuild the index"
    WORKTREES = "drop the entries of missing workspaces"


class Finding(NamedTuple):
    """One thing that was found; `fix` is a sentence or a command for a person, `repair` what the doctor can do.

    `task` and `commit` are what it is about, where it is about one; `topic` is set by who asked for the check.
    """

    severity: Severity
    what: str
    fix: str | None = None
    repair: Repair | None = None
    topic: Topic = Topic.REPOSITORY
    task: TaskId | None = None
    commit: str | None = None


fault, warning, note = (partial(Finding, severity) for severity in Severity)


@dataclass(frozen=True, slots=True)
class Report:
    """What was found, and which topics were looked at; a topic that could not be looked at is missing."""

    findings: tuple[Finding, ...]
    looked_at: tuple[Topic, ...]

    def count(self, severity: Severity) -> int:
        """Returns how many findings are of one severity."""
        return sum(finding.severity is severity for finding in self.findings)
