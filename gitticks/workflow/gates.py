"""The gates: whether a transition's requirements are met, and what is missing if not."""

from __future__ import annotations

from collections.abc import Iterable
from shlex import quote
from typing import assert_never

from gitticks.errors import RefusedError
from gitticks.model.event import Actor
from gitticks.model.ids import TaskId
from gitticks.model.notes import ReviewOutcome
from gitticks.model.settings import Policy, ReviewPolicy
from gitticks.model.status import Awaiting, Isolation, Status
from gitticks.model.task import Task
from gitticks.workflow.artifacts import Artifacts
from gitticks.workflow.transitions import Gate

CHECKS_NOT_RUN = "its checks have not run"
"""What keeps work from being handed off by a status in the file: running them there could block an editor for minutes."""


def missing(gate: Gate, task: Task, artifacts: Artifacts, policy: Policy, actor: Actor) -> str | None:
    """Returns what keeps a gate shut, in words that follow "cannot …: ", or None if it is open."""
    match gate:
        case Gate.NONE | Gate.REVIEW_SPENT | Gate.CRASHED | Gate.MERGE_FAILED:
            return None
        case Gate.HANDOFF:
            return _missing_handoff(task, artifacts)
        case Gate.QUESTION:
            if actor.is_agent and not artifacts.open_question:
                return f"`## Questions` has no open question in {task.file}"
            return None
        case Gate.REVIEW_PASS:
            return _missing_review(task, artifacts, policy, ReviewOutcome.PASS)
        case Gate.REVIEW_FAIL:
            lacking = _missing_review(task, artifacts, policy, ReviewOutcome.FAIL)
            return lacking or _limit_reached(task, policy, actor)
        case Gate.REVIEW_FAIL_AT_LIMIT:
            lacking = _missing_review(task, artifacts, policy, ReviewOutcome.FAIL)
            return lacking or _limit_not_reached(task, policy)
        case Gate.APPROVED:
            return "only a person's approval and the merge close reviewed work"
        case Gate.RETURNED:
            return "only a person's rejection, a failed merge or a moved branch sends reviewed work back"
    assert_never(gate)


def _missing_handoff(task: Task, artifacts: Artifacts) -> str | None:
    return open_children(artifacts.open_children) or (
        artifacts.checks_failure if artifacts.handoff else f"`## Handoff` is missing from {task.file}"
    )


def open_children(children: Iterable[TaskId]) -> str | None:
    """Returns what keeps an epic from being handed off or closed, or None if no child is open."""
    named = ", ".join(f"`{child}`" for child in children)
    return f"it has open children: {named}" if named else None


def after_children(epic: TaskId) -> str:
    """Returns the hint to what waits for an epic's children."""
    return f"`gt tree {epic}`: an epic is handed off by itself once its last child is closed"


def hint_for(task: Task, to: Status, artifacts: Artifacts) -> str:
    """Returns what opens the gate before a status."""
    if to is Status.AGENT_REVIEW and artifacts.open_children:
        return after_children(task.id)
    if to is Status.AGENT_REVIEW and artifacts.handoff and artifacts.checks_failure == CHECKS_NOT_RUN:
        return f"`gt complete {task.id}` runs them and hands off"
    if to is Status.AGENT_REVIEW and artifacts.handoff:
        return f"fix and commit that in the workspace, then `gt complete {task.id}` again"
    if to is Status.AGENT_REVIEW:
        return f'`gt handoff {task.id} --done "…"` writes it, then `gt complete {task.id}`'
    if to is Status.CLARIFICATION:
        return f'`gt ask {task.id} "…"` writes the question and asks'
    if to is Status.REVIEWING:
        return f"`gt edit {task.id}`: `PASS` below the heading `## Review`"
    return f'`gt review {task.id} --reject "…"` or `gt edit {task.id}` writes the review'


def _missing_review(task: Task, artifacts: Artifacts, policy: Policy, wanted: ReviewOutcome) -> str | None:
    if has_moved(task, artifacts, policy):
        head = str(artifacts.head)[:7]
        return f"its branch moved to {head} after the hand-off, so `## Review` is about another commit"
    if artifacts.review is wanted:
        return None
    word = wanted.value.upper()
    if artifacts.review is ReviewOutcome.MISSING:
        return f"`## Review` of this round is missing from {task.file} (it needs the verdict {word})"
    if artifacts.review is ReviewOutcome.UNCLEAR:
        return f"`## Review` in {task.file} does not clearly begin with PASS or FAIL (it needs a line {word})"
    return f"the verdict of `## Review` in {task.file} is {artifacts.review.value.upper()}, not {word}"


def owns_branch(task: Task, policy: Policy) -> bool:
    """True if the work branch is this task's alone, so that its head speaks of this task and done merges it.

    A task of an epic with one workspace works on the epic's branch, and what was made there stays the epic's to merge,
    also if the task has left it since; one without an epic has a branch of its own.
    """
    if policy.isolation is Isolation.EPIC:
        return task.is_epic or (task.parent is None and task.sharing_epic is None)
    return policy.isolation is Isolation.TASK and not task.is_epic


def orphaned_by(task: Task, artifacts: Artifacts) -> TaskId | None:
    """Returns the epic with which the code that is there would have been merged; None if it still can be."""
    head = task.end_sha if task.is_handed_off else artifacts.head
    return None if head in (None, task.start_sha) else artifacts.left_epic


def has_moved(task: Task, artifacts: Artifacts, policy: Policy) -> bool:
    """True if the branch has another head than the one that was handed off."""
    return is_other_head(artifacts.head, task.end_sha) and owns_branch(task, policy)


def is_other_head(head: str | None, handed_off: str | None) -> bool:
    """True if both are known and differ."""
    return None not in (head, handed_off) and head != handed_off


def check_code(task: Task, artifacts: Artifacts, policy: Policy) -> None:
    """Refuses to approve handed-off work whose branch has other commits by now, or code that its epic merges no more."""
    is_judged = task.is_handed_off and task.awaiting is not Awaiting.WORK
    if is_judged and has_moved(task, artifacts, policy):
        raise RefusedError(
            f"`{task.id}` has new commits since it was handed off ({str(artifacts.head)[:7]}, reviewed "
            f"{(task.end_sha or 'none')[:7]})",
            hint=f'`gt reject {task.id} "hand off again"` sends it back; if they are yours, `gt handoff {task.id} --done "…" && gt complete {task.id}` after that',
        )
    epic = orphaned_by(task, artifacts)
    if epic is not None:
        own = "a branch of its own"
        anew = (
            f"`gt start {task.id}` begins on {own}, where `git cherry-pick` brings what is on `{task.branch}`"
        )
        back = f'`gt reject {task.id} "…"` sends it back, and it starts over on {own}'
        raise RefusedError(
            f"the work of `{task.id}` is on the branch of the epic `{epic}`, with which it is merged no more",
            hint=back if task.is_handed_off else anew,
        )


def check_branch(task: Task, artifacts: Artifacts) -> None:
    """Refuses to hand off or close work that was begun in another clone and never handed off: nothing of it is here."""
    is_begun_elsewhere = task.branch is not None and artifacts.head is None and task.end_sha is None
    if not is_begun_elsewhere or task.is_handed_off or task.merged_sha is not None:
        return
    raise RefusedError(
        f"the work on `{task.id}` is on `{task.branch}`, and that branch is not in this clone",
        hint=f"{how_to_fetch(str(task.branch))}{if_lost(task.id)}, or to close it without",
    )


def how_to_fetch(branch: str, place: str | None = None) -> str:
    """Returns how a branch comes here; git does not fetch into one that is checked out, as at a `place`."""
    way = f"fetch origin {branch}:{branch}"
    if place is not None:
        way = f"-C {quote(place)} pull --no-rebase --no-edit origin {branch}"
    return f"`git push origin {branch}` where it was made, then `git {way}` here"


def if_lost(task_id: TaskId) -> str:
    """Returns what a hint says of commits that nobody has any more."""
    return f"; if it is lost, `gt cancel {task_id}`, then `gt reopen {task_id}` to begin again"


def is_at_limit(task: Task, policy: Policy) -> bool:
    """True if one more FAIL spends the rounds: the second of a single reviewer, the fourth of a council."""
    if policy.review is ReviewPolicy.COUNCIL:
        return task.failed_reviews >= policy.council_rounds
    return task.failed_reviews + 1 >= policy.review_limit


def _limit_reached(task: Task, policy: Policy, actor: Actor) -> str | None:
    if actor.is_human or not is_at_limit(task, policy):
        return None
    return "the limit of failed reviews is reached, so a person decides"


def _limit_not_reached(task: Task, policy: Policy) -> str | None:
    if policy.review is ReviewPolicy.COUNCIL:
        return "a council that blocked too often hands over to a person's review, it leaves nothing stuck"
    return None if is_at_limit(task, policy) else "the limit of failed reviews is not reached"
