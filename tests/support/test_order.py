from __future__ import annotations

import os
import subprocess
import sys
from itertools import groupby
from pathlib import Path

import pytest

from tests.support.waiting import LONGEST_SECONDS

MODULES = "xyz"


def order(suite: Path, *arguments: str) -> tuple[list[str], str]:
    """Returns a suite's tests in the order in which they ran, and the line that names the seed."""
    command = [sys.executable, "-m", "pytest", "-p", "tests.support.order", "-p", "no:cacheprovider", "-v"]
    done = subprocess.run(
        [*command, "--rootdir", str(suite), *arguments, str(suite)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        timeout=LONGEST_SECONDS,
    )
    lines = done.stdout.splitlines()
    ran = [line.partition("::test_")[2].split()[0] for line in lines if "::" in line]
    return ran, next((line for line in lines if line.startswith("shuffled")), "")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    for module in MODULES:
        (tmp_path / f"test_{module}.py").write_text(
            "".join(f"def test_{module}{test}(): pass\n" for test in "abcdefgh")
        )
    return tmp_path


def test_a_drawn_seed_is_named_and_repeats_an_order_that_leaves_modules_together(suite: Path) -> None:
    unshuffled, said_nothing = order(suite)
    assert (unshuffled, said_nothing) == (sorted(unshuffled), "")
    ran, said = order(suite, "--shuffle=random")
    assert ran != unshuffled
    assert sorted(ran) == unshuffled
    assert len(list(groupby(ran, key=lambda test: test[0]))) == len(MODULES)
    assert order(suite, said.partition('ARGS="')[2].rstrip('"')) == (ran, said)


def test_all_workers_draw_one_order(suite: Path) -> None:
    ran, said = order(suite, "--shuffle=random", "-p", "xdist.plugin", "-n", "2")
    assert len(set(ran)) == len(MODULES) * 8, "xdist refuses workers whose orders differ"
    assert said


def test_some_of_the_tests_that_write_files_are_drawn_and_the_line_that_repeats_it_says_so(
    suite: Path,
) -> None:
    (suite / "test_cases.py").write_text(
        "import pytest\n"
        "@pytest.mark.parametrize('case', range(6))\n"
        "def test_disk(case, tmp_path): pass\n"
        "@pytest.mark.parametrize('case', range(6))\n"
        "def test_thought(case): pass\n"
        "def test_once(tmp_path): pass\n"
        "def test_twice(tmp_path): pass\n"
    )
    for given, drawn in (("--draw=1", 3), ("--draw=2", 2), ("--draw=9", 1)):
        ran, said = order(suite, "--shuffle=random", given)
        names = [one.partition("[")[0] for one in ran]
        assert sum(name in ("disk", "once", "twice") for name in names) == drawn
        assert names.count("thought") == 6
        assert len(ran) == 8 * len(MODULES) + 6 + drawn
        repeated = said.partition('ARGS="')[2].rstrip('"').split()
        assert order(suite, *repeated) == (ran, said)
    order(suite, *repeated, "-p", "xdist.plugin", "-n", "2")  # which refuses workers that draw others
