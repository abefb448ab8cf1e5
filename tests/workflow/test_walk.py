"""An exhaustive walk: every state that the real `decide` can reach, whoever moves, under every policy.

Each policy gives a finite graph. Its nodes are worlds in a normal form, its edges every move of agents, engine,
environment and people that changes something. The normal form renames commits (only whether they are the same one
matters), drops times, and cuts counters at the value from which every rule treats them alike (all limits are tested
by `>=`). It also forgets what no later move can read: counts on a person's turn in a status that only a person's
word leaves, for that word resets them; and a merge that was found, where it may be found again. So two worlds with one form can do the same things, every real run maps onto
a path here, and what holds on all paths here holds for all real runs.

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
from dataclasses import replace
from itertools import product

import pytest

from gitticks.model.event import EventType
from gitticks.model.ids import TaskId
from gitticks.model.notes import ReviewOutcome
from gitticks.model.policy import HumanPolicy, MergeMode, OnConflict, Policy, ReviewPolicy
from gitticks.model.status import Awaiting, Isolation, Requires, Role, Status, TaskType
from gitticks.model.task import Approval, Task
from gitticks.workflow.artifacts import Counts, count_since_last_word
from gitticks.workflow.decision import Decision, Turn
from gitticks.workflow.transitions import is_legal_step
from tests.support.decisions import AT, HEAD, OTHER_HEAD, START
from tests.workflow.world import (
    ALL_CHOICES,
    SOME_CHOICES,
    Choices,
    Move,
    Side,
    World,
    asked_gates,
    begin,
    carry_out,
    history_of,
    moves,
)

FULL = os.environ.get("GITTICKS_DOSE") == "full"
ITERATIONS = 2

Setting = tuple[str, str, str, str, str | None, str, str]
# review, human, isolation, type, requires, merge mode, on conflict, each value at least once; and the fewest states
SHORT: dict[Setting, int] = {
    ("agent", "always", "task", "task", None, "queue", "return"): 8000,
    ("agent", "when-required", "task", "task", None, "queue", "return"): 9000,
    ("council", "when-required", "none", "task", None, "queue", "stuck"): 3000,
    ("none", "when-required", "task", "task", None, "manual", "return"): 600,
    ("none", "always", "epic", "task", "approval", "manual", "return"): 600,
    ("agent", "when-required", "epic", "epic", None, "queue", "return"): 2500,
    ("council", "always", "epic", "epic", "approval", "queue", "stuck"): 2000,
    ("none", "always", "task", "epic", None, "queue", "return"): 50,
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


def policy_of(setting: Setting, iterations: int) -> Policy:
    review, human, isolation, _, _, mode, on_conflict = setting
    return Policy(
        ReviewPolicy(review),
        HumanPolicy(human),
        Isolation(isolation),
        MergeMode(mode),
        OnConflict(on_conflict),
        review_limit=2,
        council_rounds=1,
        iterations=iterations,
    )


def first_world(setting: Setting) -> World:
    kind, requires = TaskType(setting[3]), setting[4]
    bound = kind is TaskType.EPIC and setting[2] == "epic"
    task = Task(
        TaskId("k7f2"),
        "title",
        type=kind,
        parent=TaskId("e9zz") if kind is TaskType.TASK else None,
        requires=Requires(requires) if requires else None,
        start_sha=START if bound else None,
    )
    return begin(task)


# The normal form

_RESTING = (Status.PENDING, Status.CLARIFICATION, Status.WORKING)


def normalise(world: World, policy: Policy) -> World:
    task = world.task
    if not task.is_open:
        bare = Task(task.id, task.title, task.type, task.status, parent=task.parent, requires=task.requires)
        return World(bare)
    in_review = task.status in (Status.AGENT_REVIEW, Status.REVIEWING)
    end_sha = None if task.end_sha is None else START if task.end_sha == task.start_sha else HEAD
    head = world.head
    if head is not None:
        head = end_sha if head == task.end_sha else START if head == task.start_sha else OTHER_HEAD
    rests = world.turn is Turn.PERSON and task.status in _RESTING
    normal = Task(
        task.id,
        task.title,
        task.type,
        task.status,
        parent=task.parent,
        requires=task.requires,
        asked=task.asked,
        awaiting=task.awaiting,
        approval=Approval("x", AT, end_sha) if task.approval else None,
        start_sha=task.start_sha,
        end_sha=end_sha,
        merged_sha=task.merged_sha if task.awaiting is Awaiting.ESCALATION else None,
        review_round=min(task.review_round, 1),
        failed_reviews=min(task.failed_reviews, 1),
        crash_count=0 if rests or task.status is Status.STUCK else min(task.crash_count, 1),
    )
    return World(
        normal,
        handoff=world.handoff and not in_review,
        review=world.review if task.status is Status.AGENT_REVIEW else ReviewOutcome.MISSING,
        question=world.question,
        head=head,
        counts=Counts() if rests else cut(world.counts, policy),
        session=world.session,
        session_round=normal.review_round + (world.session is Role.WORKER) if world.session else 0,
        children_closed=world.children_closed,
        passed=world.passed and in_review,
        approved=world.approved and in_review,
    )


def cut(counts: Counts, policy: Policy) -> Counts:
    return Counts(
        iterations=min(counts.iterations, policy.iterations - 1),
        failed_checks=min(counts.failed_checks, 2),
        refusals=min(counts.refusals, 1),
        failed_merges=min(counts.failed_merges, 1),
        voids=min(counts.voids, 1),
        work_approved=counts.work_approved,
    )


def key(world: World) -> tuple[object, ...]:
    task = world.task
    return (
        task.status, task.awaiting, task.asked, task.approval is None, task.start_sha, task.end_sha,
        task.merged_sha, task.review_round, task.failed_reviews, task.crash_count, world.handoff, world.review,
        world.question, world.head, world.counts, world.session, world.children_closed, world.passed, world.approved,
    )  # fmt: skip


# The walk

Edge = tuple[Move, int, bool]
"""The move, the number of the world that it leads to, and whether a decision wrote anything."""


class Graph:
    """All worlds of a policy, by number in the order they were met, and the edges from each."""

    def __init__(self, setting: Setting, choices: Choices, iterations: int) -> None:
        self.policy = policy_of(setting, iterations)
        self.choices = choices
        self.worlds: list[World] = []
        self.edges: list[list[Edge]] = []
        self.came_by: list[tuple[int, str] | None] = []
        self._numbers: dict[tuple[object, ...], int] = {}
        self._queue: deque[int] = deque()
        self._meet(normalise(first_world(setting), self.policy), None)
        while self._queue:
            self._expand(self._queue.popleft())

    def _meet(self, world: World, came_by: tuple[int, str] | None) -> int:
        number = self._numbers.setdefault(key(world), len(self.worlds))
        if number == len(self.worlds):
            self.worlds.append(world)
            self.edges.append([])
            self.came_by.append(came_by)
            self._queue.append(number)
        return number

    def _expand(self, number: int) -> None:
        world = self.worlds[number]
        before = history_of(world.counts)
        for move in moves(world, self.policy, self.choices):
            after, decision = carry_out(world, move, self.policy)
            writes = False
            if decision is not None:
                writes = bool(decision.steps or decision.events or decision.entries)
                check_decision(world, move, decision, after, self.policy)
                counts = count_since_last_word((*before, *decision.events))
                after = replace(after, counts=counts)
            elif move.trigger is not None:
                continue
            self.edges[number].append(
                (move, self._meet(normalise(after, self.policy), (number, move.name)), writes)
            )

    def path(self, number: int) -> str:
        """Returns how the walk came to a world, for messages."""
        names: list[str] = []
        step = self.came_by[number]
        while step is not None:
            names.append(step[1])
            step = self.came_by[step[0]]
        return f"{self.worlds[number]} by {' '.join(reversed(names))}"


# What every decision must keep


def check_decision(world: World, move: Move, decision: Decision, after: World, policy: Policy) -> None:
    status = world.task.status
    for step in decision.steps:
        assert step.source is status, move
        assert is_legal_step(step.source, step.target), (move, step)
        assert not step.source.is_terminal or move.name == "reopens"
        status = step.target
    assert status is decision.task.status, move
    check_gates(world, move, decision, after, policy)


def check_gates(world: World, move: Move, decision: Decision, after: World, policy: Policy) -> None:
    """Done, and merging on the way to it, stands behind the gates that policy asks for, or a person's word."""
    task = decision.task
    arrives = task.status is Status.DONE or (task.is_merging and not world.task.is_merging)
    if not arrives:
        return
    asks_review, asks_person = asked_gates(world, policy)
    waived = {event.data["gate"] for event in decision.events if event.type is EventType.WAIVED}
    approved = after.approved or world.approved
    assert not asks_person or approved, (move, world)
    assert not asks_review or after.passed or world.passed or approved, (move, world)
    assert "review" not in waived or not asks_review or move.side is Side.PERSON
    assert "person" not in waived or not asks_person


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
        chosen = [(setting, SOME_CHOICES, ITERATIONS, fewest) for setting, fewest in SHORT.items()]
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
