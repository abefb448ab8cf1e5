"""A small world around `decide`: one task, its artifacts, its branch, one session, and everybody's possible moves.

The world keeps what the files and the clone keep: whether a hand-off, a review and an open question are there, where
the branch stands, who is at work. A move is either something written (no decision) or a trigger. `passed` and
`approved` are ghosts that no rule reads: whether somebody said PASS to the commit that was handed off, and whether a
person approved it. They are kept here from what was written, not from what `decide` made of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from hypothesis import strategies as st

from gitticks.model.event import ENGINE, Actor
from gitticks.model.notes import ReviewOutcome
from gitticks.model.settings import BudgetLimits, HumanPolicy, MergeMode, OnConflict, Policy, ReviewPolicy
from gitticks.model.status import Awaiting, Isolation, Role, Status, Verdict
from gitticks.model.task import Ending, Task
from gitticks.workflow.artifacts import Counts
from gitticks.workflow.decision import Turn, whose_turn
from gitticks.workflow.gates import owns_branch
from gitticks.workflow.sessions import current_round
from gitticks.workflow.signals import Signal, SignalKind
from gitticks.workflow.transitions import TABLE
from gitticks.workflow.triggers import (
    AwaitingSet,
    ChildrenChanged,
    Closed,
    CouncilUndecided,
    HeadMoved,
    Merged,
    MergeFailed,
    MergeFound,
    PolicyChanged,
    Reopened,
    Requested,
    SessionEnded,
    SessionStarted,
    Trigger,
    VerdictGiven,
)
from tests.support.decisions import ADA, HEAD, MERGE, OTHER_HEAD, REVIEWER, START, WORKER

POLICIES = st.builds(
    Policy,
    review=st.sampled_from(ReviewPolicy),
    human=st.sampled_from(HumanPolicy),
    isolation=st.sampled_from(Isolation),
    merge_mode=st.sampled_from(MergeMode),
    on_conflict=st.sampled_from(OnConflict),
    review_limit=st.integers(1, 3),
    council_rounds=st.integers(0, 3),
    iterations=st.integers(1, 4),
    review_waiver=st.none(),
    minimum_approval=st.just("L0"),
    four_eyes=st.just(False),
    budget=st.just(BudgetLimits()),
)
TURNS = {Role.WORKER: Turn.WORKER, Role.REVIEWER: Turn.REVIEWER}
ACTORS = {Role.WORKER: WORKER, Role.REVIEWER: REVIEWER}


class Side(StrEnum):
    """Who makes a move; the environment kills, cuts off, and adds children."""

    AGENT = "agent"
    ENGINE = "engine"
    ENVIRONMENT = "environment"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class World:
    """Everything that a decision depends on, and what is to be proved about it."""

    task: Task
    handoff: bool = False
    review: ReviewOutcome = ReviewOutcome.MISSING
    question: bool = False
    head: str | None = None
    counts: Counts = field(default_factory=Counts)
    session: Role | None = None
    session_round: int = 0
    children_closed: bool = False
    passed: bool = False
    approved: bool = False

    @property
    def turn(self) -> Turn:
        """Returns whose move it is."""
        return whose_turn(self.task)


@dataclass(frozen=True, slots=True)
class Move:
    """One thing that somebody can do: write (`world` is how things stand then) or trigger a decision."""

    name: str
    side: Side
    trigger: Trigger | None = None
    world: World | None = None
    checks_failure: str | None = None


def begin(task: Task) -> World:
    """Returns the world of a new task."""
    return World(task, head=START if task.start_sha else None)


@dataclass(frozen=True, slots=True)
class Choices:
    """How much is tried where several choices are alike: what a person may set, what a worker may say and write."""

    kinds: tuple[Awaiting, ...] = (Awaiting.WORK, Awaiting.APPROVAL, Awaiting.CHECKPOINT)
    signals: tuple[SignalKind, ...] = tuple(
        kind for kind in SignalKind if kind not in (SignalKind.APPROVAL_NEEDED, SignalKind.REVIEW_REQUESTED)
    )
    questions: bool = False


SOME_CHOICES = Choices()
ALL_CHOICES = Choices(tuple(Awaiting), tuple(SignalKind), questions=True)


def moves(world: World, policy: Policy, choices: Choices) -> Iterator[Move]:
    """Yields every move of everybody, also those that `decide` will refuse."""
    yield from _writes(world, policy, choices)
    if world.task.is_open:
        yield from _session_moves(world, choices)
        yield from _engine_moves(world, policy)
        if world.task.is_epic:
            yield from _children_moves(world)
    yield from _person_moves(world, choices.kinds)


def _writes(world: World, policy: Policy, choices: Choices) -> Iterator[Move]:
    status, session = world.task.status, world.session
    handed_off = (status in (Status.WORKING, Status.STUCK, Status.CLARIFICATION)) and not world.handoff
    if handed_off:
        side = Side.AGENT if session is Role.WORKER else Side.PERSON
        yield Move("writes-handoff", side, world=replace(world, handoff=True))
    if choices.questions and session is Role.WORKER and not world.question:
        yield Move("writes-question", Side.AGENT, world=replace(world, question=True))
    if status is Status.AGENT_REVIEW and not world.task.awaiting:
        side = Side.AGENT if session is Role.REVIEWER else Side.PERSON
        for outcome in (ReviewOutcome.PASS, ReviewOutcome.FAIL, ReviewOutcome.UNCLEAR):
            if outcome is not world.review:
                said = outcome is ReviewOutcome.PASS and _speaks_of_handoff(world, policy)
                yield Move(f"writes-{outcome}", side, world=replace(world, review=outcome, passed=said))
    working = session is not None or status in (Status.AGENT_REVIEW, Status.REVIEWING)
    if working and world.head is not None:
        head = HEAD if HEAD not in (world.head, world.task.end_sha) else OTHER_HEAD
        yield Move("commits", Side.AGENT, world=replace(world, head=head))
    if session is not None:
        yield Move("is-lost", Side.ENVIRONMENT, world=replace(world, session=None))


def _speaks_of_handoff(world: World, policy: Policy) -> bool:
    return world.task.end_sha in (None, world.head) or not owns_branch(world.task, policy)


_WORDS = {SignalKind.INPUT_NEEDED: ("", "which?"), SignalKind.ESCALATE: ("help",)}
_FAIR_ENDS = (Ending.CRASHED, Ending.REFUSED)
_UNCOUNTED_ENDS = (Ending.INTERRUPTED, Ending.OUTAGE, Ending.STOPPED)


def _session_moves(world: World, choices: Choices) -> Iterator[Move]:
    for actor in (WORKER, REVIEWER):
        yield from _requests(world, actor, Side.AGENT)
    if world.session is None:
        for role, actor in ACTORS.items():
            yield Move(f"starts-{role}", Side.ENGINE, SessionStarted(actor, role, "main", "work", START))
            if world.turn is TURNS[role]:
                failed = SessionEnded(actor, role, current_round(world.task, role), Ending.START_FAILED)
                yield Move(f"start-fails-{role}", Side.ENGINE, failed)
        return
    signals: list[Signal | None] = [None]
    if world.session is Role.WORKER:
        signals += [Signal(kind, text) for kind in choices.signals for text in _WORDS.get(kind, ("",))]
    red = (None, "tests failed") if world.handoff and world.session is Role.WORKER else (None,)
    for checks in red:
        for signal in signals:
            yield _end(world, Ending.CLEAN, signal, Side.AGENT, checks)
        for ending in _FAIR_ENDS:
            yield _end(world, ending, None, Side.AGENT, checks)
        for ending in _UNCOUNTED_ENDS:
            yield _end(world, ending, None, Side.ENVIRONMENT, checks)


def _end(world: World, ending: Ending, signal: Signal | None, side: Side, checks: str | None) -> Move:
    role = world.session or Role.WORKER
    said = f"-{signal.kind}" if signal else ""
    trigger = SessionEnded(ACTORS[role], role, world.session_round, ending, signal)
    return Move(f"ends-{role}-{ending}{said}", side, trigger, checks_failure=checks)


def _requests(world: World, actor: Actor, side: Side) -> Iterator[Move]:
    for row in TABLE:
        if row.source is world.task.status:
            yield Move(f"{actor.role or actor.kind}-asks-{row.target}", side, Requested(actor, row.target))


def _engine_moves(world: World, policy: Policy) -> Iterator[Move]:
    task = world.task
    yield from _requests(world, ENGINE, Side.ENGINE)
    yield Move("merges", Side.ENGINE, Merged(MERGE))
    yield Move("merge-conflicts", Side.ENGINE, MergeFailed("conflict", ("a.py",)))
    yield Move("merge-is-red", Side.ENGINE, MergeFailed("red"))
    yield Move("policy-changed", Side.ENGINE, PolicyChanged())
    if policy.review is ReviewPolicy.COUNCIL:
        yield Move("council-times-out", Side.ENGINE, CouncilUndecided())
    if world.head is not None:
        if world.head != task.end_sha:
            yield Move("head-moved", Side.ENGINE, HeadMoved(world.head))
        yield Move("agent-merged", Side.AGENT, MergeFound(WORKER, MERGE))
        yield Move("person-merged", Side.PERSON, MergeFound(ADA, MERGE))


def _children_moves(world: World) -> Iterator[Move]:
    if world.children_closed:
        yield Move("child-added", Side.ENVIRONMENT, world=replace(world, children_closed=False))
    else:
        head = None if world.head is None else HEAD if world.task.end_sha != HEAD else OTHER_HEAD
        closed = replace(world, children_closed=True, head=head)
        yield Move("children-closed", Side.AGENT, world=closed)
    children = ChildrenChanged(any_started=True, all_closed=world.children_closed)
    yield Move("children-changed", Side.ENGINE, children)


def _person_moves(world: World, kinds: tuple[Awaiting, ...]) -> Iterator[Move]:
    if not world.task.is_open:
        yield Move("reopens", Side.PERSON, Reopened(ADA))
        return
    yield from _requests(world, ADA, Side.PERSON)
    for verdict in Verdict:
        yield Move(f"says-{verdict}", Side.PERSON, VerdictGiven(ADA, verdict, "so be it"))
    yield Move("closes", Side.PERSON, Closed(ADA))
    for awaiting in (None, *kinds):
        yield Move(f"sets-{awaiting}", Side.PERSON, AwaitingSet(ADA, awaiting))
