"""Checks what became of pull requests: once on `gt sync`, repeatedly during a run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from gitticks.actions.background import in_background
from gitticks.actions.context import Context
from gitticks.actions.trust import require_team_trusted
from gitticks.errors import GitticksError
from gitticks.model.settings import MergeMode
from gitticks.runner.context import RunContext
from gitticks.runner.events import RunEvent, TaskMoved, Warned
from gitticks.runner.pull_requests import PullRequests


def look_at_pull_requests(context: Context) -> tuple[TaskMoved, ...]:
    """Takes in what happened on the forge, and returns the tasks that it moved; what goes wrong becomes a warning."""
    moved: list[TaskMoved] = []

    def listen(event: RunEvent) -> None:
        if isinstance(event, TaskMoved):
            moved.append(event)
        elif isinstance(event, Warned):
            about = f"`{event.task}`: " if event.task else ""
            context.warnings.append(f"{about}{event.message}")

    try:
        require_team_trusted(context)
        PullRequests(RunContext(context.repository, context.settings, context.world, listen)).look_once()
    except GitticksError as error:
        context.warnings.append(f"pull requests were not checked: {error.message}")
    return tuple(moved)


@contextlib.contextmanager
def following(run: RunContext) -> Iterator[None]:
    """Takes in what happened on the forge, then continues in a thread while the block runs, every `--poll`."""
    if run.settings.merge.mode is not MergeMode.PULL_REQUEST:
        yield
        return
    pulls = PullRequests(run)
    pulls.look_once()
    with in_background(lambda over: pulls.follow(over, run.options.poll), "pull requests"):
        try:
            yield
        finally:
            pulls.stop.request(at_once=True)
