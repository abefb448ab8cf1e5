"""What a move makes of the small world: the decision that follows, and what the files and the clone keep then."""

from __future__ import annotations

from dataclasses import replace

from gitticks.errors import RefusedError
from gitticks.model.event import ENGINE, Event, EventType
from gitticks.model.notes import ReviewOutcome, Section
from gitticks.model.settings import HumanPolicy, Policy, ReviewPolicy
from gitticks.model.status import ActorKind, Isolation, Status, Verdict
from gitticks.model.task import Task
from gitticks.workflow.artifacts import Artifacts, Counts
from gitticks.workflow.decide import decide
from gitticks.workflow.decision import Decision
from gitticks.workflow.sessions import current_round
from gitticks.workflow.triggers import (
    ChildrenChanged,
    Closed,
    MergeFound,
    SessionEnded,
    SessionStarted,
    Trigger,
    VerdictGiven,
)
from tests.support.decisions import ADA, AT, START, WORKER
from tests.workflow.world import TURNS, Move, World


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
    entered_review = any(step.to_status is Status.AGENT_REVIEW for step in decision.steps)
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
    return _follow_session(after, trigger)


def _question(world: World, decision: Decision) -> bool:
    entries = [entry for section, entry in decision.entries if section is Section.QUESTIONS]
    return entries[-1].kind is not ActorKind.HUMAN if entries else world.question


def _head(world: World, trigger: Trigger, task: Task) -> str | None:
    if task.start_sha is None:
        return None
    return START if isinstance(trigger, SessionStarted) and world.head is None else world.head


def _follow_session(world: World, trigger: Trigger) -> World:
    if isinstance(trigger, SessionStarted):
        number = current_round(world.task, trigger.role)
        return replace(world, session=trigger.role, session_round=number)
    role = world.session
    if role is None or isinstance(trigger, SessionEnded):
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
        *(Event(EventType.VOIDED, AT, ENGINE, data={"head": "f" * 40}) for _ in range(counts.voids)),
    )


def asked_gates(world: World, policy: Policy) -> tuple[bool, bool]:
    """Returns whether an agent's review and whether a person is asked for before this task may be done."""
    task = world.task
    without_code = task.is_epic and policy.isolation is not Isolation.EPIC
    review = policy.review is not ReviewPolicy.NONE and not without_code
    always = policy.human is HumanPolicy.ALWAYS and not without_code
    return review, always or task.requires is not None or task.asked is not None
