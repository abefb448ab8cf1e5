"""All worlds that the real `decide` can reach under one policy, whoever moves, with what every decision must keep."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from gitticks.model.event import EventType
from gitticks.model.ids import TaskId
from gitticks.model.settings import HumanPolicy, MergeMode, OnConflict, Policy, ReviewPolicy
from gitticks.model.status import Isolation, Requires, Status, TaskType
from gitticks.model.task import Task
from gitticks.workflow.artifacts import count_since_last_word
from gitticks.workflow.decision import Decision
from tests.support.decisions import START
from tests.workflow.carrying_out import asked_gates, carry_out, history_of
from tests.workflow.normal_form import key, normalise
from tests.workflow.steps import is_legal_step
from tests.workflow.world import Choices, Move, Side, World, begin, moves

Setting = tuple[str, str, str, str, str | None, str, str]
"""Review, human, isolation, type, requires, merge mode, on conflict."""


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


def check_decision(world: World, move: Move, decision: Decision, after: World, policy: Policy) -> None:
    status = world.task.status
    for step in decision.steps:
        assert step.from_status is status, move
        assert is_legal_step(step.from_status, step.to_status), (move, step)
        assert not status.is_terminal or move.name == "reopens"
        assert step.to_status is not None
        status = step.to_status
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
