"""Takes stock: what runs, what awaits a person, what is ready, what merges, and what lies on the board."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gitticks.actions.conflict_markers import unmerged_on_board
from gitticks.actions.context import Context
from gitticks.actions.current import InWork, in_work
from gitticks.actions.dependencies import Circle, circles_of
from gitticks.actions.derived_state import Standing, standing_of
from gitticks.actions.elsewhere import waiting_on_board
from gitticks.actions.merges_by_hand import FoundMerge, notice_merges, warn_of_missing
from gitticks.actions.stop_reasons import MOST_READ, Denied, denied_of
from gitticks.actions.taking_up import take_up, warn_of_fallen
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry
from gitticks.model.queries import Graph, by_urgency, is_to_review
from gitticks.model.status import Status
from gitticks.model.task import Task
from gitticks.runner.liveness import is_run_alive_at
from gitticks.runner.start_delays import Resting, read_resting
from gitticks.store.board import board_checkout, board_path, is_on_state_branch, pending
from gitticks.store.index import BrokenFile
from gitticks.store.indexed_task import IndexedTask


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
    """Where everything stands; lists are in picking order, what awaits a person by urgency; `questions` only with the JSON.

    `waiting` is what git waits for on the board, and what to type; `is_elsewhere` if a commit there would not go to the
    state branch.
    """

    in_work: tuple[InWork, ...]
    awaiting: tuple[Standing[IndexedTask], ...]
    questions: Mapping[TaskId, tuple[Entry, ...]]
    to_review: tuple[Standing[Task], ...]
    ready: tuple[Standing[IndexedTask], ...]
    merging: tuple[Standing[IndexedTask], ...]
    counts: Mapping[Status, int]
    board: BoardState
    broken: tuple[BrokenFile, ...]
    merged: tuple[FoundMerge, ...] = ()
    circles: tuple[Circle, ...] = ()
    denied: tuple[Denied, ...] = ()
    waiting: tuple[str, str] | None = None
    is_elsewhere: bool = False
    resting: tuple[Resting, ...] = ()


def take_stock(context: Context, *, with_json: bool = False) -> Overview:
    """Returns where everything stands, after what was saved by hand on the board was taken up.

    The rows have their JSON where that is wanted.

    Raises:
        NotFoundError: there is no repository, or no state branch.
    """
    context.store.tip()
    context.warn_of_left_behind()
    board = _board_state(context)
    warn_of_fallen(context)
    waiting, unmerged = _unfinished(context)
    merged = notice_merges(context)
    warn_of_missing(context)
    index = context.index
    rows = index.listed(open_only=True, with_json=with_json)
    graph = Graph.of(rows, index.unreadable())
    around = context.surroundings()
    standings = [standing_of(context, row, graph, around) for row in graph.in_picking_order(rows)]
    awaiting = sorted((one for one in standings if one.task.awaiting), key=lambda one: by_urgency(one.task))
    reviewed = [index.task(one.task.id) for one in standings if one.task.status == Status.AGENT_REVIEW]
    return Overview(
        in_work=tuple(in_work(context, graph)),
        awaiting=tuple(awaiting),
        questions={one.task.id: index.open_questions(one.task.id) for one in awaiting} if with_json else {},
        to_review=tuple(
            standing_of(context, task, graph, around) for task in reviewed if is_to_review(task, around)
        ),
        ready=tuple(one for one in standings if one.is_ready),
        merging=tuple(one for one in standings if one.task.is_merging),
        counts={Status(status): count for status, count in index.status_counts().items()},
        board=replace(board, uncommitted={**board.uncommitted, **unmerged}),
        broken=index.to_mend(),
        merged=merged,
        circles=tuple(circles_of(graph)),
        denied=tuple(filter(None, (denied_of(index, row.id) for row in index.begun()[:MOST_READ]))),
        waiting=waiting,
        is_elsewhere=_is_elsewhere(context),
        resting=_resting(context),
    )


def _resting(context: Context) -> tuple[Resting, ...]:
    place = context.repository.own_place
    return read_resting(place, context.now, is_run_alive=is_run_alive_at(place))


def _is_elsewhere(context: Context) -> bool:
    checkout = board_checkout(context.repository)
    return checkout is not None and not is_on_state_branch(checkout)


def _board_state(context: Context) -> BoardState:
    repository = context.repository
    if board_path(repository) is None:
        return BoardState()
    saved = take_up(context)
    return BoardState(
        exists=True,
        taken_up=saved.paths,
        uncommitted=saved.left,
        pending={path: one.kind.value for path, one in sorted(pending(repository).items())},
        is_refused=saved.has_refused,
    )


def _unfinished(context: Context) -> tuple[tuple[str, str] | None, dict[str, str]]:
    """Returns what git waits for on the board and what to type, and the files over which it waits, with the reason."""
    checkout = board_checkout(context.repository)
    waiting = None if checkout is None else waiting_on_board(checkout)
    if waiting is None:
        return None, {}
    unmerged = {
        one.path: "conflict: one side deleted what the other changed"
        if one.line is None
        else f"conflict: git's markers stand from line {one.line}"
        for one in unmerged_on_board(context)
    }
    what, mend = waiting
    return (what, f"`gt doctor --fix` joins both sides, then {mend}" if unmerged else mend), unmerged
