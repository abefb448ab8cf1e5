from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from benchmarks.measure import Cost, Failure, Place, measure
from benchmarks.peers.base import Job, Prepared, Work
from benchmarks.rounds import Row, fill, rows_of


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, {"PATH": os.environ["PATH"]})


def test_a_run_costs_time_processor_and_memory(place: Place) -> None:
    cost = measure((sys.executable, "-c", "b = b'x' * 50_000_000\nfor _ in range(10**6): pass"), place, 60)
    assert isinstance(cost, Cost)
    assert cost.seconds > 0
    assert cost.cpu_seconds > 0
    assert 50_000 < cost.peak_kilobytes < 200_000


def test_the_harness_own_memory_is_not_counted(place: Place) -> None:
    ballast = bytearray(b"x" * 100_000_000)
    cost = measure(("true",), place, 60)
    assert isinstance(cost, Cost)
    assert cost.peak_kilobytes < 30_000 < len(ballast)


@pytest.mark.parametrize(
    ("command", "limit_seconds", "reason"),
    [
        (("sh", "-c", "exit 70"), 60, "exit 70"),
        (("sh", "-c", "echo 'error: no' >&2; exit 1"), 60, "exit 1: error: no"),
        (("nonesuch",), 60, "not installed"),
        (("sleep", "600"), 1, "took more than 1 s"),
    ],
)
def test_a_run_that_failed_has_no_cost(
    place: Place, command: tuple[str, ...], limit_seconds: int, reason: str
) -> None:
    assert measure(command, place, limit_seconds) == Failure(reason)


def rows_for(place: Place, rows: dict[tuple[Work, str], Job]) -> list[Row]:
    return rows_of(10, [Prepared(place, rows)])


def quiet(_: str) -> None:
    pass


def test_rounds_take_variants_in_turn_and_measure_a_failed_command_no_more(place: Place) -> None:
    variants = tuple(("sh", "-c", f"echo {name} >>log") for name in "ab")
    once = ("sh", "-c", "test ! -e marker && touch marker")
    rows = rows_for(place, {(Work.UPDATE, "two"): Job(variants), (Work.NEXT, "once"): Job((once,))})
    fill(rows, rounds=4, limit_seconds=60, patience_seconds=60, say=quiet)
    assert [row.tool for row in rows] == ["once", "two"]
    assert rows[0].failure == Failure("exit 1")
    assert rows[0].seconds is None
    assert len(rows[1].costs) == 4
    assert rows[1].least_seconds <= rows[1].cost.seconds
    assert (place.directory / "log").read_text().split() == ["a", "b", "a", "b", "a"]


def test_a_slow_command_keeps_its_first_measurement(place: Place) -> None:
    rows = rows_for(place, {(Work.NEXT, "slow"): Job((("true",),))})
    fill(rows, rounds=4, limit_seconds=60, patience_seconds=0, say=quiet)
    assert len(rows[0].costs) == 1


@pytest.mark.parametrize(
    ("job", "failure"),
    [
        (Job((("echo", "k7f2  Fix it"),), ("m3xq", "k7f2")), None),
        (Job((("echo", "nothing to do"),), ("k7f2",)), Failure("does not show `k7f2`")),
        (Job((("true",),), ("k7f2",), ("echo", "k7f2")), None),
        (Job((("echo", "k7f2"),), ("k7f2",), ("true",)), Failure("does not show `k7f2`")),
    ],
)
def test_a_command_must_name_the_task_that_it_works_on(
    place: Place, job: Job, failure: Failure | None
) -> None:
    rows = rows_for(place, {(Work.SHOW, "any"): job})
    fill(rows, rounds=1, limit_seconds=60, patience_seconds=60, say=quiet)
    assert rows[0].failure == failure


def test_what_makes_ready_is_done_before_each_run(place: Place) -> None:
    seen: list[int] = []
    rows = rows_for(place, {(Work.COLD, "us"): Job((("true",),), before=seen.append)})
    fill(rows, rounds=2, limit_seconds=60, patience_seconds=60, say=quiet)
    assert seen == [0, 1, 2]
