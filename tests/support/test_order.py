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


def test_one_in_some_of_a_folder_is_drawn_and_the_line_that_repeats_it_says_so(suite: Path) -> None:
    (suite / "whole").mkdir()
    (suite / "whole/test_w.py").write_text("def test_w(): pass\n")
    (suite / "half").mkdir()
    (suite / "half/test_h.py").write_text("def test_h1(): pass\ndef test_h2(): pass\n")
    some, said = order(suite, "--shuffle=random", "--draw==5", "--draw=half=2")
    assert len(some) == 5 + 1 + 1
    assert "w" in some
    assert order(suite, *said.partition('ARGS="')[2].rstrip('"').split()) == (some, said)
    others, _ = order(suite, "--shuffle=random", "--draw==5", "-p", "xdist.plugin", "-n", "2")
    assert len(set(others)) == 5 + 1 + 2, "xdist refuses workers that draw others"


def test_some_cases_are_drawn_of_each_test_that_writes_files(suite: Path) -> None:
    (suite / "test_cases.py").write_text(
        "import pytest\n"
        "@pytest.mark.parametrize('case', range(6))\n"
        "def test_disk(case, tmp_path): pass\n"
        "@pytest.mark.parametrize('case', range(6))\n"
        "def test_thought(case): pass\n"
        "def test_once(tmp_path): pass\n"
    )
    ran, said = order(suite, "--shuffle=random", "--cases=2")
    told = {name: sum(one.partition("[")[0] == name for one in ran) for name in ("disk", "thought", "once")}
    assert told == {"disk": 2, "thought": 6, "once": 1}
    assert order(suite, *said.partition('ARGS="')[2].rstrip('"').split()) == (ran, said)
