"""What is under way: one job a task, taken off when it is over."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from threading import Event

import pytest

from gitticks.agents.process import StopRequest
from gitticks.model.status import Role
from gitticks.runner.jobs import Jobs, interrupting
from tests.support.tasks import make_task
from tests.support.waiting import LONGEST_SECONDS


def test_jobs_are_counted_by_kind_and_stopped_together() -> None:
    jobs, stopped = Jobs(), Event()

    def work(stop: StopRequest) -> None:
        with stop.listening(lambda _: stopped.set()):
            stopped.wait(LONGEST_SECONDS)

    with ThreadPoolExecutor(3) as pool:
        jobs.start(pool, make_task("aaaa"), Role.WORKER, "aaaa", work)
        jobs.start(pool, make_task("bbbb"), Role.REVIEWER, "bbbb", work)
        jobs.start(pool, make_task("cccc"), None, None, work)
        assert (len(jobs), len(jobs.sessions), jobs.worker_count, jobs.is_merging) == (3, 2, 1, True)
        assert jobs.task_ids == {"aaaa", "bbbb", "cccc"}
        assert jobs.take_finished() == []
        jobs.stop_all()
    assert [job.task.id for job in jobs.take_finished()] == ["aaaa", "bbbb", "cccc"]
    assert not jobs


def test_a_failure_comes_out_where_the_job_is_looked_at() -> None:
    jobs = Jobs()

    def fail(_: StopRequest) -> None:
        raise KeyError("why")

    with ThreadPoolExecutor(1) as pool:
        jobs.start(pool, make_task("aaaa"), Role.WORKER, "", fail)
        jobs.wait(LONGEST_SECONDS)
    (job,) = jobs.take_finished()
    with pytest.raises(KeyError, match="why"):
        job.future.result()


def test_a_job_that_was_not_taken_yet_is_not_lost_to_another() -> None:
    jobs = Jobs()
    with ThreadPoolExecutor(1) as pool:
        jobs.start(pool, make_task("aaaa"), Role.WORKER, "aaaa", lambda _: None)
        with pytest.raises(ValueError, match="aaaa has a job"):
            jobs.start(pool, make_task("aaaa"), None, None, lambda _: None)
    assert [job.role for job in jobs.take_finished()] == [Role.WORKER]


def test_each_signal_calls_in_another_thread() -> None:
    called: SimpleQueue[threading.Thread] = SimpleQueue()
    with interrupting(lambda _: called.put(threading.current_thread())):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(os.getpid(), number)
            assert called.get(timeout=LONGEST_SECONDS) is not threading.main_thread()


def test_a_hangup_is_none_where_it_was_ignored() -> None:
    called: SimpleQueue[str] = SimpleQueue()
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interrupting(lambda _: called.put("called")):
            os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
    assert called.empty()


def test_a_signal_cannot_wait_for_a_lock_that_the_main_thread_holds() -> None:
    lock, called = threading.Lock(), threading.Event()

    def on_interrupt(_: int) -> None:
        with lock:
            called.set()

    with interrupting(on_interrupt):
        with lock:
            os.kill(os.getpid(), signal.SIGINT)
        assert called.wait(LONGEST_SECONDS)


def test_the_handlers_from_before_are_put_back() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with interrupting(lambda _: None):
        assert signal.getsignal(signal.SIGINT) is not before[0]
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
    assert not [one for one in threading.enumerate() if one.name == "interrupts"]
