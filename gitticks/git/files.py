"""Replaces the files of a checkout without losing what a person saves meanwhile, and files of our own whole."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Self

from gitticks.errors import GitticksError
from gitticks.git.disk import exchange, load_exchange, move_to_free_place, sync_files, write_all
from gitticks.safe_read import open_plain_file

_NOT_PLAIN = (errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.ENOTDIR, errno.EISDIR, errno.ENODEV)
_MOST_LOOKS, _PAUSE_SECONDS, _TIMES_LONGER = 8, 0.01, 10
SCRATCH_IN_CHECKOUT = ".gitticks-tmp"
"""Where new content is prepared if the git directory is on another file system than the checkout."""


class NotPlainError(GitticksError):
    """A path is a folder, a symbolic link or a device, or leads through one that is no folder."""


def not_plain(path: str) -> NotPlainError:
    """Returns the error for a path where something else than a file is, or than a folder on the way to it."""
    return NotPlainError(f"`{path}` is not a regular file", hint=f"move `{path}` out of the way")


class PreparedFiles:
    """Files with new content, each to be taken once.

    A process that is killed leaves some of them; whoever comes next sweeps the folder, as after any write.
    """

    def __init__(self) -> None:
        self._files: dict[bytes, list[Path]] = {}

    def add(self, folder: Path, contents: Iterable[bytes]) -> None:
        """Writes a file in `folder` for each content, and waits once until all are on disk and can be put in place."""
        folder.mkdir(parents=True, exist_ok=True)
        try:
            for number, content in enumerate(contents):
                path = folder / f"{os.getpid()}-many-{number}"
                self._files.setdefault(content, []).append(path)
                _write(path, content)
            sync_files([str(path) for paths in self._files.values() for path in paths], [str(folder)])
            load_exchange()
        except OSError:
            self.drop()
            raise

    def take(self, content: bytes) -> Path | None:
        """Returns a file that holds the content and is the caller's from now on; None if there is none."""
        paths = self._files.get(content)
        return paths.pop() if paths else None

    def drop(self) -> None:
        """Removes those that nobody took."""
        for paths in self._files.values():
            for path in paths:
                path.unlink(missing_ok=True)
        self._files.clear()


def _write(path: Path, content: bytes) -> None:
    """Writes a new file; opening it as Python does asks of each whether it is a terminal, and where it begins."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        write_all(descriptor, content)
    finally:
        os.close(descriptor)


class Replaced(NamedTuple):
    """What came of replacing a file: `is_done` unless somebody else had written in between, and then it is theirs.

    `rescued` are bytes that had no other place.
    """

    is_done: bool
    rescued: tuple[Path, ...] = ()


class CheckoutFiles(NamedTuple):
    """The files below `root`; new content is prepared in `scratch`, on the same file system, rescued in `rescue`.

    What is `ready` need not be prepared any more.

    One process at a time works on a checkout in this way: callers hold a lock of ours.
    """

    root: Path
    scratch: Path
    rescue: Path
    ready: PreparedFiles

    @classmethod
    def at(cls, root: Path, own_dir: Path, name: str) -> Self:
        """Returns the files of the checkout at `root`; `name` tells its scratch folder from those of others."""
        own_dir.mkdir(parents=True, exist_ok=True)
        here = own_dir.stat().st_dev == root.stat().st_dev
        scratch = own_dir / "tmp" / name if here else root / SCRATCH_IN_CHECKOUT
        return cls(root, scratch, own_dir / "rescue", PreparedFiles())

    def sweep(self, is_stored: Callable[[bytes], bool]) -> tuple[Path, ...]:
        """Clears what a killed process left in the scratch folder, and returns where it was kept.

        Only what `is_stored` in the repository is deleted: a process can be killed while it holds what a person has just
        saved.
        """
        if not self.scratch.is_dir():
            return ()
        kept = []
        for file in sorted(self.scratch.iterdir()):
            content = _content(file)
            if not content or is_stored(content):
                file.unlink()
            else:
                kept.append(self._keep(file, "left-behind"))
        return tuple(kept)

    def read(self, path: str) -> bytes | None:
        """Returns the bytes of the file, or None if there is none; no symbolic link is followed.

        Raises:
            NotPlainError: something else than a file is there.
        """
        if not self._has_folder(path):
            return None
        try:
            descriptor, _ = open_plain_file(self._place(path), follow=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in _NOT_PLAIN:
                raise not_plain(path) from error
            raise
        with os.fdopen(descriptor, "rb") as file:
            return file.read()

    def read_at_rest(self, path: str, quiet_seconds: float) -> bytes | None:
        """Returns the bytes of the file once it was left alone for that long; None if it never is, or none is there."""
        for _ in range(_MOST_LOOKS):
            if (age := self.age_seconds(path)) is None:
                return None
            missing = self.seconds_to_rest(path, quiet_seconds)
            content = self.read(path)
            if not missing and (self.age_seconds(path) or 0) >= age:
                return content
            time.sleep(max(missing, _PAUSE_SECONDS))
        return None

    def seconds_to_rest(self, path: str, quiet_seconds: float, content: bytes | None = None) -> float:
        """Returns how much longer the file has to be left alone; 0 if it was for long enough, or is none.

        An empty one has to rest for longer: it is how a program begins to write. Whether it is, its `content` says,
        which was read just now: it may have grown since.
        """
        age = self.age_seconds(path)
        if age is None:
            return 0
        is_empty = content == b"" or not self.size_bytes(path)
        return max(quiet_seconds * (_TIMES_LONGER if is_empty else 1) - abs(age), 0)

    def age_seconds(self, path: str) -> float | None:
        """Returns how long ago the file was written (negative: its time lies ahead); None if there is none."""
        found = self._status(path)
        return None if found is None else time.time() - found.st_mtime

    def size_bytes(self, path: str) -> int | None:
        """Returns how large the file is, or what else is there; None if there is nothing."""
        found = self._status(path)
        return None if found is None else found.st_size

    def is_executable(self, path: str) -> bool:
        """True if the file is there and its owner may run it."""
        found = self._status(path)
        return found is not None and stat.S_ISREG(found.st_mode) and bool(found.st_mode & stat.S_IXUSR)

    def is_gone(self, path: str) -> bool:
        """True if nothing is at a path, or a folder, which may have taken a file's place."""
        found = self._status(path)
        return found is None or stat.S_ISDIR(found.st_mode)

    def replace(self, path: str, expected: bytes | None, wanted: bytes | None) -> Replaced:
        """Makes the file `wanted` if it is still `expected`; None means that there is no file.

        Raises:
            NotPlainError: something else than a file is in the way.
        """
        if wanted is None:
            return Replaced(is_done=True) if expected is None else self._remove(path, expected)
        prepared = self._prepare(wanted)
        try:
            return self._put(path, expected, wanted, prepared)
        finally:
            prepared.unlink(missing_ok=True)

    def keep_bytes(self, content: bytes, path: str) -> Path:
        """Writes a rescue file with bytes that have no other place any more, and returns where it is."""
        return self._keep(self._prepare(content), path.rpartition("/")[2])

    def _put(self, path: str, expected: bytes | None, wanted: bytes, prepared: Path) -> Replaced:
        if expected is None:
            self._make_folder(path)
            try:
                return Replaced(move_to_free_place(prepared, self._place(path)))
            except (FileNotFoundError, NotADirectoryError):  # a folder went away since it was looked at
                self._make_folder(path)
                return Replaced(move_to_free_place(prepared, self._place(path)))
        file = self.root / path
        try:
            prepared.chmod(stat.S_IMODE(file.lstat().st_mode))
            swapped = exchange(prepared, file)
        except FileNotFoundError:
            return Replaced(is_done=False)
        if not swapped:
            return self._put_without_exchange(file, expected, prepared)
        if _content(prepared) == expected:
            return Replaced(is_done=True)
        try:
            exchange(prepared, file)
            is_ours_again = _content(prepared) == wanted
        except FileNotFoundError:  # the person's next move was to delete it: what they had saved is kept
            is_ours_again = False
        return Replaced(is_done=False, rescued=() if is_ours_again else (self._keep(prepared, file.name),))

    def _put_without_exchange(self, file: Path, expected: bytes, prepared: Path) -> Replaced:
        """Does the same with a second link to the old file; a rename of a third party between the two is not seen."""
        aside = self._free_name()
        try:
            os.link(file, aside, follow_symlinks=False)
        except FileNotFoundError:
            return Replaced(is_done=False)
        try:
            if _content(aside) != expected:
                return Replaced(is_done=False)
            prepared.replace(file)
            if _content(aside) == expected:
                return Replaced(is_done=True)
            return Replaced(is_done=False, rescued=(self._keep(aside, file.name),))
        finally:
            aside.unlink(missing_ok=True)

    def _remove(self, path: str, expected: bytes) -> Replaced:
        file = self.root / path
        aside = self._free_name()
        try:
            file.rename(aside)
        except FileNotFoundError:
            return Replaced(is_done=False)
        if _content(aside) == expected:
            aside.unlink()
            remove_empty_folders(self.root, file)
            return Replaced(is_done=True)
        try:
            os.link(aside, file, follow_symlinks=False)
        except FileExistsError:  # and they have saved once more since
            return Replaced(is_done=False, rescued=(self._keep(aside, file.name),))
        aside.unlink()
        return Replaced(is_done=False)

    def _prepare(self, content: bytes) -> Path:
        ready = self.ready.take(content)
        if ready is not None:
            return ready
        prepared = self._free_name()
        try:
            with errors_name(prepared), prepared.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            prepared.unlink(missing_ok=True)
            raise
        return prepared

    def _keep(self, file: Path, name: str) -> Path:
        self.rescue.mkdir(parents=True, exist_ok=True)
        kept = self.rescue / f"{time.time_ns()}-{name}"
        shutil.move(file, kept)
        return kept

    def _free_name(self) -> Path:
        self.scratch.mkdir(parents=True, exist_ok=True)
        return self.scratch / f"{os.getpid()}-{time.time_ns()}"

    def _place(self, path: str) -> str:
        return f"{self.root}/{path}"

    def _status(self, path: str) -> os.stat_result | None:
        try:
            return os.lstat(self._place(path))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _has_folder(self, path: str) -> bool:
        """True if the folder of the file at `path` is there; no symbolic link is followed.

        Raises:
            NotPlainError: something else is in the place of it, or of one above it.
        """
        folder = str(self.root)
        for name in path.split("/")[:-1]:
            folder += f"/{name}"
            try:
                mode = os.lstat(folder).st_mode
            except FileNotFoundError:
                return False
            if not stat.S_ISDIR(mode):
                raise not_plain(path)
        return True

    def _make_folder(self, path: str) -> None:
        if not self._has_folder(path):
            os.makedirs(f"{self.root}/{path.rpartition('/')[0]}", exist_ok=True)  # noqa: PTH103 - strings all the way


def remove_empty_folders(top: Path, place: Path) -> None:
    """Removes the folders above a place that are empty, below `top`."""
    with contextlib.suppress(OSError):
        for folder in place.parents:
            if folder == top:
                return
            folder.rmdir()


def set_mode(file: Path, *, executable: bool) -> None:
    """Lets all who may read a file run it, or nobody."""
    mode = stat.S_IMODE(file.lstat().st_mode)
    readers = (mode & 0o444) >> 2
    file.chmod((mode | readers) if executable else (mode & ~0o111))


def write_synced(file: Path, content: bytes, *, mode: int = 0o666) -> None:
    """Replaces a file of our own whole: after a crash it holds the old bytes or the new ones.

    What cannot be written, as on a full disk, leaves nothing beside it. To be called with the lock held that guards the
    file; what a killed writer prepared is written over, and no link in its place is followed.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    aside = file.with_name(f"{file.name}.new")
    try:
        with errors_name(file):
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(aside, flags, mode), "wb") as writing:
                writing.write(content)
                writing.flush()
                os.fsync(writing.fileno())
    except OSError:
        aside.unlink(missing_ok=True)
        raise
    aside.replace(file)


@contextlib.contextmanager
def errors_name(file: Path) -> Iterator[None]:
    """Lets an OSError that names no file, as those of a write do on a full disk, name this one."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(file)
        raise


def _content(file: Path) -> bytes | None:
    """Returns the bytes of a file; None for what is not a regular file, which equals no expected bytes."""
    if not stat.S_ISREG(file.lstat().st_mode):
        return None
    return file.read_bytes()
