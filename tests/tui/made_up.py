"""A made-up repository at one fixed moment, and an interface that shows it without any feed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from gitticks.actions.changes import Changes
from gitticks.actions.context import Context
from gitticks.actions.derived_state import Standing
from gitticks.actions.inbox import Asked, ReviewWord
from gitticks.git.merges.history import DiffSummary
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry
from gitticks.model.queries import Graph, Surroundings
from gitticks.model.settings import PermissionRule
from gitticks.model.spending import Metric, Reading, Scope
from gitticks.model.status import ActorKind, Awaiting, Role, Status
from gitticks.model.task import SessionRecord
from gitticks.model.task_row import TaskRow
from gitticks.runner.questions import Question
from gitticks.runner.run_record import BudgetState, SpendingRecord
from gitticks.store.task_row import TaskDetails
from gitticks.tui.app import GitticksApp
from gitticks.tui.iterations import Iteration
from gitticks.tui.messages import Batch, Said, Snapshot
from gitticks.tui.run_settings import defaults_of
from gitticks.tui.screens.approving import Policy
from gitticks.tui.screens.parallel import _conflicts
from gitticks.tui.screens.verdicts import Looked, look_into
from gitticks.tui.transcript import Piece
from gitticks.workflow.permissions import Access, Operation
from gitticks.workflow.triggers import Seen

NOW = datetime(2026, 11, 22, 10, 24, tzinfo=UTC)
PLACE = "/home/ada/till"


def ago(minutes: float) -> datetime:
    """Returns a moment before the fixed one."""
    return NOW - timedelta(minutes=minutes)


def row(
    task_id: str,
    title: str,
    status: Status = Status.PENDING,
    *,
    parent: str | None = None,
    priority: int = 2,
    awaiting: Awaiting | None = None,
    blockers: str | None = None,
    is_epic: bool = False,
    asked: datetime | None = None,
    is_merging: bool = False,
) -> TaskRow:
    """Returns a task as the index has it."""
    is_open = not status.is_terminal
    return TaskRow(
        id=TaskId(task_id),
        title=title,
        status=status.value,
        priority=priority,
        parent=None if parent is None else TaskId(parent),
        awaiting=None if awaiting is None else awaiting.value,
        born=f"2026-11-20T10:{len(title) % 60:02}:00+00:00",
        blockers=blockers,
        deferred=None,
        asked=None if asked is None else asked.isoformat(),
        closed="" if is_open else f"2026-11-22T09:{len(title) % 60:02}:00+00:00",
        claimed=None,
        carrier=None,
        is_open=is_open,
        is_epic=is_epic,
        is_workable=is_open
        and not is_epic
        and awaiting is None
        and status in (Status.PENDING, Status.WORKING),
        is_begun=is_open and status is not Status.PENDING,
        is_merging=is_merging,
        json="",
    )


ROWS = (
    row("h8d4", "Parallel test execution", Status.WORKING, priority=1, is_epic=True),
    row("fbv2", "Bug fixes and documentation", Status.WORKING, priority=1, is_epic=True),
    row("t5b8", "Benchmark suite", Status.WORKING, is_epic=True),
    row("hhm3", "Homebrew distribution", is_epic=True),
    row("w2kd", "Drop Python 3.9", priority=3, blockers="h8d4", is_epic=True),
    row("iei5", "Browser pool with a configurable size", Status.DONE, parent="h8d4"),
    row("klm2", "Command-line flag --parallel", Status.DONE, parent="h8d4"),
    row("r3sd", "Settings for the worker pool", Status.DONE, parent="h8d4"),
    row("e4mq", "Tests for parallel runs", Status.WORKING, parent="h8d4", priority=1),
    row("v6tn", "Report failures by worker", Status.AGENT_REVIEW, parent="h8d4"),
    row(
        "m3xq",
        "Rename the error page",
        Status.CLARIFICATION,
        parent="h8d4",
        awaiting=Awaiting.INPUT,
        asked=ago(2),
    ),
    row("mqp7", "Worker pool: restart crashed workers", parent="h8d4", blockers="e4mq"),
    row("zn9k", "Benchmark against one process", parent="h8d4", blockers="e4mq v6tn"),
    row("gjq8", "Follow redirects of the package index", Status.WORKING, parent="fbv2"),
    row(
        "k7f2",
        "Login loses the return URL",
        Status.REVIEWING,
        parent="fbv2",
        awaiting=Awaiting.REVIEW,
        asked=ago(9),
    ),
    row(
        "p2wd",
        "Move sessions to Redis",
        Status.STUCK,
        parent="t5b8",
        awaiting=Awaiting.ESCALATION,
        asked=ago(64),
    ),
    row("b2cd", "Formula and tap", parent="hhm3"),
    row("c3de", "Say goodbye to 3.9", parent="w2kd"),
)
COSTS = {
    "iei5": 0.81,
    "klm2": 0.44,
    "r3sd": 0.22,
    "e4mq": 0.52,
    "v6tn": 0.31,
    "m3xq": 0.04,
    "gjq8": 0.89,
    "k7f2": 0.61,
    "p2wd": 3.51,
}


def _details(task_id: str) -> TaskDetails:
    known = dict.fromkeys(TaskDetails._fields)
    return TaskDetails(
        **{**known, "iterations": int(task_id in COSTS), "cost": COSTS.get(task_id, 0.0)}  # type: ignore[arg-type]
    )


def _session(task: str, agent: str, minutes: float, role: Role = Role.WORKER) -> SessionRecord:
    place = f"{PLACE}/.gitticks-work/{task}"
    return SessionRecord(TaskId(task), role, 1, agent, 4711, 1, "boot", ago(minutes), place)


SESSIONS = {
    one.task: one
    for one in (
        _session("e4mq", "claude", 4),
        _session("v6tn", "codex", 1, Role.REVIEWER),
        _session("gjq8", "codex", 0.8),
    )
}
_BUDGETS = (
    (Metric.ITERATIONS, 9, 100),
    (Metric.TOKENS, 412_000, 500_000),
    (Metric.COST, 7.35, 20),
    (Metric.DURATION, 6_900, 7_200),
)
SPENDING = SpendingRecord(
    tuple(BudgetState.of(Reading(Scope.RUN, metric, spent, limit)) for metric, spent, limit in _BUDGETS)
)
PIECES = (
    Piece(
        "The queue is full when every worker is busy and the buffer holds **twice** the pool's size. I'll test "
        "that a full queue makes the caller wait instead of dropping the job.",
        is_prose=True,
    ),
    Piece("src/worker/pool.py", "read", "1", ("class WorkerPool:",), failed=False),
    Piece("class Queue", "search", "2", ("src/worker/queue.py:12", "src/legacy.py:80"), failed=False),
    Piece(
        "`submit()` blocks only by accident: `put()` has no timeout. I'll make the limit explicit and give it a name.",
        is_prose=True,
    ),
    Piece(
        "src/worker/pool.py",
        "edit",
        "3",
        ("- self._jobs.put(job)", "+ if not self._jobs.offer(job):", "+     raise QueueFull(self.size)"),
        failed=False,
    ),
    Piece(
        "tests/worker/test_queue.py", "write", "6", tuple(f"+ line {at}" for at in range(64)), failed=False
    ),
    Piece(
        "pytest tests/worker -q",
        "run",
        "4",
        ("E   assert pool.pending == 2", "E    +  where 3 = pool.pending", "2 failed in 11 s"),
        failed=True,
    ),
    Piece(
        "Two tests saw the job that a worker had already taken. The count has to be read **under the lock**.",
        is_prose=True,
    ),
    Piece(
        "src/worker/pool.py",
        "edit",
        "7",
        ("- return len(self._jobs)", "+ with self._lock:", "+     return len(self._jobs)"),
        failed=False,
    ),
    Piece("pytest tests/worker -q", "run", "5"),
)
ITERATIONS = [
    Iteration(TaskId("v6tn"), ago(1), 1, "claude", "handed off", "good", "", 0.31, 400),
    Iteration(
        TaskId("m3xq"), ago(2), 1, "codex", "asks", "waits", "Which tone: friendly or formal?", 0.04, 41
    ),
    Iteration(TaskId("e4mq"), ago(5), 1, "claude", "goes on", "bad", "2 of 212 tests fail", 0.52, 495),
    Iteration(TaskId("r3sd"), ago(20), 1, "claude", "merged", "good", "into main as 91bd02e", 0.22, 210),
    Iteration(TaskId("klm2"), ago(31), 2, "codex", "merged", "good", "into main as 2c40b17", 0.44, 302),
    Iteration(
        TaskId("klm2"), ago(44), 1, "gemini", "review failed", "bad", "--parallel 0 is taken", 0.03, 58
    ),
    Iteration(TaskId("iei5"), ago(60), 1, "claude", "merged", "good", "into main as a8810fe", 0.81, 588),
]
QUESTIONS = (
    Question(
        3, TaskId("gjq8"), "codex", Access(Operation.NETWORK, "api.github.com"), "no rule is about it", ago(0.8),
        NOW + timedelta(seconds=252), PermissionRule(Operation.NETWORK, hosts=("api.github.com",)),
    ),
    Question(
        4, TaskId("e4mq"), "claude", Access(Operation.SHELL, "docker compose up -d"), "the default asks", ago(0.2),
        NOW + timedelta(seconds=288), PermissionRule(Operation.SHELL, commands=("docker compose up *",)),
    ),
)  # fmt: skip
DEFAULTS = {
    "agent": "claude, then codex",
    "parallel": "3 agents",
    "max-iterations": "100 a run, 10 a task",
    "max-cost": "$20 a run",
    "max-duration": "2:00 a run",
    "isolation": "one for each task",
    "permission": "auto-edit",
    "auto": "waits for answers and new tasks in its epics",
}
CHANGES = Changes(DiffSummary(3, 48, 6, ("src/login.py",)), "main", (), outlook="merges cleanly into main")
HANDOFF = """\
- DONE: The path is kept in the signed state; test added.
- DECISIONS: No cookie: it breaks private windows.
- UNCERTAIN: Should a state older than 10 minutes restart the sign-in?
"""


def snapshot() -> Snapshot:
    """Returns the whole repository."""
    graph = Graph.of(ROWS)
    around = Surroundings(today=NOW.date(), now=NOW, live=frozenset(SESSIONS))

    def asked(task_id: str, **more: object) -> Asked:
        standing = Standing(graph.tasks[TaskId(task_id)], graph, around, PLACE)
        usual: dict[str, object] = {"questions": (), "said": "", "review": None}
        return Asked(standing, None, is_mine=True, **{**usual, **more})  # type: ignore[arg-type]

    question = Entry(ago(2), ActorKind.AGENT, "codex", "Which tone: friendly or formal?")
    return Snapshot(
        number=1,
        rows=ROWS,
        graph=graph,
        around=around,
        details={one.id: _details(one.id) for one in ROWS},
        inbox=(
            asked("m3xq", questions=(question,)),
            asked("k7f2", review=ReviewWord("pass", "gemini", "PASS\n\nOne round trip fewer, as asked.")),
            asked("p2wd", said="two reviews failed, the last over missing tests"),
        ),
        questions=QUESTIONS,
        sessions=SESSIONS,
        workspaces={
            TaskId(one): f"{PLACE}/.gitticks-work/{one}"
            for one in ("e4mq", "v6tn", "gjq8", "m3xq", "k7f2", "p2wd")
        },
        spending=SPENDING,
        is_run_alive=True,
        project_place=PLACE,
    )


class StillApp(GitticksApp):
    """The interface on the made-up repository: nothing moves, and nothing is read."""

    def __init__(self, path: Path) -> None:
        super().__init__(Context(directory=path))
        self.feed.start = lambda: None  # type: ignore[method-assign]

    @property
    def now(self) -> datetime:
        """Returns the fixed moment."""
        return NOW

    def on_mount(self) -> None:
        """Shows the made-up repository."""
        said = Said(TaskId("e4mq"), ago(4), PIECES)
        other = Said(TaskId("gjq8"), ago(0.8), (Piece("src/http/redirect.py", "read", "1", failed=False),))
        self.feed.batches.append(Batch(snapshot(), (said, other)))
        self.call_after_refresh(self.feed._wake)

    def look_up(
        self,
        find: Callable[[Context], Any],
        done: Callable[[Any], object],
        failed: Callable[[Exception], object],  # noqa: ARG002
    ) -> None:
        """Answers what is made up, and reads nothing."""
        if find is defaults_of:
            done(DEFAULTS)
        elif find is _conflicts:
            done(("k7f2 with gjq8 in src/http/redirect.py",))
        elif isinstance(find, partial) and find.func is look_into:
            done(
                {
                    "k7f2": Looked(
                        Seen(Awaiting.REVIEW, ago(9), "5c1f0de"), CHANGES, HANDOFF, Policy(base="main")
                    )
                }
            )
