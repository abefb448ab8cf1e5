"""The exit codes of a run: each, and which goes first."""

from __future__ import annotations

import pytest

from gitticks.model.status import Awaiting, Status
from gitticks.model.task import Task
from gitticks.runner.outcome import RunExit, judge, summarise
from tests.support.decisions import make_merging, make_task

STUCK = make_task(Status.STUCK)
WORK = make_task(Status.WORKING, awaiting=Awaiting.WORK)
WAITS = make_task(Status.REVIEWING)
DONE = make_task(Status.DONE)
CANCELLED = make_task(Status.CANCELLED)
PENDING = make_task(Status.PENDING)


@pytest.mark.parametrize(
    ("tasks", "code"),
    [
        ([], RunExit.DONE),
        ([DONE, CANCELLED], RunExit.DONE),
        ([PENDING, DONE], RunExit.DONE),
        ([WAITS, DONE], RunExit.WAITS),
        ([make_merging()], RunExit.WAITS),
        ([WAITS, WORK], RunExit.WORK),
        ([WAITS, WORK, STUCK], RunExit.STUCK),
    ],
)
def test_the_first_code_that_applies(tasks: list[Task], code: RunExit) -> None:
    assert judge(tasks, interrupted=False, is_cut_short=False) is code


def test_a_run_that_was_cut_short_or_interrupted_says_that_first() -> None:
    assert judge([STUCK], interrupted=False, is_cut_short=True) is RunExit.LIMIT
    assert judge([STUCK], interrupted=True, is_cut_short=True) is RunExit.INTERRUPTED


def test_the_summary_counts() -> None:
    ended = summarise([STUCK, WORK, WAITS, DONE, DONE, CANCELLED], "over", RunExit.STUCK, 7, 0.12345)
    assert (ended.waiting, ended.stuck, ended.done) == (3, 1, 2)
    assert (ended.reason, ended.exit_code, ended.iterations, ended.cost) == ("over", 4, 7, 0.1235)
