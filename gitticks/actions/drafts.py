"""Private drafts for an editor, kept as long as they may hold something unsaved.

Each is in a folder of its own beside the text as it was. That file is locked for as long as the command or its
editor lives, so the drafts of killed commands are known; one that holds nothing new goes with the next that is made.
One of a task that was not taken is what the next edit of that task goes on with.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from gitticks.actions.context import Context
from gitticks.errors import GitticksError
from gitticks.flocks import is_lock_held
from gitticks.git.files import errors_name
from gitticks.git.locks import hold_lock
from gitticks.model.ids import TaskId
from gitticks.safe_read import reason_of

_ORIGINAL = "as-it-was"


class Draft(NamedTuple):
    """A private copy of a text for an editor, which inherits `lock`, an open file that is locked while the draft is in use.

    `line` is where the problem is, if the text is broken. One of a `task` is opened again by its next edit.
    """

    path: Path
    original: bytes
    lock: int
    line: int | None = None
    task: TaskId | None = None

    def read(self) -> bytes:
        """Returns what the editor left."""
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise GitticksError(
                f"`{self.path}` can no longer be read: {reason_of(error)}",
                hint=f"`ls -l {quote(str(self.path))}` shows what is there; it has what you saved",
            ) from error

    @property
    def is_changed(self) -> bool:
        """True if the editor left something else."""
        return self.read() != self.original

    @property
    def holds_something(self) -> bool:
        """True if what the editor left is worth keeping, such as a file from which it restores an unsaved text."""
        return not _holds_nothing_new(self.path.parent)

    def keep(self, error: GitticksError) -> None:
        """Closes the copy, which could not be taken, and adds to the error's hint that it is kept, and where."""
        own = f"{error.hint}; " if error.hint else ""
        again = f"; `gt edit {self.task}` opens it again" if self.task else ""
        is_saved = self.path.exists() and self.is_changed
        error.hint = f"{own}your text is kept in `{self.path if is_saved else self.path.parent}`{again}"
        self.close()

    def drop(self) -> None:
        """Removes the copy, once it was applied or holds nothing new."""
        shutil.rmtree(self.path.parent, ignore_errors=True)
        self.close()

    def close(self) -> None:
        """Lets others have the copy."""
        os.close(self.lock)


def make_draft(
    context: Context, content: bytes, name: str, *, line: int | None = None, task: TaskId | None = None
) -> Draft:
    """Writes a private copy into the clone's own folder and returns it."""
    with _all_drafts(context) as drafts:
        folder = Path(tempfile.mkdtemp(prefix=f"{task}-" if task else None, dir=drafts))
        try:
            with errors_name(folder / name):
                lock = _locked(folder, os.O_RDWR | os.O_CREAT | os.O_EXCL)
                (folder / _ORIGINAL).write_bytes(content)
                (folder / name).write_bytes(content)
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return Draft(folder / name, content, lock, line, task)


def kept_draft(context: Context, task: TaskId, name: str) -> Draft | None:
    """Returns the last draft of a task with something new that no editor has open; None if there is none."""
    with _all_drafts(context) as folder:
        kept = [
            one
            for one in folder.iterdir()
            if one.name.rpartition("-")[0] == task
            and (one / name).is_file()
            and (one / _ORIGINAL).is_file()
            and not is_lock_held(one / _ORIGINAL)
        ]
        if not kept:
            return None
        last = max(kept, key=lambda one: (one / name).stat().st_mtime_ns)
        lock = _locked(last, os.O_RDWR)
        return Draft(last / name, (last / _ORIGINAL).read_bytes(), lock, task=task)


@contextmanager
def _all_drafts(context: Context) -> Iterator[Path]:
    own_dir = context.repository.own_dir
    with hold_lock(own_dir / "drafts.lock"):
        folder = own_dir / "drafts"
        folder.mkdir(exist_ok=True)
        for one in folder.iterdir():  # what a killed command left if nobody wrote into it
            if one.is_dir() and not is_lock_held(one / _ORIGINAL) and _holds_nothing_new(one):
                shutil.rmtree(one, ignore_errors=True)
        yield folder


def keep_text(context: Context, text: str, error: GitticksError) -> None:
    """Keeps a text that nobody else has and that was not taken, and adds to the error's hint where."""
    draft = make_draft(context, b"", "TEXT.md")
    draft.path.write_text(f"{text.strip()}\n", "utf-8", "replace")
    draft.keep(error)


@contextmanager
def kept_on_error(draft: Draft) -> Iterator[None]:
    """Removes the draft when the block is done; where it fails, the draft stays and the error says where."""
    try:
        yield
    except GitticksError as error:
        draft.keep(error)
        raise
    draft.drop()


def _locked(folder: Path, flags: int) -> int:
    lock = os.open(folder / _ORIGINAL, flags | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def _holds_nothing_new(folder: Path) -> bool:
    original = folder / _ORIGINAL
    texts = [file for file in folder.iterdir() if file != original]
    as_it_was = original.read_bytes() if original.is_file() else b""
    return all(text.is_file() and text.read_bytes() in (b"", as_it_was) for text in texts)
