"""Records of sessions: of this process, and of one that is at work on a task."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from gitticks.model.ids import TaskId
from gitticks.model.status import Role
from gitticks.model.task import SessionRecord
from gitticks.processes import own_identity
from gitticks.system import boot_id
from tests.support.stores import NOW

STARTED = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def make_record(task_id: str = "k7f2", **fields: object) -> SessionRecord:
    """Returns a record of this process."""
    me = own_identity()
    record = SessionRecord(
        TaskId(task_id),
        Role.WORKER,
        1,
        "mine",
        me.pid,
        me.start_ticks,
        me.boot_id,
        STARTED,
        "/repo/.gitticks-work/k7f2",
    )
    return record._replace(**fields)  # type: ignore[arg-type]


def make_session(task_id: str) -> SessionRecord:
    """Returns a record of a worker that has begun a few minutes before now."""
    return SessionRecord(
        task=TaskId(task_id),
        role=Role.WORKER,
        round=1,
        agent="claude",
        pid=os.getpid(),
        start_ticks=1,
        boot_id=boot_id(),
        started=NOW.replace(minute=0),
        workspace="/w/k7f2",
    )
