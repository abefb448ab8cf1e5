"""Which steps the specification allows in a history, whoever made them: what every walk in these tests is held against."""

from __future__ import annotations

from gitticks.model.status import Status
from gitticks.workflow.transitions import rows_between


def is_legal_step(source: Status | None, target: Status | None) -> bool:
    """True if a history may hold this step: the tables, a person's verdict, or a reopening."""
    if source is None or target is None:
        return False
    return bool(rows_between(source, target)) or (source.is_terminal and target is Status.PENDING)
