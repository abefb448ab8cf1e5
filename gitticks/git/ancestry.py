"""Tells whether one commit was made on top of another, from the objects themselves as long as they are near."""

from __future__ import annotations

import contextlib
from collections import deque
from typing import TYPE_CHECKING

from gitticks.errors import GitticksError

if TYPE_CHECKING:
    from gitticks.git.objects import Objects

_MOST_WALKED = 1000


def is_made_on_top(objects: Objects, old: str, new: str) -> bool:
    """True if `new` is the commit `old` or was made on top of it; False for one that is not stored any more.

    Only the commits since the parents of `old` are looked at, so that damage further down stops nobody.
    """
    if old == new or not objects.has(old):
        return old == new
    below = {*objects.parents_of(old)}
    waiting, seen = deque([new]), set[str]()
    while waiting:
        commit = waiting.popleft()
        if commit == old:
            return True
        if commit in below or commit in seen:
            continue
        if len(seen) == _MOST_WALKED:
            return _is_made_on_top_by_git(objects, old, new)
        seen.add(commit)
        with contextlib.suppress(GitticksError):
            waiting += objects.parents_of(commit)
    return False


def _is_made_on_top_by_git(objects: Objects, old: str, new: str) -> bool:
    from gitticks.git.process import run_git

    asked = ["merge-base", "--is-ancestor", "--end-of-options", old, new]
    return run_git(asked, repository_dir=objects.common_dir, check=False).code == 0
