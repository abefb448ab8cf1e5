"""A cache of git's configuration: one session of an agent reads it a dozen times.

Only git reads these files, since an agent may have written them: what another reader understood otherwise would pass
unseen. All worktrees of a clone share what it says but for a file of their own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from gitticks.git.process import run_git
from gitticks.safe_read import read_plain_file

CONFIG_FILE = "config.worktree"
"""A worktree's own configuration, in its git directory."""
MOST_BYTES = 4_000_000

Entry = tuple[str, str, str]
"""Scope, key and value of a setting; sections and keys are in lower case, and the value is empty where there is none."""

_WORKTREE, _COMMAND = "worktree", "command"
_WORKTREES_HAVE_THEIRS = ("local", "extensions.worktreeconfig", "true")
_OF_OUR_CALL = "command line:"
_MOST_KNOWN = 100


class _Shared(NamedTuple):
    """The settings that all worktrees of a clone share, as of these stamps of the files."""

    stamps: Sequence[object]
    entries: tuple[Entry, ...]


_shared: dict[tuple[str, ...], _Shared] = {}
_of_files: dict[bytes, bytes] = {}
"""By the bytes of a configuration file that includes no other: what git reads of it."""


def read_all(git_dir: Path) -> tuple[Entry, ...]:
    """Returns every setting, in the order in which git reads them; those of scope `command` are ours."""
    files, own = _shared_files(git_dir), git_dir / CONFIG_FILE
    stamps = [_stamp(file) for file in files]
    known = _shared.get(files)
    if known is not None and known.stamps == stamps:
        of_worktree = _of_worktree(git_dir, own, known)
        if of_worktree is not None:
            before = [entry for entry in known.entries if entry[0] != _COMMAND]
            return (*before, *of_worktree, *known.entries[len(before) :])
    asked = ["config", "--null", "--show-scope", "--show-origin", "--list"]
    words = run_git(asked, repository_dir=git_dir).text.split("\0")
    entries = tuple(
        (scope, *entry.partition("\n")[::2]) for scope, entry in zip(words[::3], words[2::3], strict=False)
    )
    origins = {os.path.realpath(one.removeprefix("file:")) for one in words[1::3] if one != _OF_OUR_CALL}
    includes = any(key.startswith("include") for _, key, _ in entries)  # what it names may appear unseen
    is_all = origins <= {os.path.realpath(file) for file in (*files, str(own))}
    if not includes and is_all and stamps == [_stamp(file) for file in files]:
        if len(_shared) >= _MOST_KNOWN:
            _shared.clear()
        _shared[files] = _Shared(stamps, tuple(entry for entry in entries if entry[0] != _WORKTREE))
    return entries


def list_file(git_dir: Path, file: Path) -> bytes | None:
    """Returns key and value of each setting of one file and what it includes, as git lists them; None if it cannot."""
    content = bytes_of(file)
    # What a file includes may change by itself.
    is_closed = content is not None and b"include" not in content.lower()
    known = _of_files.get(content) if content is not None and is_closed else None
    if known is not None:
        return known
    asked = ["config", f"--file={file}", "--includes", "--null", "--list"]
    listed = run_git(asked, repository_dir=git_dir, check=False)
    if listed.code != 0:
        return None
    if content is not None and is_closed and content == bytes_of(file):
        if len(_of_files) >= _MOST_KNOWN:
            _of_files.clear()
        _of_files[content] = listed.stdout
    return listed.stdout


def pairs_of(listed: bytes) -> Iterator[tuple[str, str]]:
    """Yields key and value of each setting that git listed."""
    for entry in os.fsdecode(listed).split("\0"):
        key, _, value = entry.partition("\n")
        if key:
            yield key, value


def bytes_of(file: Path) -> bytes | None:
    """Returns what is in a configuration file; None if it cannot be read."""
    try:
        return read_plain_file(file, MOST_BYTES)
    except OSError:
        return None


def _of_worktree(git_dir: Path, own: Path, known: _Shared) -> tuple[Entry, ...] | None:
    """Returns what a worktree's own file says; None where only git can tell."""
    if not os.path.lexists(own):
        return ()
    content = bytes_of(own)
    said = [entry for entry in known.entries if entry[1] == _WORKTREES_HAVE_THEIRS[1]]
    if content is None or b"include" in content.lower() or said[-1:] != [_WORKTREES_HAVE_THEIRS]:
        return None
    listed = list_file(git_dir, own)
    return None if listed is None else tuple((_WORKTREE, key, value) for key, value in pairs_of(listed))


def _shared_files(git_dir: Path) -> tuple[str, ...]:
    """Returns where git looks for the configuration of a clone, apart from what these files include."""
    common = git_dir / "commondir"
    shared = git_dir / common.read_text().strip() if common.exists() else git_dir
    home = os.environ.get("HOME", "")
    own = os.environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    chosen = os.environ.get("GIT_CONFIG_GLOBAL")
    named = (
        os.environ.get("GIT_CONFIG_SYSTEM", "/etc/gitconfig"),
        *((f"{own}/git/config", f"{home}/.gitconfig") if chosen is None else (chosen,)),
        f"{os.path.realpath(shared)}/config",
    )
    return tuple(map(str, named))


def _stamp(file: str) -> tuple[int, ...] | None:
    """Returns what differs once a file was written, and cannot be set back by who wrote it; None if it is missing."""
    try:
        found = Path(file).stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
