"""The option `--shuffle`: tests in an order that a seed chooses, so that none leans on what ran before it.

Modules are shuffled, and the tests within each, so that what a module shares is still made once. A run names its seed
at its end, with the command that repeats the order. The seed also chooses a smaller dose: with `--draw FOLDER=N` one in
N of the tests of a folder, those of its subfolders aside, for what runs whole elsewhere; with `--cases N` of each test
that writes files at most N cases. Those that only compute cost next to nothing.
"""

from __future__ import annotations

import random
import secrets
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

OPTION, DRAW, CASES = "--shuffle", "--draw", "--cases"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    parser.addoption(OPTION, metavar="SEED", help="shuffle the tests by this seed; `random` draws one")
    parser.addoption(
        DRAW,
        metavar="FOLDER=N",
        action="append",
        default=[],
        help="with --shuffle: run one in N of the tests of FOLDER",
    )
    parser.addoption(
        CASES, metavar="N", type=int, help="with --shuffle: run N cases of each test that writes files"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Draws the seed where it is to be drawn; workers of xdist are told the one of the whole run."""
    if config.getoption(OPTION) == "random":
        told = getattr(config, "workerinput", {}).get(OPTION)
        config.option.shuffle = told or str(secrets.randbelow(1_000_000))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tells a worker of xdist the seed."""
    node.workerinput[OPTION] = node.config.getoption(OPTION)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffles the tests."""
    seed, draws, cases = map(config.getoption, (OPTION, DRAW, CASES))
    if seed is None and (draws or cases is not None):
        raise pytest.UsageError(f"{DRAW} and {CASES} draw by the seed of {OPTION}")
    for draw in draws:
        folder, _, one_in = draw.rpartition("=")
        _leave_out(config, items, not_drawn(items, seed, config.rootpath / folder, int(one_in)))
    if cases is not None:
        _leave_out(config, items, cases_not_drawn(items, seed, cases))
    if seed is not None:
        items[:] = shuffled(items, seed)


def _leave_out(config: pytest.Config, items: list[pytest.Item], some: list[pytest.Item]) -> None:
    left_out = set(some)
    config.hook.pytest_deselected(items=some)
    items[:] = [test for test in items if test not in left_out]


def not_drawn(items: list[pytest.Item], seed: str, folder: Path, one_in: int) -> list[pytest.Item]:
    """Returns which tests of a folder a seed leaves out."""
    tests = [test for test in items if test.path.parent == folder]
    if not tests:
        raise pytest.UsageError(f"there are no tests in {folder}")
    drawn = set(random.Random(seed).sample(tests, -(-len(tests) // one_in)))
    return [test for test in tests if test not in drawn]


def cases_not_drawn(items: list[pytest.Item], seed: str, most: int) -> list[pytest.Item]:
    """Returns which cases a seed leaves out, where a test that writes files has more than so many."""
    chance, by_test = random.Random(seed), dict[str, list[pytest.Item]]()
    for test in items:
        if "tmp_path" in getattr(test, "fixturenames", ()):
            by_test.setdefault(test.nodeid.partition("[")[0], []).append(test)
    drawn = {test for tests in by_test.values() for test in chance.sample(tests, min(most, len(tests)))}
    return [test for tests in by_test.values() for test in tests if test not in drawn]


def shuffled(items: list[pytest.Item], seed: str) -> list[pytest.Item]:
    """Returns the tests in the order of a seed, each module's together."""
    chance = random.Random(seed)
    modules = [list(tests) for _, tests in groupby(items, key=lambda item: item.path)]
    chance.shuffle(modules)
    for tests in modules:
        chance.shuffle(tests)
    return [test for tests in modules for test in tests]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names the seed."""
    seed, draws, cases = map(terminalreporter.config.getoption, (OPTION, DRAW, CASES))
    if seed is not None:
        given = [
            (OPTION, seed),
            *((DRAW, draw) for draw in draws),
            *([] if cases is None else [(CASES, cases)]),
        ]
        options = " ".join(f"{option}={value}" for option, value in given)
        terminalreporter.line(f'shuffled with seed {seed}; to repeat the order: make test ARGS="{options}"')
