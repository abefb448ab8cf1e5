"""An exhaustive walk: every state that the real `decide` can reach, whoever moves, under every policy.

Each policy gives a finite graph. Its nodes are worlds in a normal form, its edges every move of agents, engine,
environment and people that changes something. Worlds with one normal form can do the same things, so every real run
maps onto a path here, and what holds on all paths here holds for all real runs.

That also makes the proof of termination sound. A run of agents and engine that never ends would map onto an endless
path in a finite graph, so some decision would lie on a cycle of agents' and engine's edges. The walk computes the
strongly connected components of just these edges and asserts that no decision that changes anything lies within
one. What is left inside components is writing within one session, which that session's time limit ends. Kills,
outages, stops and children that are added come from outside and are left out: they may happen any number of times.

`GITTICKS_DOSE=full` walks the whole product of policies, and one policy with every choice of words and a longer
allowance of iterations, so that failed checks come to count as crashes; else a list with each value of each setting.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Iterator
from itertools import product

import pytest

from gitticks.model.status import Awaiting, Status
from gitticks.model.task import Task
from gitticks.workflow.decision import Turn
from tests.workflow.walk import Graph, Setting
from tests.workflow.world import ALL_CHOICES, SOME_CHOICES, Choices, Side

FULL = os.environ.get("GITTICKS_DOSE") == "full"
ITERATIONS = 2

# Each value of each setting at least once, with an allowance of iterations, and the fewest states. The first has the
# most: with one more iteration its walk would take as long as all others together, which have it.
SHORT: dict[Setting, tuple[int, int]] = {
    ("agent", "when-required", "task", "task", None, "queue", "return"): (1, 6000),
    ("council", "when-required", "none", "task", None, "queue", "stuck"): (ITERATIONS, 3000),
    ("none", "when-required", "task", "task", None, "manual", "return"): (ITERATIONS, 600),
    ("none", "always", "epic", "task", "approval", "manual", "return"): (ITERATIONS, 600),
    ("agent", "when-required", "epic", "epic", None, "queue", "return"): (ITERATIONS, 2500),
    ("none", "always", "task", "epic", None, "queue", "return"): (ITERATIONS, 50),
}
PRODUCT: list[Setting] = list(
    product(
        ("none", "agent", "council"),
        ("always", "when-required"),
        ("task", "epic", "none"),
        ("task", "epic"),
        (None, "approval"),
        ("queue", "manual"),
        ("return", "stuck"),
    )
)
RICH: Setting = ("agent", "when-required", "task", "task", None, "queue", "return")
FEWEST = 50


# What every world must keep


def check_turn(graph: Graph, number: int) -> None:
    """Exactly one side has the turn, and it can use it."""
    world = graph.worlds[number]
    task = world.task
    assert (task.status in (Status.CLARIFICATION, Status.STUCK)) <= (task.awaiting is not None)
    assert not (task.status is Status.REVIEWING and task.awaiting is None) or task.is_merging
    assert task.approval is None or task.is_merging
    assert world.turn is expected_turn(task), graph.path(number)
    if not task.is_open:
        return
    names = {move.name for move, _, writes in graph.edges[number] if writes or move.trigger is None}
    can_act = {
        Turn.PERSON: {"says-approved"}
        if task.awaiting is Awaiting.WORK
        else {"says-approved", "says-rejected"},
        Turn.WORKER: {"starts-worker"} if world.session is None else {"ends-worker-clean"},
        Turn.REVIEWER: {"starts-reviewer"} if world.session is None else {"ends-reviewer-clean"},
        Turn.MERGE: {"merges", "merge-is-red"},
        Turn.CHILDREN: {"children-changed"} if world.children_closed else {"children-closed"},
        Turn.NOBODY: set[str](),
    }[world.turn]
    assert names & can_act, graph.path(number)
    if world.turn is Turn.CHILDREN and world.children_closed:
        assert any(
            graph.worlds[target].turn is not Turn.CHILDREN
            for move, target, _ in graph.edges[number]
            if move.name == "children-changed"
        )


def expected_turn(task: Task) -> Turn:
    if task.status in (Status.DONE, Status.CANCELLED):
        return Turn.NOBODY
    if task.awaiting:
        return Turn.PERSON
    if task.status in (Status.PENDING, Status.WORKING):
        return Turn.CHILDREN if task.is_epic else Turn.WORKER
    return {Status.AGENT_REVIEW: Turn.REVIEWER, Status.REVIEWING: Turn.MERGE}[task.status]


def check_way_to_done(graph: Graph) -> None:
    """From every open world a person, with the merge queue's help alone, comes to done."""
    back: list[list[int]] = [[] for _ in graph.worlds]
    for number, edges in enumerate(graph.edges):
        for move, target, _ in edges:
            if move.side is Side.PERSON or move.name == "merges":
                back[target].append(number)
    good = {number for number, world in enumerate(graph.worlds) if world.task.status is Status.DONE}
    queue = deque(good)
    while queue:
        for source in back[queue.popleft()]:
            if source not in good:
                good.add(source)
                queue.append(source)
    lost = [number for number, world in enumerate(graph.worlds) if world.task.is_open and number not in good]
    assert not lost, graph.path(lost[0])


def check_runs_end(graph: Graph) -> None:
    """No decision of agents and engine that writes anything lies on a cycle of theirs."""
    alone = [[edge for edge in edges if edge[0].side in (Side.AGENT, Side.ENGINE)] for edges in graph.edges]
    component = components([[target for _, target, _ in edges] for edges in alone])
    for number, edges in enumerate(alone):
        for move, target, writes in edges:
            if writes:
                assert component[target] != component[number], (move.name, graph.path(number))


def components(successors: list[list[int]]) -> list[int]:
    """Returns the number of each node's strongly connected component (Tarjan's algorithm, without recursion)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    component = [-1] * len(successors)
    stack: list[int] = []
    for root in range(len(successors)):
        if root in order:
            continue
        work: list[tuple[int, Iterator[int]]] = [(root, iter(successors[root]))]
        order[root] = low[root] = len(order)
        stack.append(root)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in order:
                    order[target] = low[target] = len(order)
                    stack.append(target)
                    work.append((target, iter(successors[target])))
                    break
                if component[target] < 0:
                    low[node] = min(low[node], order[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    _close(node, stack, component)
    return component


def _close(root: int, stack: list[int], component: list[int]) -> None:
    while True:
        node = stack.pop()
        component[node] = root
        if node == root:
            return


# The tests


def walks() -> list[object]:
    """Returns the setting, the choices, the allowance of iterations and the fewest states of each walk."""
    if not FULL:
        chosen = [(setting, SOME_CHOICES, *bounds) for setting, bounds in SHORT.items()]
    else:
        chosen = [(setting, SOME_CHOICES, ITERATIONS, FEWEST) for setting in PRODUCT]
        chosen.append((RICH, ALL_CHOICES, 2 * ITERATIONS, 40_000))
    return [pytest.param(*walk, id="-".join(map(str, (*walk[0], walk[2])))) for walk in chosen]


@pytest.mark.parametrize(("setting", "choices", "iterations", "fewest"), walks())
@pytest.mark.timeout(3600)
def test_walk(setting: Setting, choices: Choices, iterations: int, fewest: int) -> None:
    graph = Graph(setting, choices, iterations)
    states = len(graph.worlds)
    sys.stdout.write(f"{states} states, {sum(map(len, graph.edges))} moves\n")
    assert states >= fewest
    for number in range(states):
        check_turn(graph, number)
    check_way_to_done(graph)
    check_runs_end(graph)


def test_the_short_list_has_every_value_of_every_setting() -> None:
    for short, full in zip(zip(*SHORT, strict=True), zip(*PRODUCT, strict=True), strict=True):
        assert set(short) == set(full)


def test_components() -> None:
    found = components([[1], [2], [0, 3], [4], [3], [5], []])
    assert found[0] == found[1] == found[2]
    assert found[3] == found[4]
    assert len(set(found)) == 4
