"""What the state of a pull request means for its task."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from gitticks.errors import RefusedError
from gitticks.model.event import ENGINE, Actor, Event, EventType
from gitticks.model.notes import Entry, Section
from gitticks.model.pull_request import Check, Comment, PullState
from gitticks.model.status import ActorKind, Awaiting, Status, Verdict
from gitticks.model.task import Approval
from gitticks.workflow.artifacts import PULL_REQUEST_GATE
from gitticks.workflow.decision import Draft
from gitticks.workflow.merging import ask_for_rework
from gitticks.workflow.triggers import PullRequestOpened, PullRequestSeen

STRENGTH = "L0"
"""How strong an approving review is: a name that the forge vouches for, and nothing of ours."""
QUIET = timedelta(minutes=1)
"""So long after the last comment a task goes back."""
_LONGEST_TEXT = 8_000


def open_pull_request(draft: Draft, opened: PullRequestOpened) -> None:
    """Lets an approved task await the review of its pull request; the approval stays, for the head it was given."""
    task = draft.task
    if not task.is_merging:
        raise RefusedError(f"`{task.id}` is not approved any more", hint=f"`gt show {task.id}`")
    draft.task = replace(task, pr=opened.url)
    _await(draft, Awaiting.REVIEW, f"its pull request waits for review and merge: {opened.url}")


def opened_in(history: Iterable[Event]) -> str | None:
    """Returns the pull request that gitticks opened last; a task's `pr` may be any address that its agent named since."""
    opened = None
    for event in history:
        found = event.data.get("pr") if event.type is EventType.AWAITING_SET else None
        opened = found if isinstance(found, str) else opened
    return opened


def follow_pull_request(draft: Draft, seen: PullRequestSeen) -> None:
    """Takes in what is new: comments once each, then what sends the task back, else an approving review."""
    task, pull = draft.task, seen.pull
    if not task.is_offered or task.pr != pull.url:
        raise RefusedError(f"`{task.id}` has no open pull request", hint=f"`gt show {task.id}`")
    new = [one for one in pull.comments if one.mark not in draft.counts.taken]
    requests = [one for one in new if one.is_request]
    if pull.state is PullState.OPEN and any(draft.at - one.at < QUIET for one in requests):
        return  # whoever comments line by line is let finish
    _take_comments(draft, new)
    is_ours = pull.head == task.end_sha
    red = [one for one in pull.checks if one.is_red] if is_ours else []
    if pull.state is PullState.MERGED:
        where = f"into `{pull.base}` as {(pull.merged_as or 'an unknown commit')[:7]}"
        _ask_person(
            draft, f"its pull request was merged {where}, which its base branch does not have: {pull.url}"
        )
    elif pull.state is PullState.CLOSED:
        _ask_person(draft, f"its pull request was closed without a merge: {pull.url}")
    elif red and not any(one.is_running for one in pull.checks):
        _send_back(draft, _red_words(red))
    elif requests:
        names = ", ".join(dict.fromkeys(one.author for one in requests))
        _send_back(draft, f"changes were asked for on the pull request by {names}; each comment is a note")
    elif is_ours and pull.approved_by and not pull.refused_by:
        _approve(draft, pull.approved_by[0])


def _take_comments(draft: Draft, new: list[Comment]) -> None:
    """Adds each comment as a note at its own time, so that two clones add the same one."""
    for one in new:
        place = f"On `{one.place}`:\n\n" if one.place else ""
        text = f"{place}{one.text.strip()[:_LONGEST_TEXT]}"
        draft.add(Section.NOTES, Entry(one.at, ActorKind.HUMAN, one.author, text))
    if new:
        count = "a comment" if len(new) == 1 else f"{len(new)} comments"
        by = sorted({one.author for one in new})
        data = {"taken": [one.mark for one in new], "colleagues": by}
        draft.log(EventType.NOTED, f"{count} on the pull request", data=data)


def _red_words(red: list[Check]) -> str:
    names = ", ".join(f"`{one.name}`" for one in red)
    parts = [f"{names} failed on the pull request"]
    parts += [f"{one.name} ({one.url}):\n{one.log}" for one in red if one.log]
    return "\n\n".join(parts)


def _send_back(draft: Draft, reason: str) -> None:
    """Returns the task to its agent; stuck at the limit of reviews since a person last decided."""
    round_sent_back = draft.task.review_round
    draft.log(EventType.GATE_FAILED, reason, data={"gate": PULL_REQUEST_GATE, "round": round_sent_back})
    short = reason.partition("\n")[0]
    times = draft.counts.pulls_sent_back + 1
    if times >= draft.policy.review_limit:
        draft.enter(
            Status.STUCK,
            EventType.ADVANCED,
            f"its pull request was sent back {times} {'times' if times > 1 else 'time'}: {short}",
        )
    else:
        draft.enter(Status.WORKING, EventType.ADVANCED, short)
        ask_for_rework(draft, Status.REVIEWING, reason)


def _ask_person(draft: Draft, reason: str) -> None:
    draft.task = replace(draft.task, approval=None)
    _await(draft, Awaiting.ESCALATION, reason)


def _approve(draft: Draft, by: str) -> None:
    """Counts an approving review, where a name is enough; who created a task no name on a forge can tell."""
    task, policy = draft.task, draft.policy
    if task.awaiting is not Awaiting.REVIEW or policy.four_eyes or policy.minimum_approval > STRENGTH:
        return
    draft.log(
        EventType.VERDICT,
        "approved on the pull request",
        actor=Actor(ActorKind.HUMAN, by),
        data={
            "verdict": Verdict.APPROVED.value,
            "awaiting": Awaiting.REVIEW.value,
            "strength": STRENGTH,
        },
    )
    draft.task = replace(task, approval=Approval(by, draft.at, task.end_sha, STRENGTH))
    await_merge(draft)


def await_merge(draft: Draft) -> None:
    """Leaves the merge of an approved pull request to a person."""
    _await(draft, Awaiting.WORK, f"a person merges the pull request: {draft.task.pr}")


def _await(draft: Draft, awaiting: Awaiting, reason: str) -> None:
    draft.await_person(awaiting, reason, actor=ENGINE, data={"head": draft.task.end_sha, "pr": draft.task.pr})
