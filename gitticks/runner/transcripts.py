"""Transcripts: what agents' clients printed, kept in the clone and never committed.

They are in `<common git dir>/gitticks/transcripts/<task>/`, each named after its session's start and its runner. If a
runner dies, the time in the name and the time of the file's last change tell how long its agent worked.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from gitticks.model.ids import TaskId
from gitticks.runner.liveness import names_in
from gitticks.safe_read import open_plain_file, read_end_of_plain_file

if TYPE_CHECKING:
    from gitticks.model.task import SessionRecord

TRANSCRIPTS_FOLDER, COUNCIL_FOLDER = "transcripts", "council"
"""What was said in sessions, and the answers of a council until all are there."""
_CHUNK = 1 << 16
_LONGEST_LINE = 4_000_000
_STAMP = "%Y%m%dT%H%M%S.%fZ"


def transcripts_of(own_dir: Path, task_id: TaskId) -> Path:
    """Returns the folder of a task's transcripts."""
    return own_dir / TRANSCRIPTS_FOLDER / task_id


class Transcript:
    """The transcript of a session that runs now."""

    def __init__(self, own_dir: Path, task_id: TaskId, started: datetime) -> None:
        folder = transcripts_of(own_dir, task_id)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.name = f"{_stamp(started)}-{os.getpid()}.log"
        descriptor = os.open(folder / self.name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._file = os.fdopen(descriptor, "a", encoding="utf-8", errors="replace", buffering=1)

    def write(self, line: str) -> None:
        """Adds a line; a disk that is full loses the transcript, not the session."""
        with contextlib.suppress(OSError):
            self._file.write(f"{line}\n")

    def close(self) -> None:
        """Ends it; its last change is the end of the agent, which may have been silent before."""
        with contextlib.suppress(OSError):
            os.utime(self._file.fileno())
            self._file.close()


class TranscriptReader:
    """Reads what one session has printed, and later what came since; those that began in one second are one to it.

    Of what came before the first look at most `most_bytes` are read; `left_out` says how many were not. `followed_at` is
    when the task's next session began, once there is one, whose files are not read.
    """

    def __init__(self, own_dir: Path, record: SessionRecord, most_bytes: int) -> None:
        self.folder = transcripts_of(own_dir, record.task)
        self.left_out = 0
        self.followed_at: datetime | None = None
        self._first, self._end = _stamp(record.started), f"-{record.pid}.log"
        self._most_bytes = most_bytes
        self._name: str | None = None
        self._descriptor: int | None = None
        self._line = bytearray()

    def read(self) -> list[str]:
        """Returns the lines that are new and whole."""
        lines = self._read_on()
        for name in self._newer():
            lines += [*self._rest(), *self._open(name), *self._read_on()]
        return lines

    def close(self) -> list[str]:
        """Returns what is left, and a last line that nothing ended."""
        lines = [*self.read(), *self._rest()]
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        return lines

    def _newer(self) -> list[str]:
        after = self._name or self._first
        names = (name for name in names_in(str(self.folder)) if name.endswith(self._end))
        end = None if self.followed_at is None else _stamp(self.followed_at)
        return sorted(
            name for name in names if name >= after and name != self._name and (end is None or name < end)
        )

    def _open(self, name: str) -> list[str]:
        is_first, self._name = self._name is None, name
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        try:
            self._descriptor, size = open_plain_file(self.folder / name, follow=False)
        except OSError:
            return []
        if is_first and size > self._most_bytes:
            self.left_out = os.lseek(self._descriptor, size - self._most_bytes, os.SEEK_SET)
            return self._read_on()[1:]
        return []

    def _read_on(self) -> list[str]:
        found: list[str] = []
        while self._descriptor is not None and (data := os.read(self._descriptor, _CHUNK)):
            *whole, rest = (bytes(self._line) + data).split(b"\n")
            found += [line.decode("utf-8", "replace") for line in whole]
            self._line = bytearray(rest[:_LONGEST_LINE])
        return found

    def _rest(self) -> list[str]:
        rest, self._line = self._line, bytearray()
        return [rest.decode("utf-8", "replace")] if rest else []


def read_printed(own_dir: Path, record: SessionRecord) -> tuple[Iterator[str], float]:
    """Returns the lines that a session printed, and how many seconds its agent took, as far as is known."""
    name = record.transcript or ""
    path = transcripts_of(own_dir, record.task) / name
    try:
        began = datetime.strptime(name.partition("-")[0], _STAMP).replace(tzinfo=UTC)
        status = path.stat()
    except (OSError, ValueError):  # it was removed
        return iter(()), 0.0
    lines = _lines_of(path) if stat.S_ISREG(status.st_mode) else iter(())
    return lines, round(max(0.0, status.st_mtime - began.timestamp()), 3)


def _lines_of(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
        for line in file:
            yield line.removesuffix("\n")


def read_last(own_dir: Path, task_id: TaskId, most_bytes: int) -> tuple[list[str], bool]:
    """Returns the last lines of the newest of a task's transcripts that has any, and whether there are more before them."""
    folder = transcripts_of(own_dir, task_id)
    for name in sorted(names_in(str(folder)), reverse=True):
        with contextlib.suppress(OSError):
            data = read_end_of_plain_file(folder / name, most_bytes + 1)
            is_cut = len(data) > most_bytes
            lines = [line for line in data.decode("utf-8", "replace").split("\n")[is_cut:] if line]
            if lines:
                return lines, is_cut
    return [], False


def _stamp(time: datetime) -> str:
    return time.strftime(_STAMP)
