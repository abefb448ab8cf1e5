"""What lies in the places of our own folder in the git directory, all of which can be moved away and is made again."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from shlex import quote

from gitticks.actions.context import Context
from gitticks.actions.doctor.finding import Finding, Severity
from gitticks.store.layout import STATE_REF

_FOLDERS = (
    "sessions", "held", "drafts", "transcripts", "tmp", "tmp/board", "rescue", "merge", "hooks", "workspace-hooks",
    "checkout-hooks",
)  # fmt: skip
_FILES = (
    "lock", "chain", "hooks.lock", "worktrees.lock", "run.lock", "merge.lock", "base.lock", "stop-run",
    "board.json", "base-move.json", "doctor.json", "notices.json",
    "index.sqlite3", "index.sqlite3-journal", "index.lock",
)  # fmt: skip


_OF_SESSIONS = frozenset({".json", ".lock", ".tree", ".new"})


def check_log(context: Context) -> Iterator[Finding]:
    """Yields what lies where git keeps the log of the state branch, so that nothing is written into it any more."""
    log = context.repository.common_dir / "logs" / STATE_REF
    if _is_other(log, _is_file):
        yield replace(_in_the_way(log, "file"), severity=Severity.WARNING)


def check_places(context: Context) -> Iterator[Finding]:
    """Yields what lies where gitticks keeps a file or a folder of its own, and is none."""
    own = context.repository.own_dir
    if not os.path.lexists(own):
        return
    if not _is_folder(own):
        yield _in_the_way(own, "folder")
        return
    yield from (_in_the_way(own / name, "folder") for name in _FOLDERS if _is_other(own / name, _is_folder))
    yield from (_in_the_way(own / name, "file") for name in _FILES if _is_other(own / name, _is_file))
    sessions = own / "sessions"
    for file in sorted(sessions.iterdir()) if _is_folder(sessions) else ():
        if file.suffix not in _OF_SESSIONS:
            continue
        if not _is_file(file):
            yield _in_the_way(file, "file")
        elif file.suffix == ".json" and not _is_record(file):
            what = f"`{file}` is no record of a session that can be read, and counts for nothing"
            yield Finding(Severity.WARNING, what, f"`rm {quote(str(file))}`")


def _in_the_way(place: Path, what: str) -> Finding:
    return Finding(
        Severity.ERROR,
        f"`{place}` is no {what}, and in the way of one",
        f"`mv {quote(str(place))} {quote(f'{place}.old')}` makes way",
    )


def _is_other(place: Path, is_right: Callable[[Path], bool]) -> bool:
    """True if something is there, and it is not what it should be."""
    return os.path.lexists(place) and not is_right(place)


def _is_folder(place: Path) -> bool:
    return os.path.lexists(place) and stat.S_ISDIR(place.lstat().st_mode)


def _is_file(place: Path) -> bool:
    return stat.S_ISREG(place.lstat().st_mode)


def _is_record(file: Path) -> bool:
    from gitticks.runner.records import read_record

    return read_record(file) is not None
