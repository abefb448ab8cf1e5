"""Permission decisions: recorded in the clone as they are made, and committed to the task's `audit.jsonl`.

The commit is one that the runner makes anyway, and names the head of the chain, so that lines cannot vanish unseen.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from gitticks.document.audit import chain, parse_entry, read_audit, render_entry
from gitticks.errors import GitticksError
from gitticks.git.disk import write_all
from gitticks.git.files import errors_name, write_synced
from gitticks.git.locks import hold_lock
from gitticks.model.audit import AuditEntry
from gitticks.model.ids import TaskId
from gitticks.redaction import mask
from gitticks.safe_read import read_plain_file, stamp_of
from gitticks.store import layout
from gitticks.store.transaction import Transaction

FOLDER = "audit"
TRAILER = "Audit"
_WRITER, _LOCK = "writer", "lock"
_MOST_BYTES = 50_000_000
_MOST_NOTED = 10_000_000
"""Of one session; all of it is committed at its end."""
_LONGEST_TEXT = 4000


class PendingAudit:
    """The decisions about one task that are not on the state branch yet; `own_dir` is `<common git dir>/gitticks`."""

    def __init__(self, own_dir: Path, task_id: TaskId) -> None:
        self._folder = own_dir / FOLDER
        self._task_id = task_id
        self._path = self._folder / f"{task_id}.jsonl"
        self._taken = b""
        self.torn = False

    def note(self, entry: AuditEntry) -> None:
        """Adds a decision; when it returns, the line is on disk.

        Raises:
            GitticksError: it cannot be written, or a session has made more decisions than are kept.
        """
        short = _each(entry, lambda text: _cut(mask(text)))
        line = json.dumps(render_entry(short), ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        self._folder.mkdir(parents=True, exist_ok=True)
        with errors_name(self._path), self._locked():
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(self._path, flags, 0o600)
            try:
                size = os.fstat(descriptor).st_size
                if size > _MOST_NOTED:
                    raise GitticksError("this session has made more decisions than the audit log takes")
                if size and os.pread(descriptor, 1, size - 1) != b"\n":
                    line = b"\n" + line  # a line that a crash cut off stays alone
                write_all(descriptor, line)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def entries(self) -> tuple[AuditEntry, ...]:
        """Returns what is noted; lines that a crash cut off are left out, and `torn` says so."""
        try:
            data = read_plain_file(self._path, _MOST_BYTES)
        except OSError:
            data = b""
        self._taken, self.torn = data, False
        found = []
        for line in data.splitlines():
            try:
                found.append(parse_entry(json.loads(line)))
            except (ValueError, RecursionError):
                self.torn = self.torn or bool(line.strip())
        return tuple(found)

    def write(self, transaction: Transaction) -> int:
        """Adds what is noted to the task's chain within a transaction, and returns how many lines that are.

        What a commit has already that a crash kept from being forgotten here is not added again.
        """
        path = layout.audit_path(self._task_id)
        data = transaction.read(path) or b""
        present = read_audit(data)
        writer = self._writer()
        known = {line.entry for line in present.lines if line.writer == writer}
        masked = (_each(entry, transaction.mask_text) for entry in self.entries())
        fresh = [entry for entry in masked if entry not in known]  # masked before it is hashed
        if not fresh:
            return 0
        lines, head = chain(fresh, writer, present.head(writer))
        if present.torn:
            transaction.write(path, data[: -len(present.torn)] + lines)
        else:
            transaction.append(path, lines)
        transaction.describe("", [(TRAILER, f"{self._task_id} {writer} {head}")])
        return len(fresh)

    def forget(self) -> None:
        """Drops what `write` took, once it is committed; what was noted since stays, and all if that cannot be told."""
        with contextlib.suppress(OSError, GitticksError), self._locked():
            rest = read_plain_file(self._path, _MOST_BYTES).removeprefix(self._taken)
            if not rest:
                self._path.unlink(missing_ok=True)
                return
            write_synced(self._path, rest, mode=0o600)

    def _locked(self) -> AbstractContextManager[object]:
        return hold_lock(self._folder / _LOCK)

    def _writer(self) -> str:
        path = self._folder / _WRITER
        with contextlib.suppress(OSError):
            name = read_plain_file(path).decode("ascii", "replace").strip()
            if len(name) == 8 and name.isalnum():  # noqa: PLR2004
                return name
        name = secrets.token_hex(4)
        with errors_name(path):
            self._folder.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{name}\n", encoding="ascii")
        return name


def tasks_with_pending(own_dir: Path) -> tuple[TaskId, ...]:
    """Returns the tasks about which decisions are noted that are not on the state branch yet."""
    folder = own_dir / FOLDER
    return tuple(TaskId(path.stem) for path in sorted(folder.glob("*.jsonl"))) if folder.is_dir() else ()


def stamps_of_pending(own_dir: Path) -> tuple[object, ...]:
    """Returns what differs once such a decision was noted, or has gone to the state branch."""
    return tuple((task, stamp_of(f"{own_dir}/{FOLDER}/{task}.jsonl")) for task in tasks_with_pending(own_dir))


def _each(entry: AuditEntry, change: Callable[[str], str]) -> AuditEntry:
    return entry._replace(target=change(entry.target), reason=change(entry.reason))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"
