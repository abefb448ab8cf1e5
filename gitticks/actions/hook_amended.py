"""What a hook does for a commit on the board that a person amended.

Apart from what the other hooks do, since every commit on the board would load what makes a commit again.
"""

from __future__ import annotations

from gitticks.actions.context import Context
from gitticks.board.step import WORKTREE_BOARD
from gitticks.git.locks import hold_lock
from gitticks.git.log import ACTOR_TRAILER, trailers_of
from gitticks.git.merges.commits import commit_again
from gitticks.store.layout import STATE_REF


def restore_trailers(context: Context, amended: bytes) -> None:
    """Gives a commit of gitticks' own its trailers back, which it lost as a person amended it by `--amend -m`.

    Nothing else says who asked for its events. `amended` names both commits, as git does to its hook.
    """
    repository, objects = context.repository, context.store.objects
    before, after = amended.decode("ascii", "replace").split()[:2]
    lost = trailers_of(repository, before)
    if f"{ACTOR_TRAILER}: " not in lost or f"{ACTOR_TRAILER}: " in trailers_of(repository, after):
        return
    with hold_lock(repository.own_file("lock")):
        parents = objects.parents_of(after)
        if len(parents) != 1 or context.store.tip() != after:
            return
        place = objects.tree_of(after), parents[0]
        again = commit_again(repository, after, place, context.author, lost)
        objects.move_ref(STATE_REF, after, again, "commit (amend): trailers", who=context.author)
    WORKTREE_BOARD.bring_in_step(repository)
