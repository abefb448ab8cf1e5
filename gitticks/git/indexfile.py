"""Locks a checkout's index as git does, and reads and changes its entries through git."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gitticks.git.process import run_git
from gitticks.git.refs import nothing_like
from gitticks.safe_read import read_plain_file

WAIT_SECONDS = 2.0
HOOK_SECONDS = 20.0
"""So long git is waited for while it waits for a hook of ours; it has little left to do then."""

_POLL_SECONDS = 0.005
_AT_WORK = "gitticks-hook-at-work"
OWN_MARK = b"gitticks "
_MOST_OWN_BYTES = 100

INDEX, INDEX_LOCK = "index", "index.lock"
RESOLVED, BASE, OURS, THEIRS = range(4)
"""The stages of an entry; a path with others than the first is in conflict."""
_MOST_NAMED = 500
"""A system takes only so many words with a command; git lists its whole index as quickly."""


@contextlib.contextmanager
def hold_index_lock(git_dir: Path, *, wait_seconds: float = WAIT_SECONDS) -> Iterator[bool]:
    """Holds the index of the checkout that `git_dir` belongs to; yields False if a program has had it for too long.

    A lock that was there for `wait_seconds` already is not waited for again: it is a person's editor, or a leftover
    that only they can judge. But where git waits for a hook of ours, as `saying_at_work` says, it is not given up: the
    commit would fail. To be called with the lock of ours that guards this checkout held.
    """
    lock = git_dir / "index.lock"
    mine = git_dir / "gitticks-index-lock"
    mine.unlink(missing_ok=True)  # a killed holder's, perhaps the very file that is linked as the lock
    with mine.open("xb", buffering=0) as ours:  # open to the end, so that no other file gets its number
        try:
            ours.write(OWN_MARK + str(os.getpid()).encode() + b"\n")
            is_held = _link(mine, lock, wait_seconds)
        finally:
            mine.unlink()
        try:
            yield is_held
        finally:
            # Not that of whoever came after a person had removed ours; it need not be opened for that.
            with contextlib.suppress(FileNotFoundError):
                if is_held and os.path.samestat(lock.lstat(), os.fstat(ours.fileno())):
                    lock.unlink()


@contextlib.contextmanager
def saying_at_work(git_dir: Path) -> Iterator[None]:
    """Lets whoever wants the index wait until a hook is done, and git with it, which may hold the index's lock."""
    file = git_dir / _AT_WORK
    with contextlib.suppress(OSError):
        file.touch()
    try:
        yield
    finally:
        nearly_over = time.time() - HOOK_SECONDS + WAIT_SECONDS
        with contextlib.suppress(OSError):
            os.utime(file, (nearly_over, nearly_over))


def _link(mine: Path, lock: Path, wait_seconds: float) -> bool:
    end = time.monotonic() + wait_seconds
    while True:
        try:
            os.link(mine, lock)
        except FileExistsError:
            if _clear_own(lock):
                continue
            is_over = time.monotonic() >= end or _age_seconds(lock) >= wait_seconds
            if is_over and (
                not wait_seconds or _age_seconds(lock.with_name(_AT_WORK), HOOK_SECONDS) >= HOOK_SECONDS
            ):
                return False
            time.sleep(_POLL_SECONDS)
        else:
            return True


def _clear_own(lock: Path) -> bool:
    """Removes the lock if it is of ours; True unless another program has it."""
    try:
        if not read_plain_file(lock, _MOST_OWN_BYTES).startswith(OWN_MARK):
            return False
        lock.unlink()
    except FileNotFoundError:
        return True
    except OSError:  # larger than any of ours, or no file
        return False
    return True


def _age_seconds(file: Path, if_gone: float = 0.0) -> float:
    try:
        return time.time() - file.stat().st_mtime
    except FileNotFoundError:
        return if_gone


class IndexEntry(NamedTuple):
    """One entry of the index: a blob's, with 0 or the side of a conflict, and git's mode in octal digits."""

    path: str
    object_id: str
    stage: int = RESOLVED
    mode: str = "100644"


def read_entries(git_dir: Path, paths: Sequence[str]) -> dict[str, dict[int, IndexEntry]]:
    """Returns the entries of these paths by path and stage; a path that the index does not know is missing."""
    if not paths:
        return {}
    wanted = frozenset(paths)
    named = ["--", *paths] if len(paths) <= _MOST_NAMED else []
    listed = _git(git_dir, ["--literal-pathspecs", "ls-files", "--stage", "-z", *named])
    found: dict[str, dict[int, IndexEntry]] = {}
    for line in os.fsdecode(listed).split("\0")[:-1]:
        words, _, path = line.partition("\t")
        if path in wanted:
            mode, object_id, stage = words.split(" ")
            found.setdefault(path, {})[int(stage)] = IndexEntry(path, object_id, int(stage), mode)
    return found


def write_entries(
    git_dir: Path, paths: Mapping[str, Sequence[IndexEntry]], commit: str, *, name: str = INDEX
) -> None:
    """Makes these entries, of any stages, all that the index says of each path; none of them removes the path.

    Any object of the repository, as `commit`, tells how long its ids are. `name` is the file of the index: git's hooks
    find what is about to be committed in its lock.
    """
    if not paths:
        return
    with index_aside(git_dir, name) as aside:
        _write(git_dir, aside, paths, commit)


@contextlib.contextmanager
def index_ready(git_dir: Path, paths: Mapping[str, Sequence[IndexEntry]], commit: str) -> Iterator[Path]:
    """Gives what the index would be with these entries, as `write_entries` takes them, to be renamed under its lock."""
    with second_name(git_dir, INDEX, "gitticks-index-ready") as aside:
        _write(git_dir, aside, paths, commit)
        yield aside


@contextlib.contextmanager
def index_aside(git_dir: Path, name: str = INDEX) -> Iterator[Path]:
    """Gives a second name to the index, to be changed by git there, and puts the result in its place.

    After an exception nothing changed.
    """
    with second_name(git_dir, name, "gitticks-index") as aside:
        yield aside
        if aside.exists():
            aside.replace(git_dir / name)


def _write(git_dir: Path, aside: Path, paths: Mapping[str, Sequence[IndexEntry]], commit: str) -> None:
    before = aside.stat() if aside.exists() else None
    lines = []
    for path, entries in paths.items():
        lines.append(f"0 {nothing_like(commit)}\t{path}")
        lines += [f"{entry.mode} {entry.object_id} {entry.stage}\t{path}" for entry in entries]
    given = b"".join(os.fsencode(line) + b"\0" for line in lines)
    _git(git_dir, ["update-index", "-z", "--index-info"], given, {"GIT_INDEX_FILE": str(aside)})
    if before is not None:
        # A file that was changed in the second of the index git compares by content: so it continues doing.
        os.utime(aside, ns=(before.st_atime_ns, before.st_mtime_ns))


def _git(
    git_dir: Path, asked: Sequence[str], given: bytes = b"", variables: Mapping[str, str] | None = None
) -> bytes:
    """Runs git on an index, and looks at no file for it."""
    return run_git(
        asked,
        repository_dir=git_dir,
        work_tree=git_dir,
        directory=git_dir,
        input=given,
        extra_environment=variables,
    ).stdout


@contextlib.contextmanager
def second_name(git_dir: Path, name: str, second: str) -> Iterator[Path]:
    """Gives a second name to an index; git replaces it by renaming, so the shared bytes are never written to."""
    aside = git_dir / second
    for leftover in (aside, git_dir / f"{second}.lock"):
        leftover.unlink(missing_ok=True)
    with contextlib.suppress(FileNotFoundError):  # a checkout without an index yet
        os.link(git_dir / name, aside)
    try:
        yield aside
    finally:
        aside.unlink(missing_ok=True)
