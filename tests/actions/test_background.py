from __future__ import annotations

import threading

import pytest

from gitticks.actions.background import in_background
from tests.support.waiting import LONGEST_SECONDS


def test_it_runs_beside_the_block_and_is_over_with_it() -> None:
    begun, ended = threading.Event(), threading.Event()

    def work(over: threading.Event) -> None:
        begun.set()
        over.wait()
        ended.set()

    with in_background(work, "beside"):
        assert begun.wait(LONGEST_SECONDS)
        assert not ended.is_set()
    assert ended.is_set()


def test_it_is_over_too_where_the_block_fails() -> None:
    ended = threading.Event()

    def work(over: threading.Event) -> None:
        over.wait()
        ended.set()

    with pytest.raises(ZeroDivisionError), in_background(work, "beside"):
        raise ZeroDivisionError
    assert ended.is_set()
