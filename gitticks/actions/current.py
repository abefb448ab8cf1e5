"""What is being worked on in this clone: by live agents, and by hand in workspaces."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from gitticks.actions.context import Context
from gitticks.actions.derived_state import Standing, standing_of
from gitticks.git.refs import BRANCHES, read_symbolic_ref
from gitticks.model.ids import WORK_BRANCH, TaskId, is_valid_id
from gitticks.model.queries import Graph, Surroundings
from gitticks.model.task_row import TaskRow
from gitticks.runner.liveness import names_in
from gitticks.safe_read import read_plain_text
from gitticks.store.task_ids import begun_in

if TYPE_CHECKING:
    from gitticks.model.task import SessionRecord


class InWork(NamedTuple):
    """A task in work: the live session, or None where a person or an agent that nobody started works by hand.

    It is None too where the session asks itself, `is_own`, from a sandbox that hides its record.

    `iterations` of workers have ended on it so far, and `cost` is what all sessions on it have cost.
    """

    standing: Standing[TaskRow]
    session: SessionRecord | None
    workspace: str | None
    iterations: int
    cost: float
    is_own: bool = False


def current_tasks(context: Context) -> list[InWork]:
    """Returns what is in work in this clone, sessions first, each in picking order."""
    index = context.index
    graph = index.graph(index.listed(open_only=True, with_json=context.as_json))
    return in_work(context, graph, context.surroundings())


def in_work(context: Context, graph: Graph[TaskRow], around: Surroundings) -> list[InWork]:
    """Returns, of the open tasks of a graph, what `current_tasks` returns."""
    sessions: dict[TaskId, SessionRecord] = {}
    if around.live:
        from gitticks.runner.records import Sessions  # loads json and more, and mostly no session lives

        sessions = Sessions(context.repository.own_dir).live()
    places = workspaces_of(context)
    workspaces = {task: place for owner, place in places.items() for task in begun_in(context.index, owner)}
    own, here = context.own_task, context.repository.project_place
    if own is not None and here is not None:  # a sandbox hides git's list of worktrees
        workspaces.setdefault(own, here)
    known = [row for task_id in {*sessions, *workspaces} if (row := graph.tasks.get(task_id)) is not None]
    found = []
    for task in graph.in_picking_order(known):
        session = sessions.get(task.id)
        if session is None and not task.is_begun_by_hand and task.id != own:
            continue
        details = context.index.details_of(task.id)
        workspace = workspaces.get(task.id) if session is None else session.workspace
        standing = standing_of(context, task, graph, around)
        found.append(InWork(standing, session, workspace, details.iterations, details.cost, task.id == own))
    return sorted(found, key=lambda one: one.session is None)


def workspaces_of(context: Context) -> dict[TaskId, str]:
    """Returns the worktrees of this clone that stand on a task's work branch, by the task that names the branch.

    Git's own small files say it, so that no process is started; what cannot be read is no workspace.
    """
    found: dict[TaskId, str] = {}
    folder = f"{context.repository.common_place}/worktrees"
    for entry in sorted(names_in(folder)):
        try:
            head = read_symbolic_ref(f"{folder}/{entry}", "HEAD") or ""
            link = os.path.join(folder, entry, read_plain_text(f"{folder}/{entry}/gitdir").strip())
            place = os.path.dirname(os.path.normpath(link))  # a link may be relative
        except (OSError, ValueError):
            continue
        name = head.removeprefix(BRANCHES + WORK_BRANCH)
        if name != head and is_valid_id(name) and os.path.isdir(place):
            found[TaskId(name)] = place
    return found
