"""What a task hands down to all below it, so that each of its ancestors is looked at once, however many it has below."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from gitticks.model.ids import TaskId


class Above:
    """What a task, `owner`, hands down to all below it, its own ancestors' share included.

    `epic` is the nearest open epic from it upwards, `waits` whether it or one above it awaits a person, `until` the
    last day that one of them was put off to, `blockers` its own open ones, and `more` the next above it that has any.
    """

    __slots__ = ("blockers", "epic", "is_free", "more", "owner", "until", "waits")

    def __init__(
        self,
        owner: TaskId | None,
        epic: TaskId | None = None,
        *,
        waits: bool = False,
        until: date | None = None,
        blockers: tuple[TaskId, ...] = (),
        more: Above | None = None,
    ) -> None:
        self.owner = owner
        self.epic = epic
        self.waits = waits
        self.until = until
        self.blockers = blockers
        self.more = more
        self.is_free = not blockers and more is None

    @property
    def waited_for(self) -> Above | None:
        """Returns the nearest, itself or above it, with open blockers of its own."""
        return self if self.blockers else self.more

    def blocked_owners(self) -> Iterator[tuple[TaskId, tuple[TaskId, ...]]]:
        """Yields, from here upwards, each task with open blockers of its own, and those."""
        above: Above | None = self
        while above is not None:
            if isinstance(above, AboveInCircle):  # nothing is above a circle
                yield from above.blocked_owners()
                return
            if above.owner is not None and above.blockers:
                yield above.owner, above.blockers
            above = above.more


class AboveInCircle(Above):
    """What a task hands down whose parents run in a circle: the share of all in the circle, its own included.

    `owners` are those with open blockers of their own, the nearest from `owner` upwards at `first`.
    """

    __slots__ = ("_first", "_owners")

    def __init__(
        self,
        owner: TaskId,
        epic: TaskId | None,
        *,
        waits: bool,
        until: date | None,
        owners: list[tuple[TaskId, tuple[TaskId, ...]]],
        first: int,
    ) -> None:
        super().__init__(owner, epic, waits=waits, until=until)
        self.is_free = not owners
        self._owners = owners
        self._first = first

    @property
    def waited_for(self) -> Above | None:
        """Returns itself if anything in the circle has open blockers."""
        return self if self._owners else None

    def blocked_owners(self) -> Iterator[tuple[TaskId, tuple[TaskId, ...]]]:
        """Yields, once around from here upwards, each task with open blockers of its own, and those."""
        yield from self._owners[self._first :]
        yield from self._owners[: self._first]


NOTHING_ABOVE = Above(None)
