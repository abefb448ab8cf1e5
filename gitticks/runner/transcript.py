"""The transcript of a session: every line that the agent printed, in a file that only this user can read."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from gitticks.model.ids import TaskId


class Transcript:
    """A file under `<common git dir>/gitticks/transcripts/<task>/`, named after the session's start; never committed."""

    def __init__(self, own_dir: Path, task_id: TaskId, started: datetime) -> None:
        folder = own_dir / "transcripts" / task_id
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        name = f"{started:%Y%m%dT%H%M%SZ}-{os.getpid()}.log"
        descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._file = os.fdopen(descriptor, "a", encoding="utf-8", errors="replace", buffering=1)

    def write(self, line: str) -> None:
        """Adds a line; a disk that is full loses the transcript, not the session."""
        try:
            self._file.write(f"{line}\n")
        except OSError:
            return

    def __enter__(self) -> Self:
        """Returns the open transcript."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the file."""
        try:
            self._file.close()
        except OSError:
            return
