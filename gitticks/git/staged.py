"""What a `git commit` is about to commit or has just committed, read inside git's hooks.

Nothing here locks the index: git may hold that lock itself while its hooks run.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gitticks.git.process import run_git
from gitticks.git.refs import BRANCHES, OBJECT_ID, end_of_log, has_ref, is_nothing
from gitticks.git.repository import Repository
from gitticks.safe_read import read_plain_text

_SERIES = ("rebase-merge", "rebase-apply", "sequencer")
_HEADS = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD")
_MADE_AGAIN = (b"cherry-pick", b"commit (cherry-pick)", b"revert", b"rebase", b"pull", b"am")
"""How git's log of HEAD begins to tell of a commit that was somebody's before; these words are never translated."""

_ID = OBJECT_ID.encode()
_MADE = re.compile(rb"%b (%b) [^\t]*\tcommit(?: \(amend\))?: .*" % (_ID, _ID))
_DEBUGGED = re.compile(rb"([^\0]+)\0  ctime: .*\n  mtime: (.*)\n  dev: .*\n  uid: .*\n  size: .*\n")
_LAST_LINE_BYTES = 64 * 1024
_MOST_OWN_COMMITS = 20
PLAIN_MODES = frozenset({"100644", "100755"})


class StagedChange(NamedTuple):
    """A path whose staged version differs from HEAD's; ids of blobs, None where there is no file.

    `is_plain` is False for a symbolic link or a submodule, `is_unmerged` True while a merge's conflict stands.
    """

    path: str
    old: str | None
    new: str | None
    is_plain: bool
    is_unmerged: bool
    old_mode: str = "100644"
    mode: str = "100644"


def staged_changes(repository: Repository, environment: Mapping[str, str]) -> tuple[StagedChange, ...]:
    """Returns what is staged, sorted by path, in the index that git names to its hooks."""
    options = ["--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "--end-of-options"]
    listed = _ask_index(repository, environment, "diff-index", *options, "HEAD")
    words = os.fsdecode(listed).split("\0")
    found = [_change(about, path) for about, path in zip(words[::2], words[1::2], strict=False)]
    return tuple(sorted(found, key=lambda change: change.path))


def _change(about: str, path: str) -> StagedChange:
    old_mode, new_mode, old, new, status = about.removeprefix(":").split(" ")
    return StagedChange(
        path,
        None if is_nothing(old) else old,
        None if is_nothing(new) else new,
        is_plain=new_mode in PLAIN_MODES or status == "D",
        is_unmerged=status == "U",
        old_mode=old_mode,
        mode=new_mode,
    )


def read_from_files(
    repository: Repository, environment: Mapping[str, str], paths: Sequence[str]
) -> frozenset[str]:
    """Returns which of these paths git staged as it read their files; not those of which a person chose parts."""
    asked = ["--literal-pathspecs", "ls-files", "--debug", "-z", "--", *paths]
    found = _DEBUGGED.finditer(_ask_index(repository, environment, *asked))
    return frozenset(os.fsdecode(one[1]) for one in found if one[2] != b"0:0")


def _ask_index(repository: Repository, environment: Mapping[str, str], *asked: str) -> bytes:
    """Returns what git says with the index that it names to its hooks."""
    folder = repository.here_worktree or repository.git_dir
    index = environment.get("GIT_INDEX_FILE")
    return run_git(
        asked,
        repository_dir=repository.git_dir,
        work_tree=folder,
        directory=folder,
        extra_environment={} if index is None else {"GIT_INDEX_FILE": str(folder / index)},
    ).stdout


def is_sequencing(git_dir: Path) -> bool:
    """True during a merge, rebase, cherry-pick or revert, whose commits are not a person's edits."""
    return is_in_series(git_dir) or any(has_ref(git_dir, name) for name in _HEADS)


def has_message(git_dir: Path) -> bool:
    """True if git has a message ready for the commit that waits in a worktree."""
    with contextlib.suppress(OSError, ValueError):
        return any(
            line.strip() and not line.startswith("#")
            for line in read_plain_text(git_dir / "MERGE_MSG").split("\n")
        )
    return False


def has_staged_changes(git_dir: Path, work_tree: Path) -> bool:
    """True if a worktree's index differs from its HEAD, or has conflicts; not where HEAD is no commit."""
    asked = ["diff-index", "--cached", "--quiet", "HEAD"]
    return run_git(asked, repository_dir=git_dir, work_tree=work_tree, check=False).code == 1


def is_in_series(git_dir: Path) -> bool:
    """True while git has more than one commit to make: whatever it does next begins from what it left."""
    return any((git_dir / name).exists() for name in _SERIES)


def rebased_from(git_dir: Path) -> str | None:
    """Returns the commit that a branch was at when git began to rebase it; None if nobody can tell."""
    return _of_rebase(git_dir, "orig-head")


def rebased_ref(git_dir: Path) -> str | None:
    """Returns the branch, as a ref, that git will move when the rebase in this worktree is over; None without one."""
    return _of_rebase(git_dir, "head-name")


def _of_rebase(git_dir: Path, name: str) -> str | None:
    for folder in ("rebase-merge", "rebase-apply"):
        with contextlib.suppress(OSError):
            return read_plain_text(f"{git_dir}/{folder}/{name}").strip()
    return None


def is_made_again(git_dir: Path) -> bool:
    """True after a commit that a cherry-pick, revert or rebase made, also where git has put its notes of that away."""
    last = end_of_log(git_dir, "HEAD", _LAST_LINE_BYTES).rpartition(b"\t")[2]
    return is_sequencing(git_dir) or last.startswith(_MADE_AGAIN)


def own_commits(git_dir: Path) -> tuple[str, ...]:
    """Returns what a plain `git commit` made last in a worktree, the newest first; no merges, picks and the like."""
    lines = end_of_log(git_dir, "HEAD", _LAST_LINE_BYTES).splitlines()
    made = [match[1].decode() for line in lines if (match := _MADE.fullmatch(line))]
    return tuple(reversed(made[-_MOST_OWN_COMMITS:]))


def version_before(repository: Repository, branch: str, commit: str, parent: str) -> str:
    """Returns the commit that a fresh commit is to be compared with: its parent, or the one that it amended."""
    asked = ["rev-parse", "--verify", "--quiet", "--end-of-options"]

    def find(revision: str) -> str:
        return run_git([*asked, revision], repository_dir=repository.git_dir, check=False).text

    ref = BRANCHES + branch
    before = find(f"{ref}@{{1}}")
    is_amended = (
        find(f"{ref}@{{0}}") == commit and before and before != parent and find(f"{before}^") == parent
    )
    return before if is_amended else parent
