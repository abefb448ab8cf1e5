"""How a task looks in a drawn graph: a colour for each phase, and one for what a person has to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gitticks.cli.text import visible
from gitticks.model.status import Status

if TYPE_CHECKING:
    from gitticks.model.queued import Listed

LABEL_COLUMNS = 28
INK = "#1f2328"
_NO_XML = str.maketrans("", "", "\ufffe\uffff")
"""Characters that no picture may hold, not even as references."""


class Look(NamedTuple):
    """The name of a look, as pages and styles call it, and what a box of it is filled with by day and by night."""

    name: str
    fill: str
    dark_fill: str


_OPEN = Look("open", "#ffffff", "#21262d")
_BUSY = Look("in_progress", "#ddf4ff", "#0c2d6b")
_IN_REVIEW = Look("in_review", "#fbefff", "#3c1e70")
_AWAITING = Look("awaiting", "#fff8c5", "#4b2900")
_CLOSED = Look("closed", "#dafbe1", "#033a16")
LOOKS = (_OPEN, _BUSY, _IN_REVIEW, _AWAITING, _CLOSED)
_BY_STATUS: dict[str, Look] = {
    Status.PENDING: _OPEN,
    Status.AGENT_REVIEW: _IN_REVIEW,
    Status.REVIEWING: _IN_REVIEW,
}


def drawable(text: str) -> str:
    """Returns a text as pictures can hold it; it is still to be escaped."""
    return visible(text).translate(_NO_XML)


def look_of(task: Listed) -> Look:
    """Returns how a task looks."""
    if not task.is_open:
        return _CLOSED
    return _AWAITING if task.awaiting else _BY_STATUS.get(task.status, _BUSY)
