"""Says what is being worked on in this clone: by agents whose session lives, and by hand in workspaces."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gitticks.actions.context import Context
from gitticks.actions.derived_state import Standing, standing_of
from gitticks.model.ids import TaskId, is_valid_id
from gitticks.model.queries import Graph
from gitticks.model.status import Status
from gitticks.model.task import SessionRecord, Task
from gitticks.runner.records import Sessions
from gitticks.safe_read import read_plain_text
from gitticks.store.indexed_task import IndexedTask
from gitticks.store.layout import WORK_BRANCH


@dataclass(frozen=True, slots=True)
class InWork:
    """A task in work: the live session, or None where a person or an agent that nobody started works by hand."""

    standing: Standing[Task]
    session: SessionRecord | None
    workspace: Path | None


def current_tasks(context: Context) -> list[InWork]:
    """Returns what is in work in this clone, sessions first, each in picking order."""
    index = context.index
    return in_work(context, Graph.of(index.listed(open_only=True), index.unreadable()))


def in_work(context: Context, graph: Graph[IndexedTask]) -> list[InWork]:
    """Returns, of the open tasks of a graph, what `current_tasks` returns."""
    sessions = Sessions(context.repository.own_dir).live()
    workspaces = workspaces_of(context)
    around = context.surroundings()
    known = [row for task_id in {*sessions, *workspaces} if (row := graph.tasks.get(task_id)) is not None]
    tasks = [context.index.task(row.id) for row in graph.in_picking_order(known)]
    found = [
        InWork(
            standing_of(context, task, graph, around),
            sessions.get(task.id),
            Path(sessions[task.id].workspace) if task.id in sessions else workspaces.get(task.id),
        )
        for task in tasks
        if task.id in sessions or _is_begun_by_hand(task)
    ]
    return sorted(found, key=lambda one: one.session is None)


def _is_begun_by_hand(task: Task) -> bool:
    return task.status is Status.WORKING and task.claim is not None and task.claim.is_by_hand


def workspaces_of(context: Context) -> dict[TaskId, Path]:
    """Returns the worktrees of this clone that stand on a task's work branch, by the task that names the branch.

    Git's own small files say it, so that no process is started; what cannot be read is no workspace.
    """
    found: dict[TaskId, Path] = {}
    for entry in sorted(_entries(context.repository.common_dir / "worktrees")):
        try:
            head = read_plain_text(entry / "HEAD").strip()
            place = Path(read_plain_text(entry / "gitdir").strip()).parent
        except (OSError, ValueError):
            continue
        name = head.removeprefix(f"ref: refs/heads/{WORK_BRANCH}")
        if name != head and is_valid_id(name) and place.is_dir():
            found[TaskId(name)] = place
    return found


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
