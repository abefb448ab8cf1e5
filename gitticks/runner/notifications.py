"""Notifies people of what is waiting for them, with the command in `notify`, and reminds them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Self

from gitticks.agents.base import Command, Ended, EndReason, Limits
from gitticks.agents.process import StopRequest, run_supervised
from gitticks.agents.stream import last_line
from gitticks.document.values import format_time, parse_time
from gitticks.errors import GitticksError
from gitticks.model.ids import TaskId, is_valid_id
from gitticks.model.notes import Section, open_questions
from gitticks.model.settings import MergeMode
from gitticks.model.spending import Level
from gitticks.model.status import ANSWERED, BUDGET_SPENT, Awaiting, Status
from gitticks.model.task import Task
from gitticks.runner.context import RunContext
from gitticks.runner.events import BudgetReached, Warned
from gitticks.runner.run_record import write_json
from gitticks.safe_read import read_json
from gitticks.workflow.merging import left_merge
from gitticks.workflow.session_states import waits_because

FILE = "notices.json"

SCHEMA = 1
LONGEST_COMMAND_SECONDS = 30.0
_OUTPUT_BYTES = 20_000
_NO_PERSON = {"GITTICKS_AGENT": "1"}
"""By this `gt` knows that no person asks, so that the command cannot give a verdict by mistake either."""
_SHORTEST_WAIT = timedelta(seconds=1)


class Notified(NamedTuple):
    """A person's turn: when it began (empty if unknown), and when they were last notified."""

    asked_at: str
    at: datetime

    def is_over(self, task: Task) -> bool:
        """True if the task has gone on since."""
        return task.awaiting is None or not task.is_open or _began(task) != self.asked_at


def _began(task: Task) -> str:
    return format_time(task.asked_at) if task.asked_at else ""


def read_notified(own_dir: Path) -> dict[TaskId, Notified]:
    """Returns which notifications were sent; an unreadable record counts as none."""
    sent: dict[TaskId, Notified] = {}
    known: dict[str, object] = read_json(own_dir / FILE, dict, {})
    for name, entry in known.items():
        match entry:
            case [str(asked_at), str(at)] if is_valid_id(name) and (time := parse_time(at)) is not None:
                sent[TaskId(name)] = Notified(asked_at, time)
    return sent


def write_notified(own_dir: Path, sent: Mapping[TaskId, Notified], unsaid: Collection[TaskId] = ()) -> None:
    """Keeps what was sent, less what is still `unsaid`; where that fails, it is sent once more."""
    body = {name: [turn.asked_at, format_time(turn.at)] for name, turn in sent.items() if name not in unsaid}
    with contextlib.suppress(OSError):
        write_json(own_dir / FILE, body)


class NoticeKind(StrEnum):
    """What happened."""

    AWAITING = "task.awaiting"
    STUCK = "task.stuck"
    DONE = "task.done"
    LIMIT = "run.limit"
    BUDGET = "budget.warning"


class Notice(NamedTuple):
    """One thing that people may want to know; `again` marks a task that has gone without an answer for long."""

    kind: NoticeKind
    at: datetime
    task: Task | None = None
    reason: str | None = None
    again: bool = False


def kind_of(task: Task) -> NoticeKind | None:
    """Returns which notification a task calls for now."""
    if task.awaiting is None or not task.is_open:
        return NoticeKind.DONE if task.status is Status.DONE else None
    return NoticeKind.STUCK if task.status is Status.STUCK else NoticeKind.AWAITING


def notice_text(
    notice: Notice,
    place: str,
    questions: tuple[str, ...] = (),
    why: str = "",
    *,
    mode: MergeMode = MergeMode.QUEUE,
) -> str:
    """Returns a notice as one line of JSON; `why` a task is stuck or waits is its reason where it has no other."""
    body: dict[str, object] = {
        "schema": SCHEMA,
        "event": notice.kind.value,
        "again": notice.again,
        "at": format_time(notice.at),
        "repository": place,
        "reason": notice.reason or why or None,
        "task": None if notice.task is None else _task_object(notice.task),
        "questions": list(questions),
        "command": _command(notice.task, why, mode),
    }
    return json.dumps(body, ensure_ascii=True) + "\n"


def _task_object(task: Task) -> dict[str, object]:
    return {
        "id": task.id,
        "title": task.title,
        "status": task.status.value,
        "awaiting": task.awaiting.value if task.awaiting else None,
        "asked_at": format_time(task.asked_at) if task.asked_at else None,
        "priority": task.priority,
        "labels": list(task.labels),
        "parent": task.parent,
        "reviewer": task.reviewer,
        "agent": task.agent,
        "branch": task.branch,
        "pr": task.pr,
    }


def _command(task: Task | None, why: str, mode: MergeMode) -> str | None:
    if task is None or task.awaiting is None:
        return None
    if why.startswith(BUDGET_SPENT):
        return f"gt approve {task.id}"
    if (to_merge := left_merge(task, mode)) is not None:
        return to_merge.command()
    if task.awaiting in ANSWERED:
        return f"gt respond {task.id}"
    return f"gt close {task.id}" if task.awaiting is Awaiting.WORK else f"gt review {task.id}"


class Notifier:
    """Looks at the tasks of one run and notifies people of what is new; all methods are for the loop's thread."""

    def __init__(self, run: RunContext) -> None:
        self._run = run
        self._command = run.settings.notify
        self._pool: ThreadPoolExecutor | None = None
        self._stop = StopRequest()
        self._pending: dict[Future[None], Notice] = {}
        self._notified: dict[TaskId, Notified] = {}
        self._open: set[TaskId] = set()
        self._seen: Mapping[TaskId, Task] | None = None
        self._due: datetime | None = None

    def __enter__(self) -> Self:
        if self._command:
            self._notified = read_notified(self._run.repository.own_dir)
            self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="notify")
        return self

    def __exit__(self, *_: object) -> None:
        self.close(0.0)

    @property
    def _wait(self) -> timedelta:
        return max(_SHORTEST_WAIT, timedelta(seconds=self._run.settings.limits.awaiting))

    @property
    def is_on(self) -> bool:
        """True if there is a command to notify with."""
        return self._pool is not None

    def look(self, tasks: Mapping[TaskId, Task]) -> None:
        """Reports what has become of a run's tasks since the last look, and what has gone without an answer for long.

        The same mapping again means that no task has changed.
        """
        if not self.is_on:
            return
        self._remember()
        now = self._run.now
        if tasks is self._seen and (self._due is None or now < self._due):
            return
        self._seen = tasks
        for task in tasks.values():
            self._look_at(task, now)
        self._open = {task.id for task in tasks.values() if task.is_open}
        turns = [self._notified[task_id].at for task_id in tasks if task_id in self._notified]
        self._due = min(turns) + self._wait if turns else None

    def _look_at(self, task: Task, now: datetime) -> None:
        sent = self._notified.get(task.id)
        if sent is not None and sent.is_over(task):
            del self._notified[task.id]
            sent = None
        kind = kind_of(task)
        if kind is NoticeKind.DONE:
            if task.id in self._open:
                self._notify(Notice(kind, now, task))
        elif kind is not None and (sent is None or abs(now - sent.at) >= self._wait):
            self._notified[task.id] = Notified(_began(task), now)
            self._notify(Notice(kind, now, task, again=sent is not None))

    def notify_limit(self, reason: str) -> None:
        """Announces that a limit ended the run."""
        if self.is_on:
            self._notify(Notice(NoticeKind.LIMIT, self._run.now, reason=reason))

    def notify_budget(self, reached: BudgetReached, tasks: Mapping[TaskId, Task]) -> None:
        """Announces that a budget is nearly spent; one that is spent shows in the task, or ends the run."""
        if not self.is_on or reached.level >= Level.SPENT:
            return
        state = reached.budget
        reason = f"{state.percent} % of `budget.{state.scope}.{state.metric}` is spent: {state.words}"
        task = None if state.task is None else tasks.get(state.task)
        self._notify(Notice(NoticeKind.BUDGET, self._run.now, task, reason=reason))

    def close(self, seconds: float) -> None:
        """Waits a bounded time for notifications being sent; of the rest the next run sends what still waits for people."""
        if self._pool is None:
            return
        left = wait(self._pending, timeout=seconds).not_done
        self._stop.request()
        self._pool.shutdown(cancel_futures=True)
        self._pool = None
        for future in left:
            task = self._pending.pop(future).task
            if task is not None:
                self._notified.pop(task.id, None)
        self._remember()
        if left:
            message = f"`notify` was too slow: {len(left)} of its messages were not delivered"
            self._run.emit(Warned(None, message))

    def _notify(self, notice: Notice) -> None:
        if self._pool is not None:
            self._pending[self._pool.submit(self._deliver, notice)] = notice

    def _remember(self) -> None:
        done = [future for future in self._pending if future.done()]
        for future in done:
            del self._pending[future]
        if done:
            unsaid = {notice.task.id for notice in self._pending.values() if notice.task is not None}
            write_notified(self._run.repository.own_dir, self._notified, unsaid)

    def _deliver(self, notice: Notice) -> None:
        """Runs the command; in its own thread."""
        repository = self._run.repository
        place = repository.project_dir or repository.common_dir
        mode = self._run.settings.merge.mode
        text = notice_text(notice, str(place), *self._asked(notice.task), mode=mode)
        command = Command(
            ("/bin/sh", "-c", self._command or ":"),
            place,
            {**self._run.outer_environment(), **_NO_PERSON},
            text.encode(),
            merge_errors=True,
        )
        limits = Limits(LONGEST_COMMAND_SECONDS, output_bytes=_OUTPUT_BYTES, kept_bytes=_OUTPUT_BYTES)
        ended = run_supervised(command, limits, stop=self._stop)
        if not ended.is_success and ended.reason is not EndReason.STOPPED:
            self._run.emit(Warned(notice.task.id if notice.task else None, f"`notify` {_words(ended)}"))

    def _asked(self, task: Task | None) -> tuple[tuple[str, ...], str]:
        """Returns the open questions of a task that waits for a person, or why it is stuck or waits without any."""
        if task is None or task.awaiting is None:
            return (), ""
        try:
            store = self._run.open_store()
            questions = open_questions(store.task_file(task.id).entries(Section.QUESTIONS))
            events = () if questions else store.history(task.id)
        except GitticksError:
            return (), ""
        return tuple(entry.text for entry in questions), waits_because(task, events)


def _words(ended: Ended) -> str:
    if ended.reason is EndReason.TIMED_OUT:
        return f"took longer than {LONGEST_COMMAND_SECONDS:.0f} s and was ended"
    said = last_line(ended.output)
    return f"failed ({ended.how}){f': {said}' if said else ''}"
