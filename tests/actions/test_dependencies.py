"""Cycles of waiting, each with the command that takes one link out."""

from __future__ import annotations

from gitticks.actions.dependencies import cycles_of
from gitticks.model.queries import TaskGraph
from gitticks.model.task import Task
from tests.support.graphs import make


def graph(*tasks: Task) -> TaskGraph:
    return TaskGraph.of(tasks)


def test_without_links_there_is_nothing_to_look_for() -> None:
    assert list(cycles_of(graph(make("a"), make("e1"), make("b", parent="e1"), make("c", "a")))) == []


def test_each_cycle_has_its_fix() -> None:
    (blockers,) = cycles_of(graph(make("a", "b"), make("b", "c"), make("c", "a"), make("d", "a")))
    assert (blockers.words, blockers.fix) == ("a → b → c → a", "`gt unblock a b`")
    (parents,) = cycles_of(graph(make("e1", parent="e2"), make("e2", parent="e1")))
    assert (parents.words, parents.fix) == ("e1 → e2 → e1", "`gt update e1 --parent=null`")
    (inherited,) = cycles_of(graph(make("e1", "b"), make("a", parent="e1"), make("b", "a")))
    assert inherited.fix in ("`gt unblock e1 b`", "`gt unblock b a`")


def test_a_child_that_waits_for_its_own_epic_is_unblocked_wherever_the_epic_belongs() -> None:
    tasks = make("a1", parent="p0"), make("b2", "a1", parent="a1"), make("p0")
    (cycle,) = cycles_of(graph(*tasks))
    assert (cycle.words, cycle.fix) == ("a1 → b2 → a1", "`gt unblock b2 a1`")
