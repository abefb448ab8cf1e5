"""What came of bringing the board in step; apart from the doing, which most of its readers need not load."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gitticks.errors import GitticksError, LostRaceError
from gitticks.model.values import Value


class BoardError(GitticksError):
    """The board is damaged; the state branch, and so every task, is not."""


@contextmanager
def errors_of_board(doing: str) -> Iterator[None]:
    """Turns what goes wrong with the board's own files into an error that begins with what could not be done."""
    try:
        yield
    except LostRaceError:
        raise
    except (GitticksError, OSError) as error:
        raise BoardError(f"{doing}: {error}", hint="`gt doctor` says what is wrong with the board") from error


class BoardReport(Value):
    """What bringing the board in step came to; paths from the board's top, sorted.

    Attributes:
        is_in_step: False if the index was busy, or something else than the state branch is checked out there.
        conflicts: files with a person's edit that excludes the branch's version; they are as the person left them.
        deferred: files that somebody was writing at that moment.
        rescued: where bytes were kept that had no other place.
    """

    is_in_step: bool = True
    conflicts: tuple[str, ...] = ()
    deferred: tuple[str, ...] = ()
    rescued: tuple[Path, ...] = ()
