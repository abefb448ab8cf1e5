"""When a checkpoint is due, which number it gets, and what going back to one means for a task."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from gitticks.errors import RefusedError
from gitticks.model.event import Data, EventType
from gitticks.model.notes import Section
from gitticks.model.status import Status
from gitticks.workflow.decision import Draft
from gitticks.workflow.triggers import Resumed

_AT_WORK = (Status.PENDING, Status.WORKING)


def is_due(before: int, after: int, every: int) -> bool:
    """True if a workspace's iterations passed a multiple of `every`."""
    return after // every > before // every


def next_number(iteration: int, taken: Collection[int]) -> int:
    """Returns the number of a new checkpoint: its iteration, unless as high a one was given out before."""
    return max(1, iteration, *(number + 1 for number in taken))


def nearest_number(wanted: int, there: Iterable[int]) -> int | None:
    """Returns the number that is nearest to one that is not there, of two the lower."""
    return min(there, key=lambda number: (abs(number - wanted), number), default=None)


def resume(draft: Draft, resumed: Resumed) -> None:
    """Gives a task back to its agent as it stood at a checkpoint; a fresh allowance comes with it."""
    task = draft.task
    if not draft.actor.is_human:
        raise RefusedError(
            "only a person can resume a task, and this is an agent's session",
            hint="`gt ask` asks a person",
        )
    if not task.is_open:
        raise RefusedError(
            f"`{task.id}` is {task.status}",
            hint=f"`gt reopen {task.id}`, then `gt resume {resumed.checkpoint}`",
        )
    if task.is_merging:
        raise RefusedError(
            f"`{task.id}` is approved and its merge has begun",
            hint=f"`gt update {task.id} --awaiting review` withdraws the approval",
        )
    if task.is_epic and task.status not in _AT_WORK:
        raise RefusedError(
            f"the epic `{task.id}` is {task.status}: all its tasks are closed",
            hint=f"`gt reopen` the task to continue with (`gt tree {task.id}`), then `gt resume {resumed.checkpoint}`",
        )
    if task.is_epic and task.awaiting is not None:
        raise RefusedError(f"the epic `{task.id}` awaits {task.awaiting}", hint=f"`gt show {task.id}`")
    reason = f"went back to checkpoint {resumed.checkpoint}"
    data: Data = {
        "checkpoint": resumed.checkpoint,
        "head": resumed.head,
        "iteration": resumed.usage.iterations,
    }
    draft.log(EventType.RESUMED, reason, data=data)
    draft.task = replace(
        task,
        usage=resumed.usage,
        start_sha=resumed.start_sha,
        agent_sessions={},
        failed_reviews=0,
        responded_at=draft.at,
    )
    if not task.is_epic:
        draft.add_entry(
            Section.NOTES,
            f"The work went back to checkpoint {resumed.checkpoint}. What later iterations did is not in the workspace.",
        )
        draft.give_back(EventType.MOVED, None)
