"""What `decide` knows of a task's text, code and history; plain values that other layers fill in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from gitticks.model.event import ENGINE, NO_DATA, Data, Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.notes import ReviewOutcome, Section
from gitticks.model.spending import NOTHING, Level, Spent
from gitticks.model.status import Awaiting, Role, Status, Verdict
from gitticks.model.task import CAME_TO_NOTHING, Approval, Ending, Task
from gitticks.workflow.budget import spent_in_session, total_data, total_in
from gitticks.workflow.triggers import Told


class Artifacts(NamedTuple):
    """The artifacts as they stand now.

    Sections that an earlier round left were archived when the round ended, so a section that is there is fresh,
    except a `## Review` outside agent-review, which stays only to be read.

    `checks_failure` is the first quality gate that failed, in words; None if all passed or none applies.
    `head` is the work branch's present commit, None where there is no workspace.
    `review` is what a reader may act on: MISSING outside agent-review.
    `told` is what people wrote of the task. `open_children` are an epic's, sorted as they would be picked.
    `left_epic` is the one on whose branch the work is, if it is merged with that epic no more. `in_base` says whether
    the base has what was handed off; None where nobody asked, or this clone cannot tell. `approved` is the approval
    that the history has of it.
    """

    handoff: bool = False
    review: ReviewOutcome = ReviewOutcome.MISSING
    open_question: bool = False
    checks_failure: str | None = None
    head: str | None = None
    told: Told | None = None
    open_children: tuple[TaskId, ...] = ()
    left_epic: TaskId | None = None
    in_base: bool | None = None
    approved: Approval | None = None


def with_checks(events: Iterable[Event], checks: str, head: str | None) -> tuple[Event, ...]:
    """Returns a decision's events; the hand-off among them says what the quality gates came to, and on which commit."""
    return tuple(
        one._replace(data={**one.data, "checks": checks, "head": head or ""})
        if one.to_status is Status.AGENT_REVIEW
        else one
        for one in events
    )


def checks_of(history: Sequence[Event], head: str | None) -> str | None:
    """Returns what the gates came to when a commit was handed off last; None if none ran, or it was another commit."""
    data = next((one.data for one in reversed(history) if one.to_status is Status.AGENT_REVIEW), NO_DATA)
    return str(data["checks"]) if "checks" in data and data.get("head") == head else None


class Counts(NamedTuple):
    """Counts since a person last decided about the task.

    `work_approved` is true if that word said that a person did the work, and nobody moved the task since. `overflows`
    are sessions in a row that ended because the agent's context window was full, `interruptions` those whose runner
    died. `spent` is what all sessions took.
    `taken` are the marks of all comments of pull requests that ever became notes. `hands` are the people who ever
    worked on the task, by hand or by an agent that they started. `strangers` have written what agents read.
    """

    iterations: int = 0
    failed_checks: int = 0
    refusals: int = 0
    failed_merges: int = 0
    voids: int = 0
    work_approved: bool = False
    overflows: int = 0
    interruptions: int = 0
    spent: Spent = NOTHING
    pulls_sent_back: int = 0
    taken: frozenset[str] = frozenset()
    hands: frozenset[str] = frozenset()
    strangers: frozenset[str] = frozenset()


PULL_REQUEST_GATE = "pull request"
"""How an event names what a forge let fail."""

PERSONS_WORD = frozenset(
    {EventType.VERDICT, EventType.MOVED, EventType.AWAITING_SET, EventType.REOPENED, EventType.RESUMED}
)
"""What a person's decision about a task's state is told by."""


def count_since_last_word(history: Iterable[Event]) -> Counts:
    """Returns the counts that a history gives, oldest event first; so restarts and other hosts agree on them."""
    history = tuple(history)
    counts, sent_back, taken = Counts(), set[str](), set[str]()
    for event in history:
        if _is_word(event):
            counts = Counts(work_approved=_approves_work(event, before=counts.work_approved))
            sent_back.clear()
        elif event.type in (EventType.ADVANCED, EventType.MOVED):
            counts = counts._replace(
                failed_checks=0, refusals=0, overflows=0, interruptions=0, work_approved=False
            )
        elif event.type is EventType.SESSION_ENDED:
            is_interrupted = event.data.get("ending") == Ending.INTERRUPTED
            counts = counts._replace(
                iterations=counts.iterations + bool(event.data.get("iteration")),
                overflows=_overflows(event, counts.overflows),
                interruptions=counts.interruptions + 1 if is_interrupted else 0,
                spent=counts.spent.plus(spent_in_session(event)),
            )
        elif event.type is EventType.GATE_FAILED:
            is_of_checks = event.data.get("gate") == "checks"
            counts = counts._replace(failed_checks=counts.failed_checks + is_of_checks)
            sent_back |= _rounds_sent_back(event)
        elif event.type is EventType.NOTED:
            taken.update(_texts(event, "taken"))
        elif event.type in (EventType.REFUSED, EventType.START_FAILED):
            counts = counts._replace(refusals=counts.refusals + 1)
        elif event.type is EventType.MERGE_FAILED:
            counts = counts._replace(failed_merges=counts.failed_merges + 1)
        elif event.type is EventType.VOIDED and "head" in event.data:  # the branch moved
            counts = counts._replace(voids=counts.voids + 1)
    return counts._replace(
        pulls_sent_back=len(sent_back),
        taken=frozenset(taken),
        hands=hands_of(history),
        strangers=strangers_in(history),
    )


def strangers_in(history: Iterable[Event]) -> frozenset[str]:
    """Returns whose text, of people strange to the runner, a task's agents were ever given.

    A reopened task continues from its earlier commits, so what was read before counts. To an epic's history
    `left_on_epic` adds those whose text was read for what its tasks left on its branch.
    """
    told = (event for event in history if event.type in (EventType.SESSION_STARTED, EventType.WARNED))
    return frozenset(name for event in told for name in _texts(event, "strangers"))


def strangers_that_count(task: Task, strangers: Collection[str]) -> Collection[str]:
    """Returns those strangers whose text can be in a task's work: none for an epic, whose agents only review."""
    return () if task.is_epic else strangers


def colleagues_in(history: Iterable[Event]) -> frozenset[str]:
    """Returns whose notes came from a pull request: the forge vouches for their role in the project."""
    return frozenset(
        name for event in history if event.type is EventType.NOTED for name in _texts(event, "colleagues")
    )


def _texts(event: Event, key: str) -> list[str]:
    """Returns a list of an event's data; a history may hold anything."""
    found = event.data.get(key)
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def hands_of(history: Iterable[Event]) -> frozenset[str]:
    """Returns the names of the people who ever worked on a task, or whose agent did."""
    names: set[str] = set()
    for event in history:
        if event.begins(Role.WORKER):
            by = event.actor.name if event.actor.is_human else event.data.get("by")
            names |= {by} if isinstance(by, str) else set()
        elif event.is_edit_of(Section.HANDOFF):
            names.add(event.actor.name)
        elif event.type is EventType.WARNED:
            names.update(_texts(event, "hands"))
    return frozenset(names)


def left_on_epic(task: TaskId, history: Sequence[Event], at: datetime) -> Event | None:
    """Returns the event for an epic's history that names who made the commits that `task` leaves on its branch.

    No approval of the task covers these. None if nobody worked on it.
    """
    hands, strangers = sorted(hands_of(history)), sorted(strangers_in(history))
    data: Data = {"task": task, "hands": list(hands), "strangers": list(strangers)}
    told = Event(EventType.WARNED, at, ENGINE, reason=f"commits of {task} stay on the branch", data=data)
    return told if hands or strangers else None


def refused_since_last_word(history: Iterable[Event]) -> frozenset[str]:
    """Returns the agents that refused a task, or could not be started on it, since it moved on or a person spoke."""
    refused: set[str] = set()
    for event in history:
        if _is_word(event) or event.type in (EventType.ADVANCED, EventType.MOVED):
            refused.clear()
        elif event.type in (EventType.REFUSED, EventType.START_FAILED):
            refused.add(event.actor.name)
    return frozenset(refused)


def granted_before(history: Iterable[Event]) -> Spent:
    """Returns what an epic and all below it had taken when a person let it continue after its budget was spent."""
    return _grants(history)[0]


def awaits_grant(history: Iterable[Event]) -> bool:
    """True if an epic's budget is spent and no person has let it continue since."""
    return _grants(history)[1]


def with_grant(events: Sequence[Event], total: Spent) -> tuple[Event, ...]:
    """Returns the events of a person's word that grants an epic more, with what was spent by then.

    Sessions that were at work when it stopped may have ended since.
    """
    found = list(events)
    for place, event in enumerate(found):
        if _is_word(event):
            found[place] = event._replace(data={**event.data, **total_data(total)})
            break
    return tuple(found)


def _grants(history: Iterable[Event]) -> tuple[Spent, bool]:
    """Returns what was granted up to now, and whether more has to be."""
    stopped_at = granted = Spent()
    is_open = False
    for event in history:
        if event.type is EventType.BUDGET and event.data.get("level") == Level.SPENT.value:
            stopped_at, is_open = total_in(event), True
        elif _is_word(event):
            if total_in(event) != NOTHING:
                stopped_at = total_in(event)
            granted, is_open = stopped_at, False
    return granted, is_open


def _is_word(event: Event) -> bool:
    return event.actor.is_human and event.type in PERSONS_WORD


def _rounds_sent_back(failed: Event) -> set[str]:
    """Returns the round in which the pull request was sent back: two clones may record the same one."""
    is_forges = failed.data.get("gate") == PULL_REQUEST_GATE
    return {str(failed.data.get("round", failed.at))} if is_forges else set()


def _overflows(ended: Event, before: int) -> int:
    ending = ended.data.get("ending")
    if ending == Ending.CONTEXT_FULL:
        return before + 1
    return before if ending in CAME_TO_NOTHING else 0


def _approves_work(event: Event, *, before: bool) -> bool:
    if event.type is EventType.VERDICT and "awaiting" not in event.data:
        return before  # a step that the verdict led to
    return (event.data.get("awaiting"), event.data.get("verdict")) == (
        Awaiting.WORK.value,
        Verdict.APPROVED.value,
    )
