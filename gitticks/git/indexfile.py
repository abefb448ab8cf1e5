"""Reads and changes single entries of a checkout's index by git, and lets it appear whole in one rename.

To be called with the checkout's `index.lock` held. No content of a file is read for it, so no filter runs; whether a
file is unchanged git finds out when it next looks.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gitticks.git.process import run_git
from gitticks.git.refs import nothing_like

INDEX, INDEX_LOCK = "index", "index.lock"
RESOLVED, BASE, OURS, THEIRS = range(4)
"""The stages of an entry; a path with others than the first is in conflict."""
_MOST_NAMED = 500
"""A system takes only so many words with a command; git lists its whole index as quickly."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One entry of the index.

    Attributes:
        path: from the top of the checkout.
        object_id: the blob's.
        stage: 0, or the side of a conflict.
        mode: as git writes it, in octal digits.
    """

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
    listed = run_git(
        ["--literal-pathspecs", "ls-files", "--stage", "-z", *named],
        repository_dir=git_dir,
        work_tree=git_dir,
        directory=git_dir,
    ).stdout
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

    Args:
        git_dir: of the checkout.
        paths: the entries by path.
        commit: any object of the repository, which tells how long its ids are.
        name: the file of the index; git's hooks find what is about to be committed in its lock.
    """
    if not paths:
        return
    with index_aside(git_dir, name) as aside:
        _write(git_dir, aside, paths, commit)


@contextlib.contextmanager
def index_ready(git_dir: Path, paths: Mapping[str, Sequence[IndexEntry]], commit: str) -> Iterator[Path]:
    """Gives what the index would be with these entries, as `write_entries` takes them, to be renamed under its lock."""
    with _second_name(git_dir, INDEX, "gitticks-index-ready") as aside:
        _write(git_dir, aside, paths, commit)
        yield aside


@contextlib.contextmanager
def index_aside(git_dir: Path, name: str = INDEX) -> Iterator[Path]:
    """Gives a second name to the index, to be changed by git there, and puts the result in its place.

    After an exception nothing changed.
    """
    with _second_name(git_dir, name, "gitticks-index") as aside:
        yield aside
        if aside.exists():
            aside.replace(git_dir / name)


def _write(git_dir: Path, aside: Path, paths: Mapping[str, Sequence[IndexEntry]], commit: str) -> None:
    lines = []
    for path, entries in paths.items():
        lines.append(f"0 {nothing_like(commit)}\t{path}")
        lines += [f"{entry.mode} {entry.object_id} {entry.stage}\t{path}" for entry in entries]
    before = aside.stat() if aside.exists() else None
    run_git(
        ["update-index", "-z", "--index-info"],
        repository_dir=git_dir,
        work_tree=git_dir,
        directory=git_dir,
        input=b"".join(os.fsencode(line) + b"\0" for line in lines),
        extra_environment={"GIT_INDEX_FILE": str(aside)},
    )
    if before is not None:
        # A file that was changed in the second of the index git compares by content: so it goes on doing.
        os.utime(aside, ns=(before.st_atime_ns, before.st_mtime_ns))


@contextlib.contextmanager
def _second_name(git_dir: Path, name: str, second: str) -> Iterator[Path]:
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
