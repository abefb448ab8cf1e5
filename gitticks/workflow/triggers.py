"""Everything that `decide` can be asked: what a person, an agent or the engine did or saw."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from gitticks.model.approval import NAME
from gitticks.model.event import ENGINE, Actor
from gitticks.model.notes import Entry
from gitticks.model.pull_request import PullRequest
from gitticks.model.spending import Reading, Spent
from gitticks.model.status import Awaiting, Role, Status, Verdict
from gitticks.model.task import Ending, Usage
from gitticks.workflow.signals import Signal
from gitticks.workflow.transitions import REVIEW_LATE


class Requested(NamedTuple):
    """Somebody asks for a status: `gt update --status`, `gt complete`, `gt cancel`, `gt start`, a hand-edited file.

    `is_question` says that it is `gt ask`, which also asks a task that waits for answers already.
    `seen` is what a person looked at who asks for it as a judgement on the work.
    """

    actor: Actor
    to: Status
    reason: str | None = None
    is_question: bool = False
    seen: Seen | None = None


class SessionStarted(NamedTuple):
    """An agent is about to be started on the task, by whom, in a workspace at `start_sha`.

    `strangers` have written a part of what it reads.
    """

    actor: Actor
    role: Role
    base: str | None = None
    branch: str | None = None
    start_sha: str | None = None
    started_by: str | None = None
    strangers: tuple[str, ...] = ()


class SessionEnded(NamedTuple):
    """An agent's process ended; `role` and `round` are those it was started with.

    `detail` says in words how it ended, where that was not clean. `session_id` is the agent's name of its session,
    and `counted` the tokens (in, out) that the agent counted in it up to now, resumed parts included. `spent` is what
    this session alone took, `is_estimate` if the agent did not get to report all of it. `denied` is what its client did
    not allow it and what was refused to it here, `blocking` the reviewers of a council that blocked. `cost_source` says who priced it, if the agent did not. `has_fallback` if another agent is left that
    takes over where this one refused.
    """

    actor: Actor
    role: Role
    round: int
    ending: Ending
    signal: Signal | None = None
    warnings: tuple[str, ...] = ()
    detail: str | None = None
    session_id: str | None = None
    counted: tuple[int, int] | None = None
    spent: Usage = Usage()
    is_estimate: bool = False
    denied: tuple[str, ...] = ()
    cost_source: str | None = None
    has_fallback: bool = False
    blocking: tuple[str, ...] = ()


class CouncilUndecided(NamedTuple):
    """The council leaves the decision to a person: its time is up, or half of it or more did not speak."""

    reason: str = REVIEW_LATE
    actor: Actor = ENGINE


class PolicyChanged(NamedTuple):
    """A gate that held the task may be gone: the settings were changed, or no agent is left that could review."""

    actor: Actor = ENGINE


class Told(NamedTuple):
    """What people wrote of a task, and its open questions: a decision on it is based on these."""

    title: str
    text: str
    criteria: str
    notes: tuple[Entry, ...]
    questions: tuple[Entry, ...]


class Seen(NamedTuple):
    """What the giver of a verdict looked at; one who read nothing of it has no `told`."""

    awaiting: Awaiting | None
    asked_at: datetime | None
    head: str | None
    told: Told | None = None


class Proof(NamedTuple):
    """How strong an approval is, and what the history keeps to prove it: the `head` that was shown, and a signature.

    `names` are those that the owner of its key has written under, as far as addresses tell.
    """

    strength: str = NAME
    data: Mapping[str, str] = MappingProxyType({})
    names: frozenset[str] = frozenset()


NO_PROOF = Proof()


class VerdictGiven(NamedTuple):
    """A person answers what the task awaits.

    `note` is the text that came with it. `is_response` marks `gt respond`, whose text answers rather than comments.
    """

    actor: Actor
    verdict: Verdict
    note: str | None = None
    is_response: bool = False
    seen: Seen | None = None
    proof: Proof = NO_PROOF


class Closed(NamedTuple):
    """A person says that the work is done: awaiting work and approved in one."""

    actor: Actor
    reason: str | None = None
    seen: Seen | None = None
    proof: Proof = NO_PROOF


class AwaitingSet(NamedTuple):
    """A person asks for a person's turn, or with None gives the task back to the agent."""

    actor: Actor
    awaiting: Awaiting | None


class Merged(NamedTuple):
    """The base has the work: `sha` is the merge, or where the base stood if there was nothing to merge."""

    sha: str
    was_there: bool = False
    actor: Actor = ENGINE


class MergeFailed(NamedTuple):
    """The merge was not made; `conflicts` are paths, empty where the checks on the merged tree failed."""

    reason: str
    conflicts: tuple[str, ...] = ()
    actor: Actor = ENGINE


class MergeFound(NamedTuple):
    """The task's branch was found merged into the base by `actor`, outside the merge queue.

    `doubt` is why that does not close the task, as a clause.
    """

    actor: Actor
    sha: str
    doubt: str | None = None


class HeadMoved(NamedTuple):
    """The work branch has another commit than the one that was handed off."""

    head: str
    actor: Actor = ENGINE


class ApprovalVoided(NamedTuple):
    """An approval does not carry the merge: it is too weak, was for something else, or its signature does not hold."""

    reason: str
    actor: Actor = ENGINE


class PullRequestOpened(NamedTuple):
    """The approved head was pushed, and a pull request asks for its merge."""

    url: str
    actor: Actor = ENGINE


class PullRequestSeen(NamedTuple):
    """The forge was asked for the state of a pull request."""

    pull: PullRequest
    actor: Actor = ENGINE


class ChildrenChanged(NamedTuple):
    """An epic's children were started, closed, added or reopened."""

    any_started: bool
    all_closed: bool
    actor: Actor = ENGINE


class BudgetCounted(NamedTuple):
    """A task's or an epic's budget was counted.

    `readings` are all there are, `reached` those that have just come to a level, `total` is all that was
    counted, with an epic what was ever spent, and `on` says in words on what.
    """

    readings: tuple[Reading, ...]
    total: Spent
    on: str = ""
    reached: tuple[Reading, ...] = ()
    actor: Actor = ENGINE


class Resumed(NamedTuple):
    """A person takes a task back to a checkpoint, by its id.

    `head` is the commit that the workspace stands at, `usage` what the task had taken, `start_sha` where its work
    begins now.
    """

    actor: Actor
    checkpoint: str
    head: str
    usage: Usage
    start_sha: str | None


class Reopened(NamedTuple):
    """A person takes a closed task up again."""

    actor: Actor


Trigger = (
    Requested
    | SessionStarted
    | SessionEnded
    | CouncilUndecided
    | PolicyChanged
    | VerdictGiven
    | Closed
    | AwaitingSet
    | Merged
    | MergeFailed
    | MergeFound
    | HeadMoved
    | ApprovalVoided
    | PullRequestOpened
    | PullRequestSeen
    | ChildrenChanged
    | BudgetCounted
    | Resumed
    | Reopened
)
