"""A run's jobs: sessions and merges, each in its own thread, and their interruption."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from types import FrameType
from typing import NamedTuple

from gitticks.agents.process import StopRequest
from gitticks.bugs import failure_of_task
from gitticks.model.ids import TaskId
from gitticks.model.status import Role
from gitticks.model.task import Task
from gitticks.runner.session import SessionRun

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Work = Callable[[StopRequest], SessionRun | None]
"""What a job does; a session's returns itself, to be looked at when it is over."""


@contextlib.contextmanager
def interrupting(on_interrupt: Callable[[int], object]) -> Iterator[None]:
    """Calls `on_interrupt` with each signal in a thread of its own, while the block runs in the main thread.

    Under `nohup` a hangup is none. Only in the main thread: elsewhere the signals are the program's that started the thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked: SimpleQueue[int] = SimpleQueue()

    def handle(number: int, _frame: FrameType | None) -> None:
        asked.put(number)

    def listen() -> None:
        while number := asked.get():
            on_interrupt(number)

    listener = threading.Thread(target=listen, name="interrupts", daemon=True)
    listener.start()
    is_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    before = {
        number: signal.signal(number, handle)
        for number in _SIGNALS
        if number != signal.SIGHUP or not is_ignored
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        asked.put(0)
        listener.join()


class Job(NamedTuple):
    """One thing under way: a session in a workspace (empty for the user's checkout), or a merge, with neither."""

    task: Task
    role: Role | None
    workspace: str | None
    stop: StopRequest
    future: Future[SessionRun | None]

    def result(self) -> SessionRun | None:
        """Returns what a job that is over came to; whatever ended it is a failure of its task alone."""
        try:
            return self.future.result()
        except Exception as error:
            failure = failure_of_task(error, f"gt run {self.task.id}")
            if failure is error:
                raise
            raise failure from error


class Jobs:
    """The jobs of one run, at most one for each task; for one thread."""

    def __init__(self) -> None:
        self._jobs: dict[TaskId, Job] = {}

    def __len__(self) -> int:
        return len(self._jobs)

    def __contains__(self, task_id: object) -> bool:
        return task_id in self._jobs

    def __iter__(self) -> Iterator[Job]:
        return iter(self._jobs.values())

    @property
    def task_ids(self) -> frozenset[TaskId]:
        """Returns the tasks that something is under way for."""
        return frozenset(self._jobs)

    @property
    def sessions(self) -> list[Job]:
        """Returns the jobs that are sessions."""
        return [job for job in self if job.role is not None]

    @property
    def worker_count(self) -> int:
        """Returns how many workers are at work."""
        return sum(job.role is Role.WORKER for job in self)

    @property
    def is_merging(self) -> bool:
        """True while a merge is made."""
        return any(job.role is None for job in self)

    def start(
        self, pool: ThreadPoolExecutor, task: Task, role: Role | None, workspace: str | None, work: Work
    ) -> None:
        """Starts a job in a thread."""
        if task.id in self._jobs:
            raise ValueError(f"{task.id} has a job")
        stop = StopRequest()
        self._jobs[task.id] = Job(task, role, workspace, stop, pool.submit(work, stop))

    def take_finished(self) -> list[Job]:
        """Returns the jobs that are over and forgets them."""
        finished = [job for job in self if job.future.done()]
        for job in finished:
            del self._jobs[job.task.id]
        return finished

    def wait(self, seconds: float) -> None:
        """Waits until a job is over, for at most `seconds`."""
        wait([job.future for job in self], timeout=seconds, return_when=FIRST_COMPLETED)

    def stop_all(self) -> None:
        """Asks every job to end."""
        for job in self:
            job.stop.request()
