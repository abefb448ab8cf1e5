"""Whose turn it is: whether the person that a task names as its reviewer is the one who asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gitticks.errors import GitticksError

if TYPE_CHECKING:
    from gitticks.actions.context import Context


class Person(NamedTuple):
    """The person who asks, by every name that somebody might call them in `reviewer`, in one case."""

    names: frozenset[str]

    @classmethod
    def of(cls, name: str, email: str) -> Person:
        """Returns the person whom git knows by a name and an address."""
        parts = {name, email, f"{name} <{email}>", email.partition("@")[0], *name.split()}
        return cls(frozenset(_plain(part) for part in parts))

    def is_asked(self, reviewer: str | None) -> bool:
        """True if the turn is this person's or nobody's in particular; several names have commas between them."""
        asked = [_plain(one) for one in (reviewer or "").split(",")]
        return not any(asked) or not self.names.isdisjoint(asked)


def names_reviewer(reviewer: str | None, name: str) -> bool:
    """True if a task's `reviewer`, which may be several names with commas between them, has this one."""
    return _plain(name) in map(_plain, (reviewer or "").split(","))


def person_here(context: Context) -> Person | None:
    """Returns who asks, as git's settings say; None if they do not."""
    from gitticks.git.identity import identity

    try:
        known = identity(context.repository, context.world.environment)
    except GitticksError:
        return None
    return Person.of(known.name, known.email)


def _plain(name: str) -> str:
    return " ".join(name.split()).removeprefix("@").casefold()
