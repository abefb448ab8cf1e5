"""What the feed hands to the screens: immutable values, made in its thread, read in theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import NamedTuple

from textual.message import Message

from gitticks.actions.derived_state import Standing
from gitticks.actions.inbox import Asked
from gitticks.model.ids import TaskId
from gitticks.model.queries import Graph, Surroundings
from gitticks.model.status import ANSWERED
from gitticks.model.task import SessionRecord
from gitticks.model.task_row import TaskRow
from gitticks.runner.questions import Question
from gitticks.runner.run_record import BudgetState, QueuedMerge, SpendingRecord
from gitticks.store.index import BrokenFile
from gitticks.store.task_row import TaskDetails
from gitticks.tui.transcript import Piece
from gitticks.workflow.session_states import SessionState

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
_NOWHERE = Surroundings(
    today=_NEVER.date(), now=_NEVER, live=frozenset(), held=frozenset(), conflicted=frozenset()
)


@dataclass(frozen=True)
class Snapshot:
    """The repository as it was at one moment; `number` grows with each, `problem` says why there is nothing to show.

    `work_branches` is another value whenever one of them has moved.
    """

    number: int = 0
    rows: tuple[TaskRow, ...] = ()
    graph: Graph[TaskRow] = field(default_factory=lambda: Graph.of(()))
    around: Surroundings = _NOWHERE
    details: Mapping[TaskId, TaskDetails] = field(default_factory=dict)
    inbox: tuple[Asked, ...] = ()
    for_others: int = 0
    merges: tuple[QueuedMerge, ...] = ()
    questions: tuple[Question, ...] = ()
    broken: tuple[BrokenFile, ...] = ()
    sessions: Mapping[TaskId, SessionRecord] = field(default_factory=dict)
    workspaces: Mapping[TaskId, str] = field(default_factory=dict)
    spending: SpendingRecord | None = None
    is_run_alive: bool = False
    is_paused: bool = False
    project_place: str | None = None
    work_branches: object = None
    problem: str | None = None
    hint: str | None = None

    @cached_property
    def roots(self) -> tuple[TaskRow, ...]:
        """Returns the open epics in picking order, and after them the open tasks that belong to none."""
        tops = [row for row in self.rows if row.is_open and self.is_epic(row)]
        single = [row for row in self.rows if row.is_open and row.parent is None and not self.is_epic(row)]
        return (*self.graph.in_picking_order(tops), *self.graph.in_picking_order(single))

    @cached_property
    def _parents(self) -> frozenset[TaskId]:
        return frozenset(row.parent for row in self.rows if row.parent is not None)

    def is_epic(self, row: TaskRow) -> bool:
        """True for an epic, and for a task with others below it."""
        return row.is_epic or row.id in self._parents

    @property
    def waiting(self) -> int:
        """Returns how many entries wait for a person."""
        return len(self.questions) + len(self.inbox) + len(self.merges) + len(self.broken)

    @property
    def budgets(self) -> Sequence[BudgetState]:
        """Returns what is spent of the run's budgets and of those of its tasks."""
        return self.spending.budgets if self.spending else ()

    @property
    def run_note(self) -> str:
        """Returns what the run waits for, or how the last one ended, where that was a limit or a kill; empty if neither."""
        spending = self.spending
        if spending is None:
            return ""
        if self.is_run_alive:
            return spending.run.reason if spending.run else ""
        if spending.run is not None and spending.run.ended is None:
            return "The last run was cut off; r continues."
        return f"The last run ended: {spending.ended}" if spending.ended else ""

    def find(self, task_id: str | None) -> TaskRow | None:
        """Returns a task's row, if it is there."""
        return None if task_id is None else self.graph.tasks.get(TaskId(task_id))

    def standing(self, task: TaskRow) -> Standing[TaskRow]:
        """Returns a task's derived state."""
        return Standing(task, self.graph, self.around, self.project_place)

    @cached_property
    def _places(self) -> Mapping[TaskId, int]:
        return {row.id: place for place, row in enumerate(self.rows)}

    def tasks_of(self, task_id: str) -> list[TaskRow]:
        """Returns what is below a task at any depth, in the order of the rows; itself if there is nothing."""
        below = sorted(self.graph.below(TaskId(task_id)), key=self._places.__getitem__)
        found = [self.graph.tasks[one] for one in below]
        own = self.find(task_id)
        return [row for row in found if not row.is_cancelled] or ([] if own is None else [own])

    def work_of(self, task_id: str) -> list[TaskRow]:
        """Returns what agents do of an epic: the tasks below it that are no epics; itself if there are none."""
        own = self.find(task_id)
        return [row for row in self.tasks_of(task_id) if not row.is_epic] or ([] if own is None else [own])

    def mark(self, task: TaskRow) -> str:
        """Returns the name of the glyph and colour that show a task: its status, or `blocked`."""
        if task.id in self.around.live:
            return "agent-review" if task.status == "agent-review" else "working"
        if task.awaiting and task.status != "stuck":
            return "clarification" if task.awaiting in ANSWERED else "reviewing"
        if task.status == "pending" and self.graph.is_blocked(task):
            return "blocked"
        return "pending" if self.left(task) else task.status

    def left(self, task: TaskRow) -> str | None:
        """Returns `stopped` or `interrupted` where that is what keeps an open task from going on by itself."""
        state = self.standing(task).session_state
        return state if task.is_open and state in (SessionState.STOPPED, SessionState.INTERRUPTED) else None


class Said(NamedTuple):
    """What a task's agent printed since the batch before."""

    task: TaskId
    started: datetime
    pieces: tuple[Piece, ...]


class Batch(NamedTuple):
    """What is new: a snapshot where anything changed, what agents printed, and what a run that was started here did."""

    snapshot: Snapshot | None
    said: tuple[Said, ...] = ()
    run_said: tuple[str, ...] = ()


class Fed(Message):
    """Batches lie ready; one such message stands for all before it."""

    bubble = False

    def can_replace(self, message: Message) -> bool:
        """True for another one: the batches wait in a queue of their own."""
        return isinstance(message, Fed)
