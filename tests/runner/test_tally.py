"""What a run has spent, and which limit that reaches."""

from __future__ import annotations

from gitticks.model.task import Usage
from gitticks.runner.options import RunOptions
from gitticks.runner.tally import Tally


def test_sessions_add_up_and_only_workers_are_iterations() -> None:
    tally = Tally()
    tally.add(Usage(1, 100, 50, 1.0), Usage(2, 300, 70, 1.5), is_iteration=True)
    tally.add(Usage(2, 300, 70, 1.5), Usage(3, 310, 75, 1.75), is_iteration=False)
    assert (tally.iterations, tally.tokens, tally.cost) == (1, 235, 0.75)


def test_without_limits_nothing_is_reached() -> None:
    tally = Tally(1000, 1e6, 10**9)
    assert tally.limit(RunOptions(), 1e6) is None
    assert tally.worker_limit(RunOptions(), 64) is None


def test_each_limit_is_reached_exactly() -> None:
    tally = Tally(iterations=3, cost=2.5, tokens=99)
    assert tally.limit(RunOptions(max_seconds=60), 59.9) is None
    assert tally.limit(RunOptions(max_seconds=60), 60) == "the limit of 60 s is reached"
    assert tally.limit(RunOptions(max_cost=2.5), 0) == "the limit of $2.50 is reached"
    assert tally.limit(RunOptions(max_cost=2.51), 0) is None
    assert tally.limit(RunOptions(max_tokens=99), 0) == "the limit of 99 tokens is reached"
    assert tally.limit(RunOptions(max_tokens=100), 0) is None
    assert tally.worker_limit(RunOptions(max_iterations=3)) == "the limit of 3 iterations is reached"
    assert tally.worker_limit(RunOptions(max_iterations=4)) is None


def test_workers_under_way_count_as_iterations() -> None:
    assert Tally(iterations=1).worker_limit(RunOptions(max_iterations=3), 2) is not None
