"""Where the state branch stands, read as a file: the first question of every command, answered without pygit2."""

from __future__ import annotations

from gitticks.errors import NotFoundError
from gitticks.git.refs import read_ref
from gitticks.git.repository import Repository
from gitticks.store import layout


def state_tip(repository: Repository) -> str:
    """Returns the state branch's newest commit.

    Raises:
        NotFoundError: there is no state branch; the hint says how to get one.
    """
    tip = read_ref(repository.common_dir, layout.STATE_REF)
    if tip is None:
        raise NotFoundError("this repository has no tasks yet", hint="`gt init` begins them")
    return tip
