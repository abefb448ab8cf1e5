"""Brings back what git dropped from the state branch in passing, without anybody having asked for it.

`git reset` without a commit, and with it `git merge --abort` and `git stash`, puts the branch to where it saw it a
moment before; `git rebase --abort` puts it to where it was when the rebase began, however long ago. What was
acknowledged in between falls off. Git asks no hook, but it writes down what it did.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gitticks.git.refs import is_object_id, read_ref
from gitticks.plainfile import read_end_of_plain_file
from gitticks.store.layout import STATE_REF

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gitticks.git.repository import Repository
    from gitticks.store.branch import Store

_RESET = b"reset: moving to HEAD"
_ABORTED = b"(abort): returning to "
_BROUGHT_BACK = "gitticks: bring back what git dropped"
_LAST_BYTES = 64 * 1024
"""How much of the log is looked at: hundreds of moves, while every change and status looks."""


def dropped_commits(repository: Repository) -> tuple[str, ...]:
    """Returns where the branch stood each time that git dropped something from it, the oldest first.

    They may be on the branch again; what was brought back once is not among them, so that whoever drops it then, on
    purpose, has their will.
    """
    end = _end_of_log(repository)
    if _RESET not in end and _ABORTED not in end:
        return ()
    return tuple(reversed([*_dropped(end)]))


def was_published(repository: Repository, commits: Iterable[str]) -> bool:
    """True if the branch stood at one of these commits a while ago; it may not any more."""
    end = _end_of_log(repository)
    return any(b" %b " % commit.encode() in end for commit in commits)


def _end_of_log(repository: Repository) -> bytes:
    log = os.path.join(repository.common_place, "logs", STATE_REF)  # noqa: PTH118 - asked at every change
    try:
        return read_end_of_plain_file(log, _LAST_BYTES)
    except OSError:
        return b""


def _dropped(log: bytes) -> Iterator[str]:
    for line in reversed(log.split(b"\n")):
        who, _, message = line.partition(b"\t")
        if message.startswith(_BROUGHT_BACK.encode()):
            return
        old, new, *_ = (who.decode("ascii", "replace") + "  ").split(" ")
        is_unasked = message == _RESET or _ABORTED in message
        if is_unasked and old != new and is_object_id(old) and is_object_id(new):
            yield old


def bring_back_dropped(store: Store) -> int:
    """Lets the branch contain what git dropped from it, and returns how many commits came back.

    Raises:
        GitticksError: an object is damaged, or the branch was moved by others every time.
    """
    found = dropped_commits(store.repository)
    if not found or read_ref(store.repository.common_dir, STATE_REF) is None:
        return 0
    from gitticks.git.identity import ENGINE_IDENTITY
    from gitticks.git.merges.history import count_commits
    from gitticks.store.sharing import join

    count = 0
    for dropped in found:
        tip = store.tip()
        if store.objects.has(dropped) and not store.objects.is_ancestor(dropped, tip):
            count += count_commits(store.repository, tip, dropped)
            join(store, dropped, "bring back what git dropped\n", _BROUGHT_BACK, author=ENGINE_IDENTITY)
    return count
