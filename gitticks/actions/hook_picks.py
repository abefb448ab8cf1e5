"""What is told of a commit that git makes again on the board: no hook can refuse it, and none carries it out.

A cherry-pick or a revert asks nobody before it commits, and its request was somebody's once already. So what it changes
past the table is said at once, with the way back, instead of by the next `gt doctor` or a server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitticks.board.skip_reasons import Problem
from gitticks.git.staged import checked_out_ref, is_made_again
from gitticks.store.layout import STATE_REF

if TYPE_CHECKING:
    from gitticks.actions.context import Context

_LOOKED_BACK = 20
"""So many commits are judged with it: what takes a mistake back is none itself."""


def check_pick(context: Context) -> tuple[Problem, ...]:
    """Returns what is illegal in the commit that a cherry-pick or revert has just made; nothing after any other."""
    git_dir = context.repository.git_dir
    if checked_out_ref(git_dir) != STATE_REF or not is_made_again(git_dir):
        return ()
    from gitticks.actions.doctor.diagnosis import diagnose_range

    tip = context.store.tip()
    first = _parent_of(context, tip, _LOOKED_BACK)
    found = diagnose_range(context, tip if first is None else f"{first}..{tip}").findings
    return tuple(Problem("", one.what, one.fix) for one in found if one.commit == tip)


def _parent_of(context: Context, commit: str, generations: int) -> str | None:
    """Returns the commit so many generations before another; None where the branch is younger."""
    for _ in range(generations):
        parents = context.store.objects.parents_of(commit)
        if not parents:
            return None
        commit = parents[0]
    return commit
