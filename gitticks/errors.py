"""The errors that gitticks raises on purpose, each with its exit code, and words for their messages.

A leaf module: everything may import it, it imports nothing of the project.
"""

from __future__ import annotations

from collections.abc import Sequence


class Exit:
    """Exit codes of every command but `run`, which has its own (`gitticks.runner.outcome`).

    Plain numbers, so that a reading command does not load `enum` for them.
    """

    DONE = 0
    FAILED = 1
    USAGE = 2
    REFUSED = 3
    LOST_RACE = 4
    BUG = 70
    INTERRUPTED = 130


class GitticksError(Exception):
    """An expected failure: what happened, and the command to type next.

    Messages start lower-case and set names in backticks; a hint is a command ready to paste, or one short
    sentence that holds it.
    """

    exit_code: int = Exit.FAILED

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def in_one_line(self) -> str:
        """Returns the message and its hint in one line."""
        return f"{self.message}; {self.hint}" if self.hint else self.message


class UsageError(GitticksError):
    """The command was called in a way that cannot mean anything."""

    exit_code = Exit.USAGE


class RefusedError(GitticksError):
    """The state machine, a gate or the rule that only people give verdicts refused the change."""

    exit_code = Exit.REFUSED


class MachineError(GitticksError):
    """The machine refused: no room, no right, something in the way. It may work later."""


class LostRaceError(GitticksError):
    """Other writers won every retry; nothing was changed and repeating is safe."""

    exit_code = Exit.LOST_RACE


class NotFoundError(GitticksError):
    """No task, file or repository of that name."""


class DocumentError(GitticksError):
    """A file cannot be understood; `path:line:column` (both from 1) is part of the message."""

    def __init__(
        self,
        problem: str,
        *,
        path: str,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        place = path if line is None else f"{path}:{line}" if column is None else f"{path}:{line}:{column}"
        super().__init__(f"{place}: {problem}", hint=hint)
        self.problem = problem
        self.path = path
        self.line = line
        self.column = column


def first_of(words: Sequence[str], most: int, between: str = ", ") -> str:
    """Returns the first of some words for a message, and how many more there are: `a, b and 3 more`."""
    shown = between.join(words[:most])
    return f"{shown} and {len(words) - most} more" if len(words) > most else shown
