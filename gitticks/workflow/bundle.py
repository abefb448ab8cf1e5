"""Chooses one of two versions of a task's state when two clones are merged, always as a whole.

Status, whose turn it is, counters and artifacts belong together: half of one version and half of the other would be
a state that no rule ever allowed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gitticks.model.notes import Section
from gitticks.model.status import Status
from gitticks.model.task import ENGINE_FIELDS, Task

BUNDLE_FIELDS = ENGINE_FIELDS | {
    "status", "awaiting", "verdict", "asked_at", "responded_at", "closed", "closed_reason",
}  # fmt: skip
"""The fields that move together, with the sections of `BUNDLE_SECTIONS`."""

BUNDLE_SECTIONS = (Section.HANDOFF, Section.REVIEW)

_ORDER = {status: place for place, status in enumerate(Status)}


class Side(NamedTuple):
    """One version of a task; `artifacts` are the texts of its bundle's sections, None where there is none."""

    task: Task
    artifacts: tuple[str | None, ...] = ()

    @property
    def bundle(self) -> tuple[object, ...]:
        """Returns what moves together."""
        return (*(getattr(self.task, name) for name in sorted(BUNDLE_FIELDS)), self.artifacts)


def stands_before(
    base: Side | None,
    one: Side,
    other: Side,
    times: Callable[[], tuple[int, int] | None] = lambda: None,
) -> bool | None:
    """True if the bundle of `one` stands, False if that of `other` does, None if they are the same.

    What only one side changed stands. Where both did: a closed task before an open one, of two closed ones the
    merged, then the cancelled; then the higher round, what a person sent back, the status further along, the later
    change. Whatever is left equal is decided by the values themselves, so that both clones decide alike.

    `base` is what both began with, `times` when the bundle of each last changed; where that is not known, the tasks'
    last writes count.
    """
    if one.bundle == other.bundle:
        return None
    if base is not None and base.bundle in (one.bundle, other.bundle):
        return other.bundle == base.bundle
    ranks = _rank(one, _is_sent_back(base, one)), _rank(other, _is_sent_back(base, other))
    if ranks[0] != ranks[1]:
        return ranks[0] > ranks[1]
    changed = times() or (time_key(one.task), time_key(other.task))
    return (changed[0], repr(one.bundle)) > (changed[1], repr(other.bundle))


def may_stand(one: Side, other: Side) -> bool:
    """True if a merge may have let `one` stand before `other`, whenever they were written."""
    may_be_sent_back = one.task.status is Status.WORKING and one.task.responded_at is not None
    return _rank(one, may_be_sent_back) >= _rank(other)


def is_late(base: Side, edited: Side, now: Side) -> bool:
    """True if an edit of the base, a verdict, a hand-off or a review, was made for a turn or a round that is over now.

    What only gitticks writes tells what its writer saw, whichever version the edit is taken to begin from.
    """
    seen, task = edited.task, now.task
    is_same_head = seen.end_sha == task.end_sha
    if seen.verdict not in (None, base.task.verdict):
        is_same_turn = task.awaiting in (seen.awaiting, base.task.awaiting) and seen.asked_at == task.asked_at
        if not (is_same_head and is_same_turn):
            return True
    texts = zip(base.artifacts, edited.artifacts, now.artifacts, strict=True)
    is_written = any(new and new not in (old, current) for old, new, current in texts)
    return is_written and not (is_same_head and seen.review_round == task.review_round)


def _is_sent_back(base: Side | None, side: Side) -> bool:
    """True if a person sent back what was in review, which keeps an approval given elsewhere from being merged."""
    if base is None or not base.task.is_handed_off:
        return False
    return side.task.status is Status.WORKING and side.task.responded_at != base.task.responded_at


def _rank(side: Side, is_sent_back: bool = False) -> tuple[bool, bool, bool, int, bool, int]:
    task = side.task
    return (
        task.status.is_terminal,
        task.status is Status.DONE and task.merged_sha is not None,
        task.status is Status.CANCELLED,
        task.review_round,
        is_sent_back,
        _ORDER[task.status],
    )


def time_key(task: Task) -> str:
    """Returns the time of the task's last write as text that sorts; empty if it is not known."""
    return task.updated.isoformat() if task.updated else ""
