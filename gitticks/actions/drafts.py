"""Private drafts for an editor, kept as long as they may hold something unsaved.

Each is in a folder of its own beside the text as it was. That file is locked for as long as the command or its
editor lives, so the drafts of killed commands are known; one that holds nothing new goes with the next that is made.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from gitticks.actions.context import Context
from gitticks.errors import GitticksError
from gitticks.flocks import is_lock_held
from gitticks.git.files import errors_name
from gitticks.git.locks import hold_lock
from gitticks.safe_read import reason_of

_ORIGINAL = "as-it-was"


@dataclass(frozen=True, slots=True)
class Draft:
    """A private copy of a text for an editor, which inherits `lock`, an open file that is locked while the draft is in use.

    `line` is where the problem is, if the text is broken.
    """

    path: Path
    original: bytes
    lock: int
    line: int | None = None

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

    def say_where(self, error: GitticksError) -> None:
        """Adds to an error's hint that the text is kept, and where."""
        own = f"{error.hint}; " if error.hint else ""
        error.hint = f"{own}your text is kept in `{self.path}`"

    def drop(self) -> None:
        """Removes the copy, once it was applied or holds nothing new."""
        shutil.rmtree(self.path.parent, ignore_errors=True)
        os.close(self.lock)


def make_draft(context: Context, content: bytes, name: str, *, line: int | None = None) -> Draft:
    """Writes a private copy into the clone's own folder and returns it."""
    own_dir = context.repository.own_dir
    with hold_lock(own_dir / "drafts.lock"):
        folder = own_dir / "drafts"
        folder.mkdir(exist_ok=True)
        for one in folder.iterdir():
            _remove_if_unused(one)
        return _make(Path(tempfile.mkdtemp(dir=folder)), content, name, line)


@contextmanager
def text_kept_on_error(context: Context, text: str) -> Iterator[None]:
    """Keeps a text that nobody else has, such as what was typed or came by stdin, if the block fails; says where."""
    try:
        yield
    except GitticksError as error:
        if text.strip():
            draft = make_draft(context, b"", "TEXT.md")
            draft.path.write_text(f"{text.strip()}\n", "utf-8", "replace")
            draft.say_where(error)
        raise


@contextmanager
def kept_on_error(draft: Draft) -> Iterator[None]:
    """Removes the draft when the block is done; where it fails, the draft stays and the error says where."""
    try:
        yield
    except GitticksError as error:
        draft.say_where(error)
        raise
    draft.drop()


def _make(folder: Path, content: bytes, name: str, line: int | None) -> Draft:
    try:
        with errors_name(folder / name):
            lock = os.open(folder / _ORIGINAL, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
            (folder / _ORIGINAL).write_bytes(content)
            (folder / name).write_bytes(content)
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return Draft(folder / name, content, lock, line)


def _remove_if_unused(folder: Path) -> None:
    """Removes what a killed command left if nobody wrote into it; to be called with the lock of all drafts held."""
    original = folder / _ORIGINAL
    if not folder.is_dir() or is_lock_held(original):
        return
    texts = [file for file in folder.iterdir() if file != original]
    as_it_was = original.read_bytes() if original.is_file() else b""
    if all(text.is_file() and text.read_bytes() in (b"", as_it_was) for text in texts):
        shutil.rmtree(folder, ignore_errors=True)
