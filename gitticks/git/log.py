"""Reads the log of a branch: the trail that a person would read with `git log`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from gitticks.git.process import run_git
from gitticks.git.repository import Repository

_FORMAT = "%H%n%at%n%an%n%s"
_FIELDS = 4


@dataclass(frozen=True, slots=True)
class LoggedCommit:
    """One commit: its id, when and by whom it was written, and the first line of its message."""

    commit: str
    at: datetime
    author: str
    subject: str


def read_log(repository: Repository, ref: str, *, count: int) -> tuple[LoggedCommit, ...]:
    """Returns the last `count` commits that `ref` reaches, newest first.

    Raises:
        GitError: there is no such ref.
    """
    arguments = [
        "log",
        "-z",
        f"--format={_FORMAT}",
        "--encoding=UTF-8",
        "--no-show-signature",
        f"--max-count={count}",
    ]
    done = run_git([*arguments, "--end-of-options", ref], repository_dir=repository.common_dir)
    return tuple(_parse(entry) for entry in done.stdout.decode("utf-8", "replace").split("\0") if entry)


def _parse(entry: str) -> LoggedCommit:
    commit, at, author, subject = entry.split("\n", _FIELDS - 1)
    return LoggedCommit(commit, datetime.fromtimestamp(int(at), UTC), author, subject)
