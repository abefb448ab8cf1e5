"""Takes stock: what runs, what awaits a person, what is ready, what merges, and what lies on the board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from gitticks.actions.context import Context
from gitticks.actions.current import InWork, current_tasks
from gitticks.actions.standing import Standing, standing_of
from gitticks.errors import GitticksError
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry
from gitticks.model.queries import TaskGraph, by_urgency
from gitticks.model.status import Status
from gitticks.model.task import Task
from gitticks.store.index import BrokenFile


@dataclass(frozen=True, slots=True)
class BoardState:
    """How the board stands, by path.

    `taken_up` are saved edits that were just committed, `uncommitted` those that were not, with the reason, and
    `pending` files that are not in step, with the reason. `is_refused` if committing would not help.
    """

    exists: bool = False
    taken_up: tuple[str, ...] = ()
    uncommitted: Mapping[str, str] = field(default_factory=dict)
    pending: Mapping[str, str] = field(default_factory=dict)
    is_refused: bool = False


@dataclass(frozen=True, slots=True)
class Overview:
    """Where everything stands; lists are in picking order, what awaits a person by urgency."""

    in_work: tuple[InWork, ...]
    awaiting: tuple[Standing[Task], ...]
    questions: Mapping[TaskId, tuple[Entry, ...]]
    to_review: tuple[Standing[Task], ...]
    ready: tuple[Standing[Task], ...]
    merging: tuple[Standing[Task], ...]
    counts: Mapping[Status, int]
    board: BoardState
    broken: tuple[BrokenFile, ...]


def take_stock(context: Context) -> Overview:
    """Returns where everything stands, after what was saved by hand on the board was taken up.

    Raises:
        NotFoundError: there is no repository, or no state branch.
    """
    context.store.tip()
    board = _board_state(context)
    index = context.index
    tasks = index.tasks()
    graph = TaskGraph.of(tasks, index.unreadable())
    around = context.surroundings()
    picked = sorted((task for task in tasks if task.is_open), key=graph.pick_key)
    standings = [standing_of(context, task, graph, around) for task in picked]
    awaiting = sorted((one for one in standings if one.task.awaiting), key=lambda one: by_urgency(one.task))
    questions = {one.task.id: index.open_questions(one.task.id) for one in awaiting}
    broken = index.to_mend()
    in_work = tuple(current_tasks(context))
    return Overview(
        in_work=in_work,
        awaiting=tuple(awaiting),
        questions=questions,
        to_review=tuple(one for one in standings if graph.is_to_review(one.task, around)),
        ready=tuple(one for one in standings if one.is_ready),
        merging=tuple(one for one in standings if one.task.is_merging),
        counts=Counter(task.status for task in tasks),
        board=board,
        broken=broken,
    )


def _board_state(context: Context) -> BoardState:
    from gitticks.actions.saved_edits import TakenUp, take_up_all
    from gitticks.store.board import WORKTREE_BOARD, BoardError, board_path, pending

    repository = context.repository
    if board_path(repository) is None:
        return BoardState()
    with suppress(GitticksError, OSError):  # a full disk keeps nobody from reading
        WORKTREE_BOARD.bring_in_step(repository)
    try:
        saved = take_up_all(context)
    except BoardError as error:
        context.warnings.append(error.message)
        saved = TakenUp()
    return BoardState(
        exists=True,
        taken_up=saved.paths,
        uncommitted=saved.left,
        pending={path: one.kind.value for path, one in sorted(pending(repository).items())},
        is_refused=saved.has_refused,
    )
