"""Reads and changes single entries of a checkout's index, and lets it appear whole in one rename.

To be called with the checkout's `index.lock` held. No content of a file is read for it, so no filter runs. An index
in its plain form is changed here, any other by git itself.

Git sees by size and time whether a file is unchanged, by whole seconds where it was built so. What was written in the
second of the index itself it compares by content, as a change of the same length would not show. An index that is
written later must not take that away from entries of the earlier second.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gitticks.git.plainindex import BASE, OURS, RESOLVED, THEIRS, IndexEntry, PlainIndex
from gitticks.git.refs import NO_OBJECT

__all__ = ["BASE", "OURS", "RESOLVED", "THEIRS", "IndexEntry", "index_aside", "read_entries", "write_entries"]

_MOST_BY_HAND = 1000
"""Each entry moves all behind it; git sorts more of them at once in less time than that takes."""
_MOST_NAMED = 500
"""A system takes only so many words with a command; git lists its whole index as quickly."""
_SECOND_NS = 1_000_000_000
_TICK_SECONDS = 0.01
"""As coarse as the times of files are on some kernels: so long may a file still get a time of the second before."""


def read_entries(git_dir: Path, paths: Sequence[str]) -> dict[str, dict[int, IndexEntry]]:
    """Returns the entries of these paths by path and stage; a path that the index does not know is missing."""
    if not paths:
        return {}
    plain = _read_plain(git_dir, None)
    if plain is not None:
        return {path: entries for path in paths if (entries := plain.entries(path))}
    return _read_by_git(git_dir, paths)


def write_entries(
    git_dir: Path,
    work_tree: Path,
    paths: Mapping[str, Sequence[IndexEntry]],
    entries_end: int | None = None,
) -> int | None:
    """Makes these entries, of any stages, all that the index says of each path; none of them removes the path.

    Args:
        git_dir: of the checkout.
        work_tree: of the checkout, where the files are.
        paths: the entries by path.
        entries_end: what the last call returned, if nobody else has written the index since.

    Returns:
        where the entries end in the index, which spares the next call a walk over them; None if that is not known.
    """
    if not paths:
        return entries_end
    plain = _read_plain(git_dir, entries_end) if len(paths) <= _MOST_BY_HAND else None
    if plain is not None and plain.replace(paths):
        _write_plain(git_dir, work_tree, plain)
        return plain.entries_end
    _write_by_git(git_dir, paths)
    return None


def _read_plain(git_dir: Path, entries_end: int | None) -> PlainIndex | None:
    try:
        return PlainIndex.parse((git_dir / "index").read_bytes(), entries_end)
    except FileNotFoundError:
        return None


def _write_plain(git_dir: Path, work_tree: Path, plain: PlainIndex) -> None:
    before = (git_dir / "index").stat()
    second, is_checked = before.st_mtime_ns // _SECOND_NS, False
    with index_aside(git_dir) as aside:
        while True:
            if not is_checked and int(time.time() - _TICK_SECONDS) != second:
                plain.distrust(second, work_tree)
                is_checked = True
            aside.unlink(missing_ok=True)  # at first the second name of the index itself
            with aside.open("xb") as file:
                plain.write(file)
            if is_checked or aside.stat().st_mtime_ns // _SECOND_NS == second:
                break
        aside.chmod(before.st_mode)


def _read_by_git(git_dir: Path, paths: Sequence[str]) -> dict[str, dict[int, IndexEntry]]:
    from gitticks.git.process import run_git

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


def _write_by_git(git_dir: Path, paths: Mapping[str, Sequence[IndexEntry]]) -> None:
    from gitticks.git.process import run_git

    lines = []
    for path, entries in paths.items():
        lines.append(f"0 {NO_OBJECT}\t{path}")
        lines += [f"{entry.mode} {entry.object_id} {entry.stage}\t{path}" for entry in entries]
    with index_aside(git_dir) as aside:
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
            # Git goes on comparing what it compared, until it has noted anew what is unchanged.
            os.utime(aside, ns=(before.st_atime_ns, before.st_mtime_ns))


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
