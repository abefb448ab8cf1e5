"""A record of each live session in the clone, so that others see it and a dead runner's work is found.

A session lives as long as its runner holds the session's lock or anything of the agent's process tree does; both are
kernel locks, which end with their holders. A record without a lock is a session that somebody must finish.
"""

from __future__ import annotations

import contextlib
from collections.abc import Container, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from gitticks.errors import RefusedError
from gitticks.flocks import holding_lock
from gitticks.model.ids import TaskId, is_valid_id
from gitticks.model.status import Role
from gitticks.model.task import Ending, SessionRecord
from gitticks.processes import ProcessIdentity, is_alive, own_identity
from gitticks.runner.liveness import (
    INTERRUPTED,
    LINKS,
    LOCK,
    RECORD,
    SESSIONS_FOLDER,
    STOPPED,
    is_agent_alive,
    is_session_alive,
    names_in,
    names_of,
    tree_lock_name,
)
from gitticks.safe_read import read_json

_TEXTS = ("session_id", "model", "transcript", "given")


class UnderWayError(RefusedError):
    """Another command is about to work on the task, or to reset what it is worked on in."""

    def __init__(self, task_id: TaskId) -> None:
        super().__init__(f"another command is starting `{task_id}` or a task that shares its workspace")


class Sessions:
    """The records of one clone; `own_dir` is `<common git dir>/gitticks`."""

    def __init__(self, own_dir: Path) -> None:
        self._folder = own_dir / SESSIONS_FOLDER

    def tree_lock(self, task_id: TaskId, number: int = 1) -> Path:
        """Returns the lock that the supervisor of an agent holds as long as anything of it lives.

        A council's session has several agents, by number.
        """
        return self._folder / tree_lock_name(task_id, number)

    def links_note(self, task_id: TaskId, number: int) -> Path:
        """Returns the note of the links that an agent's sandbox could not keep, as long as it stands."""
        return self._folder / f"{task_id}.{number}{LINKS}"

    def links_notes(self, task_id: TaskId) -> list[Path]:
        """Returns the notes that a dead session has left."""
        return [self._folder / name for name in names_of(str(self._folder), task_id, LINKS)]

    @contextlib.contextmanager
    def hold(self, record: SessionRecord) -> Iterator[None]:
        """Records a session while the block runs; an exception leaves the record, as a killed runner would.

        Raises:
            RefusedError: a session on that task is alive.
        """
        with self._locked(record.task) as is_ours:
            if not is_ours and read_record(self._record(record.task)) is None:
                raise UnderWayError(record.task)
            if not is_ours:
                raise RefusedError(
                    f"an agent is already working on `{record.task}`", hint=f"`gt stop {record.task}` ends it"
                )
            self._write(record)
            self.note_left(record.task, None)
            yield
            self._record(record.task).unlink(missing_ok=True)

    @contextlib.contextmanager
    def adopt(self, record: SessionRecord) -> Iterator[bool]:
        """Takes a dead session over while the block runs and drops its record; False if somebody else is at it."""
        with self._locked(record.task) as is_ours:
            yield is_ours and self._record(record.task).exists()
            if is_ours:
                self._record(record.task).unlink(missing_ok=True)

    @contextlib.contextmanager
    def reserve(self, tasks: Iterable[TaskId]) -> Iterator[None]:
        """Keeps sessions from being started on some tasks while the block runs.

        Raises:
            RefusedError: a session on one of them is alive.
        """
        with contextlib.ExitStack() as stack:
            for task_id in sorted(tasks):
                is_ours = stack.enter_context(self._locked(task_id))
                if not is_ours and read_record(self._record(task_id)) is None:
                    raise UnderWayError(task_id)
                if not is_ours or is_agent_alive(str(self._folder), task_id):
                    raise RefusedError(
                        f"an agent is working on `{task_id}`", hint=f"`gt stop {task_id}` ends it"
                    )
            yield

    @contextlib.contextmanager
    def _locked(self, task_id: TaskId) -> Iterator[bool]:
        self._folder.mkdir(parents=True, exist_ok=True)
        with holding_lock(self._folder / f"{task_id}{LOCK}") as is_ours:
            yield is_ours

    def mark_briefed(self, record: SessionRecord, transcript: str) -> SessionRecord:
        """Notes, within `hold`, that the session's mailbox was filled, and where what it prints is kept."""
        record = record._replace(is_briefed=True, session_id=None, transcript=transcript)
        self._write(record)
        return record

    def note_session_id(self, record: SessionRecord, session_id: str) -> SessionRecord:
        """Notes, within `hold`, the agent's own name of a briefed session, so that it can continue if its runner dies."""
        record = record._replace(session_id=session_id)
        with contextlib.suppress(OSError):  # without it the agent starts over
            self._write(record)
        return record

    def mark_over(self, record: SessionRecord) -> None:
        """Notes, within `hold`, that the agent has ended and told all that it spent."""
        with contextlib.suppress(OSError):  # without it what was spent is called incomplete
            self._write(record._replace(is_over=True))

    def note_left(self, task_id: TaskId, ending: Ending | None) -> None:
        """Notes how a session ended that was stopped or interrupted, until the next one begins; forgets it for others."""
        for known, suffix in ((Ending.STOPPED, STOPPED), (Ending.INTERRUPTED, INTERRUPTED)):
            with contextlib.suppress(OSError):  # only a view tells it
                path = self._folder / f"{task_id}{suffix}"
                path.touch() if ending is known else path.unlink(missing_ok=True)

    def _write(self, record: SessionRecord) -> None:
        # Nobody who only reads records needs these.
        from gitticks.git.files import errors_name
        from gitticks.runner.run_record import write_json

        path = self._record(record.task)
        with errors_name(path):
            write_json(path, record._asdict() | {"started": record.started.isoformat()})

    def live(self, without: Container[TaskId] = ()) -> dict[TaskId, SessionRecord]:
        """Returns the sessions that are alive, by task, without those of some tasks."""
        return {record.task: record for record in self._all(without) if self._is_alive(record.task)}

    def find(self, task_id: TaskId) -> SessionRecord | None:
        """Returns the session of a task that is alive, if one is."""
        record = read_record(self._record(task_id))
        return record if record is not None and self._is_alive(task_id) else None

    def dead(self, without: Container[TaskId] = ()) -> list[SessionRecord]:
        """Returns the sessions whose runner and agent are both gone, oldest first, without those of some tasks."""
        left = [record for record in self._all(without) if not self._is_alive(record.task)]
        return sorted(left, key=lambda record: record.started)

    def ending(self, without: Container[TaskId] = ()) -> list[SessionRecord]:
        """Returns the sessions whose runner is gone while its supervisor still ends the agent, which takes seconds."""
        return [record for record in self.live(without).values() if not is_alive(_runner_of(record))]

    def is_own(self, record: SessionRecord) -> bool:
        """True if this process began the session."""
        return _runner_of(record) == own_identity()

    def _is_alive(self, task_id: TaskId) -> bool:
        return is_session_alive(str(self._folder), task_id)

    def _all(self, without: Container[TaskId] = ()) -> list[SessionRecord]:
        names = [name for name in sorted(names_in(str(self._folder))) if name.endswith(RECORD)]
        found = (
            read_record(self._folder / name)
            for name in names
            if TaskId(name.removesuffix(RECORD)) not in without
        )
        return [record for record in found if record is not None]

    def _record(self, task_id: TaskId) -> Path:
        return self._folder / f"{task_id}{RECORD}"


def _runner_of(record: SessionRecord) -> ProcessIdentity:
    return ProcessIdentity(record.pid, record.start_ticks, record.boot_id)


def read_record(path: Path) -> SessionRecord | None:
    """Returns a record; one that cannot be read is no session, since records are written whole."""

    def make(body: Any) -> SessionRecord | None:
        name, started = path.stem, datetime.fromisoformat(body["started"])
        if body["task"] != name or not is_valid_id(name) or started.tzinfo is None:
            return None
        return SessionRecord(
            task=TaskId(name),
            role=Role(body["role"]),
            round=int(body["round"]),
            agent=str(body["agent"]),
            pid=int(body["pid"]),
            start_ticks=int(body["start_ticks"]),
            boot_id=str(body["boot_id"]),
            started=started,
            workspace=str(body["workspace"]),
            is_briefed=body["is_briefed"] is True,
            is_over=body.get("is_over") is True,
            **{key: body[key] for key in _TEXTS if isinstance(body.get(key), str)},
        )

    return read_json(path, make, None)
