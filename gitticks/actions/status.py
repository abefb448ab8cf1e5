"""Gathers the status: what is running, waiting for a person, ready and merging, and the board's state; watches for changes.

Most of it is answered from the index. What costs more (a look at the board, at merges by hand, at lost commits) is
loaded only where a small file or a row of the index says that there may be something to find.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from gitticks.actions.context import Context
from gitticks.actions.current import InWork, in_work
from gitticks.actions.dependencies import Cycle, cycles_of
from gitticks.actions.derived_state import Standing, may_miss_merges, standing_of
from gitticks.actions.inbox import Inbox, foreseen_conflicts, inbox_of, merge_queue, spending_of_run
from gitticks.actions.stop_reasons import MOST_READ, Denied, denied_of
from gitticks.errors import GitticksError
from gitticks.git.refs import BRANCHES, default_base, read_ref
from gitticks.model.ids import BOARD_FOLDER, TaskId
from gitticks.model.notes import Entry
from gitticks.model.queries import Surroundings, by_urgency, is_to_review
from gitticks.model.status import Status
from gitticks.model.task_row import TaskRow
from gitticks.runner.liveness import (
    PAUSED_FILE,
    STOP_FILE,
    is_run_alive_at,
    sessions_here,
    stamps_of_runs,
)
from gitticks.runner.run_record import (
    Foreseen,
    QueuedMerge,
    Resting,
    SpendingRecord,
    read_resting,
    read_skipped,
)
from gitticks.store.index import BrokenFile, open_index
from gitticks.store.layout import CONFIG_PATH, STATE_REF, newer_format, state_tip

if TYPE_CHECKING:
    import threading

    from gitticks.actions.merges_by_hand import FoundMerge
    from gitticks.git.checkouts import Checkout


_LOOK_SECONDS = 30.0
"""So often stock is taken in any case, for what people saved on the board."""
_REST_SECONDS = 1.0


class BoardState(NamedTuple):
    """The state of the board, by path.

    `taken_up` are saved edits that were just committed, `uncommitted` those that were not, with the reason, and
    `pending` files that are not in step, with the reason. `is_refused` if committing would not help.
    """

    exists: bool = False
    taken_up: tuple[str, ...] = ()
    uncommitted: Mapping[str, str] = {}
    pending: Mapping[str, str] = {}
    is_refused: bool = False


class Overview(NamedTuple):
    """Everything that `gt status` shows; lists are in picking order, what awaits a person by urgency; `questions` only with the JSON.

    `merging` is in the order of the merge queue, and `queue` says of those that a run merges how far they are, and of others why their merge waits.
    `left` are those whose session was stopped or interrupted, and with whom nobody has gone on since. `skipped` says why no run starts a task that is ready. `waiting` is what git waits for on the board, and what to type; `is_elsewhere` if a commit there would not go to the
    state branch. `is_active` while a run of this clone lives.
    """

    in_work: tuple[InWork, ...]
    awaiting: tuple[Standing[TaskRow], ...]
    questions: Mapping[TaskId, tuple[Entry, ...]]
    inbox: Inbox
    to_review: tuple[Standing[TaskRow], ...]
    ready: tuple[Standing[TaskRow], ...]
    merging: tuple[Standing[TaskRow], ...]
    queue: Mapping[TaskId, QueuedMerge]
    counts: Mapping[Status, int]
    board: BoardState
    broken: tuple[BrokenFile, ...]
    merged: tuple[FoundMerge, ...]
    cycles: tuple[Cycle, ...]
    denied: tuple[Denied, ...]
    resting: tuple[Resting, ...]
    spending: SpendingRecord | None
    left: tuple[Standing[TaskRow], ...]
    skipped: Mapping[TaskId, str]
    waiting: tuple[str, str] | None
    is_elsewhere: bool
    is_active: bool
    is_paused: bool
    is_stopping: bool
    foreseen: tuple[Foreseen, ...]
    no_run: GitticksError | None

    @property
    def startable(self) -> tuple[Standing[TaskRow], ...]:
        """Returns the ready tasks that a run would start, as far as it is known."""
        return tuple(one for one in self.ready if one.task.id not in self.skipped)

    @property
    def has_work(self) -> bool:
        """True if a run would start a worker or a reviewer, as far as it is known."""
        return any(one.task.id not in self.skipped for one in (*self.ready, *self.to_review))


def take_stock(context: Context, most_asked: int) -> Overview:
    """Returns the overview, after applying what was saved on the board.

    The inbox holds the `most_asked` most urgent tasks.
    """
    state_tip(context.repository)
    context.warn_of_left_behind()
    board, waiting, is_elsewhere = _look_at_board(context)
    context.warn_of_fallen()
    try:
        _ = context.settings
    except GitticksError as error:
        context.warnings.append(f"the settings cannot be read: {error.message}")
    merged = _merged_by_hand(context)
    index = context.index
    rows = index.listed(open_only=True, with_json=context.as_json)
    graph = index.graph(rows)
    around = context.surroundings()
    ordered = graph.in_picking_order(rows)
    begun = [row for row in ordered if row.is_begun]
    awaiting = sorted((row for row in ordered if row.awaiting), key=by_urgency)
    place = context.repository.own_place
    is_active = is_run_alive_at(place)
    merging = [row for row in begun if row.is_merging]
    queue = merge_queue(context) if merging else {}
    ready = graph.ready_among(ordered, around)
    to_review = [row for row in begun if is_to_review(row, around)]

    def standings(rows: Iterable[TaskRow]) -> tuple[Standing[TaskRow], ...]:
        return tuple(standing_of(context, row, graph, around) for row in rows)

    return Overview(
        in_work=tuple(in_work(context, graph, around)),
        awaiting=standings(awaiting),
        questions={row.id: index.open_questions(row.id) for row in awaiting} if context.as_json else {},
        inbox=inbox_of(context, graph, around, count=most_asked),
        to_review=standings(to_review),
        ready=standings(ready),
        # Without a run, what was tried and waits is not begun: it takes its turn among the others.
        merging=standings(_in_merge_order(context, merging, queue if is_active else {})),
        queue=queue,
        counts={Status(status): count for status, count in index.status_counts().items()},
        board=board,
        broken=index.to_fix(),
        merged=merged,
        cycles=tuple(cycles_of(graph)),
        denied=tuple(
            filter(
                None, (denied_of(index, row.id) for row in sorted(begun, key=attrgetter("id"))[:MOST_READ])
            )
        ),
        resting=read_resting(place, context.now, is_run_alive=is_active),
        spending=spending_of_run(context),
        left=standings(
            row for row in ordered if (row.is_begun or row.id in around.held) and _is_left(row, around)
        ),
        skipped=_skipped(context, ready, to_review, is_active=is_active),
        waiting=waiting,
        is_elsewhere=is_elsewhere,
        is_active=is_active,
        is_paused=os.path.exists(f"{place}/{PAUSED_FILE}"),
        is_stopping=os.path.exists(f"{place}/{STOP_FILE}"),
        foreseen=foreseen_conflicts(context),
        no_run=_why_no_run(context),
    )


def _why_no_run(context: Context) -> GitticksError | None:
    """Returns why no work can begin; None if the base branch is here, which is seen without loading what plans work."""
    with contextlib.suppress(GitticksError):
        if context.resolved_settings.is_read_only:
            return newer_format(context.store.read(CONFIG_PATH))
        base = context.settings.base or default_base(context.repository)
        if base is None or read_ref(context.repository.common_place, BRANCHES + base) is None:
            from gitticks.runner.workspace_plan import why_no_base

            return why_no_base(context.settings, context.repository)
    return None


def _skipped(
    context: Context, rows: Sequence[TaskRow], to_review: Sequence[TaskRow], *, is_active: bool
) -> dict[TaskId, str]:
    """Returns what a run noted of tasks that have not changed since, and without a run whose worker is not here."""
    index, noted = context.index, read_skipped(context.repository.own_place)
    found = {}
    for row in (*rows, *to_review):
        updated, reason = noted.get(row.id, ("", ""))
        if reason and updated == str(index.task(row.id).updated):
            found[row.id] = reason if is_active else f"in the last run: {reason}"
    if is_active or not rows:  # a run may have been told another agent
        return found
    with contextlib.suppress(GitticksError):
        default = context.settings.agent
        names = index.agents() | ({default} if default else set())
        if names:
            from gitticks.actions.agents import why_absent

            absent = {name: why for name in names if (why := why_absent(context, name)) is not None}
            details = index.details(open_only=True) if absent else {}
            agents = {row.id: details[row.id].agent or default for row in rows if row.id in details}
            found |= {one: absent[name] for one, name in agents.items() if name in absent}
    return found


def _in_merge_order(
    context: Context, rows: list[TaskRow], queue: Mapping[TaskId, QueuedMerge]
) -> list[TaskRow]:
    """Returns approved tasks in the order of a run's queue, then the others in the one that a queue would have."""
    places = {task_id: number for number, task_id in enumerate(queue)}
    if len(rows) > 1 and any(row.id not in places for row in rows):
        from gitticks.runner.overlaps import in_merge_order

        tasks = in_merge_order(context.repository, (context.store.task_file(row.id).task for row in rows))
        for task in tasks:
            places.setdefault(task.id, len(places))
    return sorted(rows, key=lambda row: places.get(row.id, len(places)))


def _is_left(row: TaskRow, around: Surroundings) -> bool:
    has_turn = row.is_workable or is_to_review(row, around._replace(held=()))
    return has_turn and row.id not in around.live and (row.id in around.left or row.id in around.held)


def _merged_by_hand(context: Context) -> tuple[FoundMerge, ...]:
    """Moves on what a person merged by hand, and warns of bases that are gone and of what they lack of tasks that are done."""
    with open_index(context.repository) as index:
        bases = {index.task(row.id).base for row in index.begun()}
    merged: tuple[FoundMerge, ...] = ()
    common_place = context.repository.common_place
    if any(base and read_ref(common_place, BRANCHES + base) is None for base in bases):
        from gitticks.actions.doctor.workspaces import check_bases

        with contextlib.suppress(GitticksError):  # the settings cannot be read, which is said elsewhere
            context.warnings += [f"{one.what}: {one.fix}" for one in check_bases(context)]
    if bases:
        from gitticks.actions.merges_by_hand import notice_merges

        merged = notice_merges(context)
    if may_miss_merges(context):
        from gitticks.actions.merges_by_hand import warn_of_missing

        warn_of_missing(context)
    return merged


def _look_at_board(context: Context) -> tuple[BoardState, tuple[str, str] | None, bool]:
    """Applies what was saved on the board, and returns how it stands, what git waits for, and whether it is elsewhere."""
    project = context.repository.project_place
    if project is None or not os.path.lexists(f"{project}/{BOARD_FOLDER}/.git"):
        return BoardState(), None, False
    from gitticks.actions.taking_up import take_up
    from gitticks.board.journal import PendingKind
    from gitticks.board.place import board_checkout, is_on_state_branch
    from gitticks.board.step import pending

    checkout = board_checkout(context.repository)
    if checkout is None:
        return BoardState(), None, False
    saved = take_up(context)
    waiting, unmerged = _unfinished(context, checkout)
    board = BoardState(
        exists=True,
        taken_up=saved.paths,
        uncommitted={**saved.left, **unmerged},
        pending={
            path: one.kind.value
            for path, one in sorted(pending(context.repository).items())
            if one.kind is not PendingKind.RESOLVED
        },
        is_refused=saved.has_refused,
    )
    return board, waiting, not is_on_state_branch(checkout)


def _unfinished(context: Context, checkout: Checkout) -> tuple[tuple[str, str] | None, dict[str, str]]:
    """Returns what git waits for on the board and what to type, and the files over which it waits, with the reason."""
    from gitticks.board.checkout_state import waiting_on_board

    if waiting_on_board(checkout) is None:
        return None, {}
    from gitticks.actions.conflict_markers import unmerged_on_board

    unmerged = {
        one.path: "conflict: one side deleted what the other changed"
        if one.line is None
        else f"conflict: git's markers begin at line {one.line}"
        for one in unmerged_on_board(context)
    }
    waiting = waiting_on_board(checkout, are_files_merged=bool(unmerged))
    if waiting is None or not unmerged:
        return waiting, unmerged
    what, fix = waiting
    return (what, f"`gt doctor --fix` merges both sides, then {fix}"), unmerged


def changes(context: Context, over: threading.Event) -> Iterator[bool]:
    """Yields at once and then about once a second until `over` is set: whether something may have changed."""
    clock = context.world.monotonic_seconds
    before, looked = _mark(context), clock()
    yield True
    while not over.wait(_REST_SECONDS):
        now = _mark(context)
        has_changed = now != before or clock() - looked >= _LOOK_SECONDS
        if has_changed:
            looked = clock()
        yield has_changed
        before = now


def _mark(context: Context) -> tuple[object, ...]:
    """Returns what differs once a run, a session, a hold or a task is another."""
    place = context.repository.own_place
    return (
        read_ref(context.repository.common_place, STATE_REF),
        *sessions_here(place),
        is_run_alive_at(place),
        *stamps_of_runs(place),
    )
