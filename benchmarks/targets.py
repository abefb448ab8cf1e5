"""What gitticks is to reach, held against what was measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.peers.base import Work
from benchmarks.peers.ours import OURS, WITH_BOARD
from benchmarks.peers.python import CLICK, CLICK_AND_PYGIT2
from benchmarks.peers.sharing import DIVERGED
from benchmarks.results import Results, Times, ratio, times_of

READING = (Work.NEXT, Work.READY, Work.LIST, Work.SHOW)
VIEWS = (Work.TREE, Work.BOARD, Work.INBOX, Work.COMPLETION)
"""What prints no more than a list does, by the same index."""


@dataclass(frozen=True, slots=True)
class Target:
    """One thing to reach.

    Attributes:
        what: the measurement.
        limit: the highest value that is good, or the lowest.
        measured: the value; None if this run had no such measurement.
        unit: of both.
        is_floor: more is better.
        by_cpu: the same by time of the processor, which tells work from waiting on a busy machine.
    """

    what: str
    limit: float
    measured: float | None
    unit: str = "×"
    is_floor: bool = False
    by_cpu: float | None = None

    @property
    def is_met(self) -> bool | None:
        """True if it is reached; None if it was not measured."""
        if self.measured is None:
            return None
        return self.measured >= self.limit if self.is_floor else self.measured <= self.limit

    @property
    def verdict(self) -> str:
        """Returns whether it is reached, and else by how much it is missed."""
        if self.measured is None:
            return "not measured"
        if self.is_met:
            return "met"
        return f"**missed by {abs(self.measured / self.limit - 1):.0%}**"


def targets(results: Results) -> Iterator[Target]:
    """Yields every target of commands, commits and index, in the order of the table."""
    yield from _reading(results)
    yield from _views(results)
    yield from _growth(results)
    yield from _writing(results)
    yield from _commits(results)
    yield from _index(results)
    yield from _writers(results)
    yield from _watched(results)
    yield from _import(results)
    yield from _sync(results)


def _against(what: str, limit: float, ratio: Times) -> Target:
    return Target(what, limit, ratio.wall, by_cpu=ratio.cpu)


def _reading(results: Results) -> Iterator[Target]:
    middle, small = results.middle, results.small
    click = results.times(0, Work.START, CLICK)
    for work in READING:
        ours = results.times(middle, work, OURS)
        yield _against(f"`gt {work}`, {middle:,} tasks, against `import click`", 1.5, ours.over(click))
    status = results.times(middle, Work.STATUS, OURS).over(click)
    yield _against(f"`gt status`, {middle:,} tasks, against `import click`", 3.0, status)
    for work in READING:
        other = results.fastest_other(middle, work, OURS)
        name = "the fastest peer" if other is None else f"the fastest peer ({other.tool})"
        measured = results.times(middle, work, OURS).over(times_of(other))
        yield _against(f"`gt {work}`, {middle:,} tasks, against {name}", 1.0, measured)
    for work in READING:
        measured = results.times(small, work, OURS).over(results.times(small, work, "ticket"))
        yield _against(f"`gt {work}`, {small:,} tasks, against ticket", 1.0, measured)


def _views(results: Results) -> Iterator[Target]:
    middle = results.middle
    whole = results.times(middle, Work.LIST, OURS)
    for work in VIEWS:
        name = f"`gt {work}`" if work is not Work.COMPLETION else work.value
        ours = results.times(middle, work, OURS)
        yield _against(f"{name}, {middle:,} tasks, against `gt list`", 1.5, ours.over(whole))


def _growth(results: Results) -> Iterator[Target]:
    small, large = results.small, results.large
    grown = results.times(large, Work.NEXT, OURS).over(results.times(small, Work.NEXT, OURS))
    yield _against(f"`gt next`, {large:,} tasks against {small:,}", 1.2, grown)
    row = results.row(large, Work.NEXT, OURS)
    peak = None if row is None else row.cost.peak_kilobytes / 1024
    yield Target(f"`gt next`, {large:,} tasks, peak memory", 64, peak, "MB")


def _writing(results: Results) -> Iterator[Target]:
    middle = results.middle
    base = results.times(0, Work.START, CLICK_AND_PYGIT2)
    for work, tool in ((Work.UPDATE, OURS), (Work.CREATE, OURS), (Work.UPDATE, WITH_BOARD)):
        which = ", with the board" if tool == WITH_BOARD else ""
        measured = results.times(middle, work, tool).over(base)
        yield _against(f"`gt {work}`{which}, {middle:,} tasks, against `import click, pygit2`", 1.6, measured)
    ours, other = (results.times(middle, Work.UPDATE, tool) for tool in (OURS, "microbeads, with a commit"))
    what = f"`gt update`, {middle:,} tasks, against microbeads' update and sync"
    yield _against(what, 0.6, ours.over(other))


def _commits(results: Results) -> Iterator[Target]:
    small, middle, large = results.small, results.middle, results.large
    for has_board, which in ((False, ""), (True, ", with the board")):
        what = f"commit in a running process{which}"
        seconds = results.commit_seconds(middle, has_board=has_board)
        measured = None if seconds is None else seconds * 1000
        yield Target(f"{what}, {middle:,} tasks", 10, measured, "ms")
        grown = (results.commit_seconds(size, has_board=has_board) for size in (large, small))
        yield Target(f"{what}, {large:,} tasks against {small:,}", 4, ratio(*grown))


def _index(results: Results) -> Iterator[Target]:
    middle, large = results.middle, results.large
    cold = results.seconds(middle, Work.COLD, OURS)
    yield Target(f"`gt next` without an index, {middle:,} tasks", 1.3, cold, "s")
    grown = ratio(results.seconds(large, Work.COLD, OURS), cold)
    measured = None if grown is None else grown * middle / large
    yield Target(
        f"`gt next` without an index, for each task, {large:,} tasks against {middle:,}", 1.2, measured
    )
    foreign = results.seconds(middle, Work.FOREIGN, OURS)
    measured = None if foreign is None else foreign * 1000
    yield Target(f"`gt next` after one foreign commit, {middle:,} tasks", 150, measured, "ms")


def _writers(results: Results) -> Iterator[Target]:
    for crowd in results.crowds:
        where = f"{crowd.size:,} tasks{', with the board' if crowd.has_board else ''}"
        yield Target(
            f"{crowd.writers} living writers, {where}, commits a second",
            100,
            crowd.per_second,
            "",
            is_floor=True,
        )
        yield Target(f"{crowd.writers} living writers, {where}, longest wait", 10, crowd.longest_seconds, "s")
        measured = ratio(crowd.together_seconds, crowd.in_turn_seconds)
        yield Target(
            f"{crowd.writers} `gt update` at once, {where}, against one after the other", 1.2, measured
        )


def _import(results: Results) -> Iterator[Target]:
    row = results.row(results.middle, Work.IMPORT, WITH_BOARD)
    what = f"`gt import` of {results.middle:,} tasks, with the board"
    yield Target(what, 10, None if row is None else row.seconds, "s")
    peak = None if row is None else row.cost.peak_kilobytes / 1024
    yield Target(f"{what}, peak memory", 300, peak, "MB")


def _watched(results: Results) -> Iterator[Target]:
    for one in results.watched:
        if one.size == results.middle:
            what = f"a saved edit taken up by `gt watch`, {one.size:,} tasks"
            yield Target(what, 300, one.middle_seconds * 1000, "ms")
            idle = None if one.idle_share is None else one.idle_share * 100
            yield Target(f"idle `gt watch`, {one.size:,} tasks, of one core", 0.5, idle, "%")


def _sync(results: Results) -> Iterator[Target]:
    row = results.row(results.middle, Work.SYNC, WITH_BOARD)
    what = f"`gt sync` with nothing to do, {results.middle:,} tasks"
    wall, cpu = (None, None) if row is None else (row.cost.seconds * 1000, row.cost.cpu_seconds * 1000)
    yield Target(what, 500, wall, "ms", by_cpu=cpu)
    what = f"`gt sync` where both sides changed the same {DIVERGED:,} of {results.middle:,} tasks"
    yield Target(what, 10, results.seconds(results.middle, Work.JOIN, WITH_BOARD), "s")
