"""Reports what happened: to one task from its events, to all from the commits of the state branch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from gitticks.errors import GitticksError
from gitticks.model.ids import TaskId, is_valid_id
from gitticks.store.layout import STATE_REF, state_tip

if TYPE_CHECKING:
    from datetime import datetime

    from gitticks.actions.context import Context
    from gitticks.git.log import LoggedCommit
    from gitticks.model.event import Event


class TaskHistory(NamedTuple):
    """A task's events, oldest first; `left_out` is how many earlier ones there are."""

    task_id: TaskId
    events: tuple[Event, ...]
    left_out: int


def task_history(
    context: Context, task: str | None, count: int | None = None, since: datetime | None = None
) -> TaskHistory:
    """Returns the events of a task: only the last `count`, and those `since` a time."""
    task_id = context.resolve(task)
    events = events_in(context.index.history(task_id))
    kept = tuple(event for event in events if since is None or event.at >= since)
    kept = kept if count is None else kept[max(0, len(kept) - count) :]
    return TaskHistory(task_id, kept, len(events) - len(kept))


def events_in(history: bytes) -> tuple[Event, ...]:
    """Returns the events of a history.jsonl that can be understood, in file order."""
    if not history:
        return ()
    from gitticks.document.history import (
        read_history,  # which takes as long as a page, and many have no history
    )

    return read_history(history).events


def branch_history(
    context: Context, count: int | None, since: datetime | None = None
) -> tuple[LoggedCommit, ...]:
    """Returns the commits of the state branch, newest first: only the last `count`, and those `since` a time."""
    from gitticks.git.log import read_log

    state_tip(context.repository)
    return read_log(context.repository, STATE_REF, count=count, since=since)


def task_of(commit: LoggedCommit) -> str | None:
    """Returns the id that a commit's subject begins with; None if it begins with none."""
    name, colon, _ = commit.subject.partition(":")
    return name if colon and is_valid_id(name) else None


def titles_in(context: Context, commits: Iterable[LoggedCommit]) -> dict[str, str]:
    """Returns the present titles of the tasks that commits are about, by id; none where tasks cannot be read."""
    ids = {task_id for commit in commits if (task_id := task_of(commit)) is not None}
    try:
        return {task.id: task.title for task in context.index.known(sorted(ids)).values()}
    except GitticksError:
        return {}  # the log is what somebody looks at who fixes them
