"""A decision: what a trigger makes of a task; and the draft it is built in."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from enum import Enum
from typing import NamedTuple

from gitticks.model.event import ENGINE, NO_DATA, Actor, Data, Event, EventType
from gitticks.model.notes import Entry, Section
from gitticks.model.settings import HumanPolicy, MergeMode, Policy, ReviewPolicy
from gitticks.model.status import Awaiting, Isolation, Role, Status
from gitticks.model.task import Approval, Task
from gitticks.workflow import gates
from gitticks.workflow.approvals import WAIVED, with_head
from gitticks.workflow.artifacts import Artifacts, Counts
from gitticks.workflow.transitions import AWAITED_IN


class Turn(Enum):
    """Whose move it is; every task has exactly one."""

    WORKER = "worker"
    REVIEWER = "reviewer"
    PERSON = "person"
    MERGE = "merge"
    CHILDREN = "children"
    NOBODY = "nobody"


def whose_turn(task: Task) -> Turn:
    """Returns whose move it is on a task, from its frontmatter alone."""
    if not task.is_open:
        return Turn.NOBODY
    if task.awaiting is not None:
        return Turn.PERSON
    if task.status is Status.REVIEWING:
        return Turn.MERGE
    if task.status is Status.AGENT_REVIEW:
        return Turn.REVIEWER
    return Turn.CHILDREN if task.is_epic else Turn.WORKER


def is_turn_of(task: Task, role: Role) -> bool:
    """True if it is this role's move on a task; a clarifier's is while the task is clarified."""
    if role is Role.CLARIFIER:
        return task.status is Status.CLARIFICATION
    return whose_turn(task) is _TURNS[role]


def goes_on_in_run(task: Task) -> bool:
    """True if a run has more to do for a task: work, a review or the merge."""
    return task.is_merging or is_turn_of(task, Role.WORKER) or is_turn_of(task, Role.REVIEWER)


def awaits_hands(task: Task) -> bool:
    """True while a person is to do a task's work, and can begin it."""
    begins = task.status in (Status.PENDING, Status.WORKING)
    return begins and task.awaiting is Awaiting.WORK and not task.is_epic


_TURNS = {Role.WORKER: Turn.WORKER, Role.REVIEWER: Turn.REVIEWER}


def waived_person(task: Task, policy: Policy, strangers: Collection[str] = ()) -> str | None:
    """Returns why no person is asked after a task's review; None if one is, as always where strangers wrote a part."""
    if task.requires or task.asked or strangers:
        return None
    if task.is_epic and policy.isolation is not Isolation.EPIC:
        return "all children are closed"
    if policy.is_name_too_little:
        return None
    if policy.human is HumanPolicy.WHEN_REQUIRED:
        return "the settings ask for a person only if one is required"
    return None


class Decision(NamedTuple):
    """All that one trigger changes, to be written in one commit.

    `entries` go under their sections in order. `archived` sections move to `rounds/`. `rework` is the feedback for a
    child that an epic sent back needs.
    """

    task: Task
    events: tuple[Event, ...] = ()
    entries: tuple[tuple[Section, Entry], ...] = ()
    archived: tuple[Section, ...] = ()
    rework: str | None = None

    @property
    def steps(self) -> tuple[Event, ...]:
        """Returns the events that move the task, in order."""
        return tuple(event for event in self.events if event.to_status is not None)


class Draft:
    """A decision being put together; every way of moving a task is a method here, so that none skips a duty."""

    def __init__(
        self, task: Task, *, at: datetime, actor: Actor, artifacts: Artifacts, counts: Counts, policy: Policy
    ) -> None:
        self.task = task
        self.at = at
        self.actor = actor
        self.artifacts = artifacts
        self.counts = counts
        self.policy = policy
        self.rework: str | None = None
        self._events: list[Event] = []
        self._entries: list[tuple[Section, Entry]] = []
        self._archived: list[Section] = []

    def finish(self) -> Decision:
        """Returns the decision."""
        return Decision(
            self.task,
            with_head(self._events, self.task.end_sha),
            tuple(self._entries),
            tuple(self._archived),
            self.rework,
        )

    def log(
        self,
        kind: EventType,
        reason: str | None = None,
        *,
        actor: Actor | None = None,
        data: Data = NO_DATA,
    ) -> None:
        """Adds an event that is no transition."""
        self._events.append(Event(kind, self.at, actor or self.actor, reason=reason, data=data))

    def enter(
        self,
        target: Status,
        cause: EventType,
        reason: str | None = None,
        *,
        awaiting: Awaiting | None = None,
        actor: Actor | None = None,
    ) -> None:
        """Moves the task, with everything that entering a status brings with it."""
        source = self.task.status
        self._events.append(Event(cause, self.at, actor or self.actor, source, target, reason))
        crashes = self.task.crash_count if target is Status.STUCK else 0
        # What a person began is theirs again when it comes back: their uncommitted work may be in the workspace.
        claim = None if target.is_terminal else self.task.claim
        self.task = replace(self.task, status=target, crash_count=crashes, claim=claim)
        self.set_awaiting(None)
        match target:
            case Status.WORKING:
                self._return_to_agent(first=source is Status.PENDING)
            case Status.AGENT_REVIEW:
                self.archive(Section.REVIEW)
                head = self.artifacts.head or self.task.end_sha
                self.task = replace(
                    self.task, review_round=self.task.review_round + 1, end_sha=head, approval=None
                )
            case Status.REVIEWING:
                asked = self.task.requires or self.task.asked
                self.set_awaiting(asked.awaiting if asked else AWAITED_IN[target])
            case Status.CLARIFICATION:
                self.set_awaiting(awaiting or AWAITED_IN[target])
            case Status.STUCK:
                self.archive(Section.HANDOFF)
                self.task = replace(self.task, approval=None)
                self.set_awaiting(AWAITED_IN[target])
            case Status.DONE | Status.CANCELLED:
                self.task = replace(
                    self.task, asked=None, approval=None, closed=self.at, closed_reason=reason
                )
            case Status.PENDING:
                pass

    def _return_to_agent(self, *, first: bool) -> None:
        if not first:
            self.archive(Section.HANDOFF)
        self.task = replace(self.task, asked=None, approval=None)

    def give_up(self, reason: str) -> None:
        """Makes a task stuck that its agent does not get done; what is still pending passes through work."""
        if self.task.status is Status.PENDING:
            self.enter(Status.WORKING, EventType.ADVANCED, reason, actor=ENGINE)
        self.enter(Status.STUCK, EventType.ADVANCED, reason, actor=ENGINE)

    def give_back(self, cause: EventType, reason: str | None) -> None:
        """Returns the task to the agent: the four statuses past the work become working, the others stay."""
        if self.task.status in (Status.PENDING, Status.WORKING):
            self.set_awaiting(None)
            self.task = replace(self.task, crash_count=0)
            if self.task.status is Status.WORKING:
                self._return_to_agent(first=False)
        else:
            self.enter(Status.WORKING, cause, reason)

    def set_awaiting(self, awaiting: Awaiting | None) -> None:
        """Sets whose turn it is, and since when."""
        asked_at = self.at if awaiting is not None else self.task.asked_at
        self.task = replace(self.task, awaiting=awaiting, verdict=None, asked_at=asked_at)

    def await_person(
        self, awaiting: Awaiting, reason: str | None, *, actor: Actor | None = None, data: Data = NO_DATA
    ) -> None:
        """Makes it a person's turn, and records why."""
        self.set_awaiting(awaiting)
        self.log(EventType.AWAITING_SET, reason, actor=actor, data={"awaiting": awaiting.value, **data})

    def archive(self, section: Section) -> None:
        """Moves a section to `rounds/`, once; that it may be missing is the writer's business."""
        if section not in self._archived:
            self._archived.append(section)

    def has_archived(self, section: Section) -> bool:
        """True if this decision moved the section away, so that no gate may read it any more."""
        return section in self._archived

    def add_entry(self, section: Section, text: str) -> None:
        """Adds a note, a question or an answer."""
        self.add(section, Entry(self.at, self.actor.kind, self.actor.name, text))

    def add(self, section: Section, entry: Entry) -> None:
        """Adds an entry of another time than this decision's."""
        self._entries.append((section, entry))

    def waive(self, gate: str, reason: str, *, actor: Actor | None = None) -> None:
        """Records that a gate was waived, by a person or (`ENGINE`) by policy."""
        self.log(EventType.WAIVED, reason, actor=actor, data={"gate": gate})

    def run_on(self) -> None:
        """Continues from agent-review and reviewing as far as the gates allow without anybody."""
        if self.task.status is Status.AGENT_REVIEW and self._waived_review is not None:
            self.waive("review", self._waived_review, actor=ENGINE)
            self.enter(Status.REVIEWING, EventType.ADVANCED, self._waived_review, actor=ENGINE)
        waived = waived_person(self.task, self.policy, self.counts.strangers)
        epic = gates.orphaned_by(self.task, self.artifacts)
        if self.task.status is Status.REVIEWING and waived is not None and epic is not None:
            reason = f"it starts over: it was on the branch of {epic}, with which it is merged no more"
            self.enter(Status.WORKING, EventType.ADVANCED, reason, actor=ENGINE)
        elif self.task.status is Status.REVIEWING and waived is not None:
            self.waive("person", waived, actor=ENGINE)
            self.close_or_merge(Approval("gitticks", self.at, self.task.end_sha, WAIVED), waived)

    @property
    def _waived_review(self) -> str | None:
        if self.task.is_epic and self.policy.isolation is not Isolation.EPIC:
            return "the epic has no code of its own"
        if self.policy.review is ReviewPolicy.NONE:
            return "the settings ask for no review"
        return self.policy.review_waiver

    def close_or_merge(self, approval: Approval, reason: str) -> None:
        """Carries out an approval in reviewing: the merge first where there is code, else done at once."""
        if not self.needs_merge:
            self.enter(Status.DONE, EventType.ADVANCED, reason, actor=ENGINE)
        elif self.policy.merge_mode is MergeMode.MANUAL:
            self.await_person(Awaiting.WORK, "a person merges the branch", actor=ENGINE)
        else:
            self.set_awaiting(None)
            self.task = replace(
                self.task, approval=approval
            )  # a merge, or what offers it to a forge, is next

    @property
    def needs_merge(self) -> bool:
        """True if done means that commits reach the base first."""
        return self.task.has_code and gates.owns_branch(self.task, self.policy)

    @property
    def head_moved(self) -> bool:
        """True if the task's own branch has another head than the one that was handed off."""
        return gates.has_moved(self.task, self.artifacts, self.policy)
