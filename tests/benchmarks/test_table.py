from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.commits import Crowd
from benchmarks.measure import Cost, Failure, Place
from benchmarks.peers.base import Job, Work
from benchmarks.peers.ours import OURS
from benchmarks.peers.python import CLICK, CLICK_AND_PYGIT2
from benchmarks.results import Results
from benchmarks.rounds import Row
from benchmarks.table import commits, processes, replace_results, verdicts, watches, writers
from benchmarks.targets import Target, targets
from benchmarks.watching import Watched

MB = 1024


def row(size: int, work: Work, tool: str, *costs: Cost, failure: Failure | None = None) -> Row:
    place = Place(Path(), {"PATH": os.environ["PATH"]})
    return Row(size, work, tool, place, Job((("true",),)), list(costs), failure)


@pytest.fixture
def results() -> Results:
    rows = [
        row(0, Work.START, CLICK, Cost(0.050, 0.04, 13 * MB)),
        row(0, Work.START, CLICK_AND_PYGIT2, Cost(0.100, 0.09, 30 * MB)),
        row(10, Work.NEXT, OURS, Cost(0.060, 0.05, 17 * MB)),
        row(10, Work.NEXT, "ticket", Cost(0.030, 0.02, 5 * MB)),
        row(100, Work.NEXT, OURS, Cost(0.010, 0.01, MB), Cost(0.075, 0.06, 70 * MB), Cost(0.090, 0.07, MB)),
        row(100, Work.NEXT, "ticket", Cost(0.300, 0.2, 5 * MB)),
        row(100, Work.UPDATE, OURS, Cost(0.200, 0.15, 30 * MB)),
        row(100, Work.SHOW, OURS, failure=Failure("exit 70: no | pipe")),
    ]
    times = {(10, False): [0.003, 0.004, 0.020], (100, False): [0.009], (100, True): [0.015]}
    watched = [Watched(10, (0.1, 0.2), None), Watched(100, (0.2, 0.9, 0.21), 0.006)]
    return Results([10, 100], rows, times, [Crowd(16, 100, False, 80.0, 0.5, 2.0, 4.0)], watched)


def test_processes_have_ratios_to_start_ups_and_reasons_for_failures(results: Results) -> None:
    assert processes(results, 100).splitlines()[2:] == [
        "| next | gitticks | 75 | 10 | 1.50 |  | 60 | 70 | 3 |",
        "| next | ticket | 300 | 300 | 6.00 |  | 200 | 5 | 1 |",
        "| update | gitticks | 200 | 200 | 4.00 | 2.00 | 150 | 30 | 1 |",
        "| show | gitticks | failed | exit 70: no \\| pipe |  |  |  |  |  |",
    ]
    assert processes(results, 0).splitlines()[2:] == [
        f"| start | {CLICK} | 50 | 50 | 1.00 |  | 40 | 13 | 1 |",
        f"| start | {CLICK_AND_PYGIT2} | 100 | 100 | 2.00 |  | 90 | 30 | 1 |",
    ]


def test_commits_and_writers_have_tables_of_their_own(results: Results) -> None:
    assert commits(results).splitlines()[2:] == [
        "| 10 | 4.0 | 3.0 |  |  |",
        "| 100 | 9.0 | 9.0 | 15.0 | 15.0 |",
    ]
    assert writers(results).splitlines()[2:] == ["| 16 | 100 | 80 | 500 | 2.00 | 4.00 | 0.50 |"]


def test_watches_have_a_table_of_their_own(results: Results) -> None:
    assert watches(results).splitlines()[2:] == [
        "| 10 | 2 | 150 | 200 |  |",
        "| 100 | 3 | 210 | 900 | 0.60 |",
    ]


def test_every_target_is_held_against_what_was_measured(results: Results) -> None:
    found = {target.what: target for target in targets(results)}
    told = {what: target.verdict for what, target in found.items() if target.verdict != "not measured"}
    assert told == {
        "`gt next`, 100 tasks, against `import click`": "met",
        "`gt next`, 100 tasks, against the fastest peer (ticket)": "met",
        "`gt next`, 10 tasks, against ticket": "**missed by 100%**",
        "`gt next`, 100 tasks against 10": "**missed by 4%**",
        "`gt next`, 100 tasks, peak memory": "**missed by 9%**",
        "`gt update`, 100 tasks, against `import click, pygit2`": "**missed by 25%**",
        "commit in a running process, 100 tasks": "met",
        "commit in a running process, 100 tasks against 10": "met",
        "commit in a running process, with the board, 100 tasks": "**missed by 50%**",
        "16 living writers, 100 tasks, commits a second": "**missed by 20%**",
        "16 living writers, 100 tasks, longest wait": "met",
        "16 `gt update` at once, 100 tasks, against one after the other": "met",
        "a saved edit taken up by `gt watch`, 100 tasks": "met",
        "idle `gt watch`, 100 tasks, of one core": "**missed by 20%**",
    }
    assert found["`gt show`, 100 tasks, against `import click`"].is_met is None


def test_a_target_is_shown_with_its_goal() -> None:
    shown = verdicts([Target("fast", 1.5, 1.25, by_cpu=1.1), Target("many", 100, 12345.6, "", is_floor=True)])
    assert shown.splitlines()[2:] == [
        "| fast | ≤ 1.5 × | 1.25 × | 1.1 × | met |",
        "| many | ≥ 100 | 12,346 |  | met |",
    ]


def test_results_are_put_between_the_markers_and_nowhere_else(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text("before\n<!-- results -->\nold\n<!-- end of results -->\nafter\n")
    replace_results(page, "new \\1\n")
    assert page.read_text() == "before\n<!-- results -->\nnew \\1\n<!-- end of results -->\nafter\n"
    page.write_text("no markers\n")
    with pytest.raises(ValueError, match="has no"):
        replace_results(page, "new")
