"""The tip of the state branch, read as a file without pygit2: every command asks for it first."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from gitticks.errors import GitticksError, NotFoundError
from gitticks.git.refs import logged, read_ref, way_back
from gitticks.store import layout

if TYPE_CHECKING:
    from gitticks.git.repository import Repository


def state_tip(repository: Repository) -> str:
    """Returns the state branch's newest commit.

    Raises:
        NotFoundError: there is no state branch; the hint says how to get one.
        GitticksError: there was one, and its ref is damaged or gone.
    """
    tip = read_ref(repository.common_place, layout.STATE_REF)
    if tip is None:
        refuse_lost_branch(repository)
        raise no_tasks(repository)
    return tip


def no_tasks(repository: Repository) -> NotFoundError:
    """Returns the error for a repository without a state branch; a fetched one of `origin` needs only to be taken."""
    if read_ref(repository.common_place, layout.REMOTE_STATE_REF) is not None:
        return NotFoundError(
            "this clone does not have the tasks of `origin` yet", hint="`gt init` fetches them"
        )
    if repository.project_place is None:
        from shlex import quote

        return NotFoundError(
            "this bare repository has no tasks yet",
            hint=f"`gt init` in a clone sets them up, `git clone {quote(repository.common_place)}`, and `gt sync` there pushes them here",
        )
    return NotFoundError("this repository has no tasks yet", hint="`gt init` sets them up")


def refuse_lost_branch(repository: Repository) -> None:
    """Refuses to take a branch that was here and is gone for one that never was.

    One whose making was killed has a log too, of its beginning alone, and there is nothing in it that could be lost.

    Raises:
        GitticksError: its log, or the board's, knows where it stood; the hint is the command that brings it back.
    """
    if len(list(islice(logged(repository.common_dir, layout.STATE_REF), 2))) > 1:
        raise GitticksError(
            f"the branch `{layout.STATE_BRANCH}` is missing, but it existed here: `{layout.STATE_REF}` has a log",
            hint=way_back(repository.common_dir, layout.STATE_REF),
        )
