from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from benchmarks.measure import Cost, Failure, Place, measure
from benchmarks.peers.base import Prepared, Work
from benchmarks.rounds import fill, rows_of
from benchmarks.table import render, replace_results


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
    ("command", "reason"),
    [
        (("sh", "-c", "exit 70"), "exit 70"),
        (("sh", "-c", "echo 'error: no' >&2; exit 1"), "exit 1: error: no"),
        (("nonesuch",), "not installed"),
        (("sleep", "600"), "took more than 1 s"),
    ],
)
def test_a_run_that_failed_has_no_cost(place: Place, command: tuple[str, ...], reason: str) -> None:
    assert measure(command, place, 1) == Failure(reason)


def test_rounds_take_variants_in_turn_and_measure_a_failed_command_no_more(place: Place) -> None:
    variants = tuple(("sh", "-c", f"echo {name} >>log") for name in "ab")
    once = ("sh", "-c", "test ! -e marker && touch marker")
    rows = rows_of([Prepared(place, {(Work.UPDATE, "two"): variants, (Work.NEXT, "once"): (once,)})])
    fill(rows, rounds=4, limit_seconds=60, patience_seconds=60, say=lambda _: None)
    assert [row.tool for row in rows] == ["once", "two"]
    assert rows[0].failure == Failure("exit 1")
    assert len(rows[1].costs) == 4
    assert (place.directory / "log").read_text().split() == ["a", "b", "a", "b", "a"]


def test_a_slow_command_keeps_its_first_measurement(place: Place) -> None:
    rows = rows_of([Prepared(place, {(Work.NEXT, "slow"): (("true",),)})])
    fill(rows, rounds=4, limit_seconds=60, patience_seconds=0, say=lambda _: None)
    assert len(rows[0].costs) == 1


def test_the_table_gives_ratios_to_click_and_reasons_for_failures(place: Place) -> None:
    rows = rows_of(
        [
            Prepared(place, {(Work.START, "python: import click"): (("true",),)}),
            Prepared(place, {(Work.NEXT, "us"): (("true",),), (Work.LIST, "us"): (("true",),)}),
        ]
    )
    rows[0].costs = [Cost(0.050, 0.04, 13 * 1024)]
    rows[1].costs = [Cost(0.010, 0.01, 1024), Cost(0.075, 0.06, 2048), Cost(0.090, 0.07, 1024)]
    rows[2].failure = Failure("exit 70: no | pipe")
    assert render(rows).splitlines()[2:] == [
        "| start | python: import click | 50 | 1.00 | 40 | 13 | 1 |",
        "| next | us | 75 | 1.50 | 60 | 2 | 3 |",
        "| list | us | failed | exit 70: no \\| pipe |  |  |  |",
    ]


def test_results_are_put_between_the_markers_and_nowhere_else(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text("before\n<!-- results -->\nold\n<!-- end of results -->\nafter\n")
    replace_results(page, "new \\1\n")
    assert page.read_text() == "before\n<!-- results -->\nnew \\1\n<!-- end of results -->\nafter\n"
    page.write_text("no markers\n")
    with pytest.raises(ValueError, match="has no"):
        replace_results(page, "new")
