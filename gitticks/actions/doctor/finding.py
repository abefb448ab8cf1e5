"""What the doctor found: how bad it is, what it is, and what fixes it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

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

    LOCKS = "clear locks whose takers are dead"
    BOARD = "make or fix the board"
    HOOKS = "install the board's hooks"
    DRIVER = "let git merge tasks by meaning"
    STEP = "bring the board in step"
    FILES = "put back what was removed or renamed on the board"
    DROPPED = "bring back what git dropped from the state branch"
    FALLEN = "bring back what fell off the state branch"
    PATHS = "remove what no checkout can hold from the state branch"
    PULL = "put back what a pull left on the board"
    MARKERS = "join by meaning what git merged by lines"
    INDEX = "build the index again"
    WORKTREES = "drop the entries of workspaces that are gone"


@dataclass(frozen=True, slots=True)
class Finding:
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


@dataclass(frozen=True, slots=True)
class Report:
    """What was found, and which topics were looked at; a topic that could not be looked at is missing."""

    findings: tuple[Finding, ...]
    looked_at: tuple[Topic, ...]

    def count(self, severity: Severity) -> int:
        """Returns how many findings are of one severity."""
        return sum(finding.severity is severity for finding in self.findings)
