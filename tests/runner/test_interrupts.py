"""Signals reach their listener in another thread, and are given back."""

from __future__ import annotations

import os
import signal
import threading
from queue import SimpleQueue

from gitticks.runner.interrupts import interrupting
from tests.support.waiting import LONGEST_SECONDS


def test_each_signal_calls_in_another_thread() -> None:
    called: SimpleQueue[threading.Thread] = SimpleQueue()
    with interrupting(lambda: called.put(threading.current_thread())):
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(os.getpid(), number)
            assert called.get(timeout=LONGEST_SECONDS) is not threading.main_thread()


def test_a_signal_cannot_wait_for_a_lock_that_the_main_thread_holds() -> None:
    lock, called = threading.Lock(), threading.Event()

    def on_interrupt() -> None:
        with lock:
            called.set()

    with interrupting(on_interrupt):
        with lock:
            os.kill(os.getpid(), signal.SIGINT)
        assert called.wait(LONGEST_SECONDS)


def test_the_handlers_from_before_are_put_back() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with interrupting(lambda: None):
        assert signal.getsignal(signal.SIGINT) is not before[0]
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
    assert not [one for one in threading.enumerate() if one.name == "interrupts"]
