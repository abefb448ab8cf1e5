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

from gitticks.errors import RefusedError
from gitticks.model.event import ENGINE, Actor, Event, EventType
from gitticks.model.notes import ReviewOutcome, Section
from gitticks.model.policy import HumanPolicy, Policy, ReviewPolicy
from gitticks.model.session import Ending
from gitticks.model.status import ActorKind, Awaiting, Isolation, Role, Status, Verdict
from gitticks.model.task import Task
from gitticks.workflow.artifacts import Artifacts, Counts
from gitticks.workflow.decide import decide
from gitticks.workflow.decision import Decision, Turn, whose_turn
from gitticks.workflow.gates import owns_branch
from gitticks.workflow.sessions import current_round
from gitticks.workflow.signals import Signal, SignalKind
from gitticks.workflow.transitions import TABLE
from gitticks.workflow.triggers import (
    AwaitingSet,
    ChildrenChanged,
    Closed,
    HeadMoved,
    Merged,
    MergeFailed,
    MergeFound,
    PolicyChanged,
    Reopened,
    Requested,
    ReviewTimedOut,
    SessionEnded,
    SessionStarted,
    Trigger,
    VerdictGiven,
)
from tests.support.decisions import ADA, AT, HEAD, MERGE, OTHER_HEAD, REVIEWER, START, WORKER

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
        yield Move("council-times-out", Side.ENGINE, ReviewTimedOut())
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


def carry_out(world: World, move: Move, policy: Policy) -> tuple[World, Decision | None]:
    """Returns the world after a move, and the decision; a refused trigger changes nothing. Counts are the caller's."""
    if move.trigger is None:
        return move.world or world, None
    in_review = world.task.status is Status.AGENT_REVIEW
    artifacts = Artifacts(
        handoff=world.handoff,
        review=world.review if in_review else ReviewOutcome.MISSING,
        open_question=world.question,
        checks_failure=move.checks_failure,
        head=world.head,
    )
    try:
        decision = decide(
            world.task, move.trigger, at=AT, artifacts=artifacts, counts=world.counts, policy=policy
        )
    except RefusedError:
        return world, None
    return _follow(world, move.trigger, decision), decision


def _follow(world: World, trigger: Trigger, decision: Decision) -> World:
    task = decision.task
    entered_review = any(step.target is Status.AGENT_REVIEW for step in decision.steps)
    handoff = world.handoff and Section.HANDOFF not in decision.archived
    handoff = handoff or (entered_review and task.is_epic and isinstance(trigger, ChildrenChanged))
    review = ReviewOutcome.MISSING if Section.REVIEW in decision.archived else world.review
    same_commit = task.end_sha == world.task.end_sha and not entered_review
    approves = (
        isinstance(trigger, Closed)
        or (isinstance(trigger, VerdictGiven) and trigger.verdict is Verdict.APPROVED)
        or (isinstance(trigger, MergeFound) and trigger.actor.is_human)
    )
    after = replace(
        world,
        task=task,
        handoff=handoff,
        review=review,
        question=_question(world, decision),
        head=_head(world, trigger, task),
        children_closed=world.children_closed and decision.rework is None,
        passed=world.passed and same_commit and Section.REVIEW not in decision.archived,
        approved=task.status in (Status.REVIEWING, Status.DONE)
        and ((world.approved and same_commit) or approves),
    )
    return _follow_session(after, trigger, decision)


def _question(world: World, decision: Decision) -> bool:
    entries = [entry for section, entry in decision.entries if section is Section.QUESTIONS]
    return entries[-1].kind is not ActorKind.HUMAN if entries else world.question


def _head(world: World, trigger: Trigger, task: Task) -> str | None:
    if task.start_sha is None:
        return None
    return START if isinstance(trigger, SessionStarted) and world.head is None else world.head


def _follow_session(world: World, trigger: Trigger, decision: Decision) -> World:
    if isinstance(trigger, SessionStarted):
        number = current_round(world.task, trigger.role)
        return replace(world, session=trigger.role, session_round=number)
    role = world.session
    if role is None or isinstance(trigger, SessionEnded) or decision.stops_session:
        return replace(world, session=None, session_round=0)
    current = world.turn is TURNS[role] and world.session_round == current_round(world.task, role)
    return world if current else replace(world, session=None, session_round=0)


def history_of(counts: Counts) -> tuple[Event, ...]:
    """Returns a shortest history that has these counts."""
    word = Event(EventType.VERDICT, AT, ADA, data={"awaiting": "work", "verdict": "approved"})
    return (
        *((word,) if counts.work_approved else ()),
        *(
            Event(EventType.SESSION_ENDED, AT, WORKER, data={"iteration": True})
            for _ in range(counts.iterations)
        ),
        *(
            Event(EventType.GATE_FAILED, AT, ENGINE, data={"gate": "checks"})
            for _ in range(counts.failed_checks)
        ),
        *(Event(EventType.REFUSED, AT, WORKER) for _ in range(counts.refusals)),
        *(Event(EventType.MERGE_FAILED, AT, ENGINE) for _ in range(counts.failed_merges)),
        *(Event(EventType.VOIDED, AT, ENGINE) for _ in range(counts.voids)),
    )


def asked_gates(world: World, policy: Policy) -> tuple[bool, bool]:
    """Returns whether an agent's review and whether a person is asked for before this task may be done."""
    task = world.task
    without_code = task.is_epic and policy.isolation is not Isolation.EPIC
    review = policy.review is not ReviewPolicy.NONE and not without_code
    always = policy.human is HumanPolicy.ALWAYS and not without_code
    return review, always or task.requires is not None or task.asked is not None
