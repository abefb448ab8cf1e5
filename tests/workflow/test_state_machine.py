"""Random long lives of one task, under a policy that changes too, against plain counters that are kept here."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from gitticks.model.event import Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.notes import Section
from gitticks.model.settings import Policy
from gitticks.model.status import Isolation, Requires, Role, Status, TaskType
from gitticks.model.task import Ending, Task
from gitticks.workflow.artifacts import count_since_last_word
from gitticks.workflow.decision import Decision, Turn
from gitticks.workflow.triggers import SessionEnded
from tests.support.decisions import START
from tests.workflow.carrying_out import asked_gates, carry_out
from tests.workflow.steps import is_legal_step
from tests.workflow.world import ALL_CHOICES, POLICIES, Move, Side, World, begin, moves

RETURNS = (Status.CLARIFICATION, Status.WORKING, Status.AGENT_REVIEW, Status.REVIEWING, Status.STUCK)


class Lives(RuleBasedStateMachine):
    """One task, every actor, and what must hold after each of their moves."""

    @initialize(
        policy=POLICIES,
        kind=st.sampled_from(TaskType),
        requires=st.sampled_from([None, *Requires]),
        parent=st.sampled_from([None, TaskId("e9zz")]),
    )
    def begin(self, policy: Policy, kind: TaskType, requires: Requires | None, parent: TaskId | None) -> None:
        bound = START if kind is TaskType.EPIC and policy.isolation is Isolation.EPIC else None
        task = Task(TaskId("k7f2"), "title", kind, parent=parent, requires=requires, start_sha=bound)
        self.policy = policy
        self.world: World = begin(task)
        self.history: list[Event] = []
        self.counted: Counter[str] = Counter()
        self.handoff_age = 0
        self.reviewed_in_round = -1

    @rule(data=st.data(), in_turn=st.booleans())
    def move(self, data: st.DataObject, *, in_turn: bool) -> None:
        """Somebody does something; half of the time somebody whose turn it is."""
        before = self.world
        possible = list(moves(before, self.policy, ALL_CHOICES))
        mine = [move for move in possible if move.side in self._sides()]
        if mine and in_turn:
            possible = mine
        move = data.draw(st.sampled_from(possible), label="move")
        self._note_writing(move)
        after, decision = carry_out(before, move, self.policy)
        if decision is None:
            assert move.trigger is None or after == before
            self.world = after
            return
        self._check_steps(before, move, decision)
        self._check_freshness(before, move, decision)
        self._check_gates(before, move, decision, after)
        self._count(before, move, decision)
        self.history.extend(decision.events)
        self.world = replace(after, counts=count_since_last_word(self.history))
        self._check_counters()

    @rule(policy=POLICIES)
    def settings_change(self, policy: Policy) -> None:
        """The team changes its settings, except where the code stands."""
        self.policy = policy._replace(isolation=self.policy.isolation)

    def _sides(self) -> tuple[Side, ...]:
        return {
            Turn.PERSON: (Side.PERSON,),
            Turn.NOBODY: (Side.PERSON,),
            Turn.MERGE: (Side.ENGINE,),
        }.get(self.world.turn, (Side.AGENT, Side.ENGINE))

    def _note_writing(self, move: Move) -> None:
        if move.name == "writes-handoff":
            self.handoff_age = 0
        if move.name.startswith("writes-") and move.world and move.world.review is not self.world.review:
            self.reviewed_in_round = self.world.task.review_round

    def _check_steps(self, before: World, move: Move, decision: Decision) -> None:
        """Steps join up and are legal; terminal is terminal but for a person who reopens."""
        status = before.task.status
        for step in decision.steps:
            assert step.from_status is status
            assert is_legal_step(step.from_status, step.to_status)
            assert not status.is_terminal or (move.name == "reopens" and step.to_status is Status.PENDING)
            assert step.to_status is not None
            status = step.to_status
        assert status is decision.task.status
        if before.task.status.is_terminal and move.name != "reopens":
            assert decision.task == before.task

    def _check_freshness(self, before: World, move: Move, decision: Decision) -> None:
        """What an earlier round left opens no gate, and every return to the agent puts the hand-off away."""
        by_person = move.side is Side.PERSON
        for step in decision.steps:
            if step.to_status is Status.AGENT_REVIEW:
                assert Section.REVIEW in decision.archived
                fresh = before.handoff and self.handoff_age == 0
                assert fresh or by_person or before.task.is_epic
            if (step.from_status, step.to_status) == (Status.AGENT_REVIEW, Status.REVIEWING):
                self._check_review_is_fresh(before, move, decision)
            if step.to_status is Status.WORKING and step.from_status in RETURNS:
                assert Section.HANDOFF in decision.archived
        if decision.archived and Section.HANDOFF in decision.archived:
            self.handoff_age += 1

    def _check_review_is_fresh(self, before: World, move: Move, decision: Decision) -> None:
        reason = next(step.reason for step in decision.steps if step.to_status is Status.REVIEWING)
        waived = {event.data["gate"] for event in decision.events if event.type is EventType.WAIVED}
        if "review" in waived or reason in ("council-timeout", "rounds-exhausted"):
            return
        assert before.task.status is Status.AGENT_REVIEW
        assert self.reviewed_in_round == before.task.review_round
        assert before.passed or move.side is Side.PERSON

    def _check_gates(self, before: World, move: Move, decision: Decision, after: World) -> None:
        """Agents and engine alone never bring a task to done past a gate that policy asks for at that moment."""
        if decision.task.status is not Status.DONE or move.side is Side.PERSON:
            return
        if before.task.is_merging:
            assert before.task.approval is not None
            return
        asks_review, asks_person = asked_gates(before, self.policy)
        assert not asks_person
        assert not asks_review or before.passed or after.passed

    def _count(self, before: World, move: Move, decision: Decision) -> None:
        """Counts by hand what the specification says, without a look at the events of the decision."""
        moved = bool(decision.steps)
        by_person = move.side is Side.PERSON
        if by_person and (decision.task.awaiting != before.task.awaiting or moved):
            self.counted["iterations"] = 0
        trigger = move.trigger
        ends_work = isinstance(trigger, SessionEnded) and trigger.role is Role.WORKER
        if ends_work and isinstance(trigger, SessionEnded) and not moved:
            current = before.session is Role.WORKER or trigger.ending is Ending.START_FAILED
            fault = trigger.ending in (Ending.CLEAN, Ending.CRASHED, Ending.REFUSED, Ending.START_FAILED)
            self.counted["iterations"] += current and fault
        if moved and decision.task.status is not Status.STUCK:
            assert decision.task.crash_count == 0

    def _check_counters(self) -> None:
        task, counts = self.world.task, self.world.counts
        assert 0 <= task.crash_count <= 2
        assert task.crash_count < 2 or task.status is Status.STUCK
        assert task.review_round == self._rounds_since_reopening()
        assert task.failed_reviews == self._fails_since_pass_or_word()
        in_use = task.status in (Status.PENDING, Status.WORKING) and task.awaiting is None
        if in_use:
            assert counts.iterations == self.counted["iterations"]
            assert counts.refusals < 2

    def _rounds_since_reopening(self) -> int:
        rounds = 0
        for event in self.history:
            if event.type is EventType.REOPENED:
                rounds = 0
            rounds += event.to_status is Status.AGENT_REVIEW
        return rounds

    def _fails_since_pass_or_word(self) -> int:
        failed = 0
        for event in self.history:
            step = (event.from_status, event.to_status)
            by_person = event.actor.is_human
            spent = (event.reason or "").startswith(("crashed", "the branch moved", "council-timeout"))
            refused = event.type is EventType.ADVANCED and event.reason in ("start-failed", "refused")
            words = event.type in (EventType.VERDICT, EventType.MOVED) and by_person
            if words or event.type is EventType.REOPENED:
                failed = 0
            elif step[0] is not Status.AGENT_REVIEW or spent or refused:
                continue
            elif step[1] is Status.REVIEWING and event.reason == "rounds-exhausted":
                failed += 1
            elif step[1] is Status.REVIEWING:
                failed = 0 if event.reason in ("PASS", None) else failed
            elif step[1] in (Status.WORKING, Status.STUCK) and event.reason != "a child is open again":
                failed += 1
        return failed

    @invariant()
    def one_side_has_the_turn(self) -> None:
        task = self.world.task
        sides = {
            Turn.NOBODY: not task.is_open,
            Turn.PERSON: task.awaiting is not None,
            Turn.MERGE: task.is_merging,
            Turn.REVIEWER: task.awaiting is None and task.status is Status.AGENT_REVIEW,
        }
        agents = task.awaiting is None and task.status in (Status.PENDING, Status.WORKING)
        sides |= {Turn.CHILDREN: agents and task.is_epic, Turn.WORKER: agents and not task.is_epic}
        assert [turn for turn, has in sides.items() if has] == [self.world.turn]

    @invariant()
    def awaiting_agrees_with_the_status(self) -> None:
        task = self.world.task
        if task.status in (Status.CLARIFICATION, Status.STUCK):
            assert task.awaiting is not None
        if task.status is Status.REVIEWING and task.awaiting is None:
            assert task.is_merging
        if not task.is_open:
            assert (task.awaiting, task.approval, task.claim) == (None, None, None)
        assert task.verdict is None
        assert task.approval is None or task.approval.head == task.end_sha

    @invariant()
    def a_live_session_has_the_turn(self) -> None:
        if self.world.session is Role.WORKER:
            assert self.world.turn is Turn.WORKER
        if self.world.session is Role.REVIEWER:
            assert self.world.turn is Turn.REVIEWER


TestLives = Lives.TestCase
