"""Reads and changes single entries of a checkout's index, by git itself, and lets it appear whole in one rename.

To be called with the checkout's `index.lock` held. No content of a file is read for it, so no filter runs.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gitticks.git.process import run_git

_NO_OBJECT = "0" * 40
RESOLVED, BASE, OURS, THEIRS = range(4)
"""The stages of an entry; a path with others than the first is in conflict."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One entry of the index."""

    path: str
    object_id: str
    stage: int = RESOLVED
    mode: str = "100644"


def read_entries(git_dir: Path, paths: Sequence[str]) -> dict[str, dict[int, IndexEntry]]:
    """Returns the entries of these paths by path and stage; a path that the index does not know is missing."""
    if not paths:
        return {}
    listed = run_git(
        ["--literal-pathspecs", "ls-files", "--stage", "-z", "--", *paths],
        repository_dir=git_dir,
        work_tree=git_dir,
        directory=git_dir,
    ).stdout
    found: dict[str, dict[int, IndexEntry]] = {}
    for line in os.fsdecode(listed).split("\0")[:-1]:
        words, _, path = line.partition("\t")
        mode, object_id, stage = words.split(" ")
        found.setdefault(path, {})[int(stage)] = IndexEntry(path, object_id, int(stage), mode)
    return found


def write_entries(git_dir: Path, paths: Mapping[str, Iterable[IndexEntry]]) -> None:
    """Makes these entries, of any stages, all that the index says of each path; none of them removes the path."""
    lines = []
    for path, entries in paths.items():
        lines.append(f"0 {_NO_OBJECT}\t{path}")
        lines += [f"{entry.mode} {entry.object_id} {entry.stage}\t{path}" for entry in entries]
    if not lines:
        return
    with index_aside(git_dir) as aside:
        run_git(
            ["update-index", "-z", "--index-info"],
            repository_dir=git_dir,
            work_tree=git_dir,
            directory=git_dir,
            input=b"".join(os.fsencode(line) + b"\0" for line in lines),
            extra_environment={"GIT_INDEX_FILE": str(aside)},
        )


@contextlib.contextmanager
def index_aside(git_dir: Path) -> Iterator[Path]:
    """Gives a second name to the index, to be changed by git there, and puts the result in its place.

    Git replaces an index by renaming, so the shared bytes are never written to. After an exception nothing changed.
    """
    index, aside = git_dir / "index", git_dir / "gitticks-index"
    for leftover in (aside, git_dir / "gitticks-index.lock"):
        leftover.unlink(missing_ok=True)
    with contextlib.suppress(FileNotFoundError):  # a checkout without an index yet
        os.link(index, aside)
    try:
        yield aside
        if aside.exists():
            aside.replace(index)
    finally:
        aside.unlink(missing_ok=True)
