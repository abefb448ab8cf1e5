"""A pull request as plain values, independent of the forge."""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from typing import NamedTuple


class PullState(Enum):
    """The state of a pull request."""

    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"


class Check(NamedTuple):
    """A check of a pull request's head; `log` is the end of a red one's output."""

    name: str
    is_running: bool = False
    is_red: bool = False
    url: str = ""
    log: str = ""


class Comment(NamedTuple):
    """What somebody with a say in the project wrote; `mark` names it for good.

    `place` is a file and line. `is_request` if it belongs to a review that does not approve, so that it asks for a
    change.
    """

    mark: str
    author: str
    at: datetime
    text: str
    place: str = ""
    is_request: bool = False


class PullRequest(NamedTuple):
    """A pull request as its forge shows it now.

    `approved_by` are those whose last review approves `head`, `refused_by` those whose last one asks for changes.
    `merged_as` is the commit by which its base got it, `merged_by` who asked for that.
    """

    url: str
    state: PullState
    head: str
    base: str
    checks: tuple[Check, ...] = ()
    comments: tuple[Comment, ...] = ()
    approved_by: tuple[str, ...] = ()
    refused_by: tuple[str, ...] = ()
    merged_as: str | None = None
    merged_by: str = ""
