"""The option `--shuffle`: tests in an order that a seed chooses, so that none leans on what ran before it.

Modules are shuffled, and the tests within each, so that what a module shares is still made once. A run names its seed
at its end, with the command that repeats the order. With `--draw FOLDER=N` the seed also chooses one in N of the tests
of a folder, those of its subfolders aside: for what runs whole elsewhere.
"""

from __future__ import annotations

import random
import secrets
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

OPTION, DRAW = "--shuffle", "--draw"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option."""
    parser.addoption(OPTION, metavar="SEED", help="shuffle the tests by this seed; `random` draws one")
    parser.addoption(DRAW, metavar="FOLDER=N", help="with --shuffle: run one in N of the tests of FOLDER")


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
    seed, draw = config.getoption(OPTION), config.getoption(DRAW)
    if draw is not None:
        if seed is None:
            raise pytest.UsageError(f"{DRAW} draws by the seed of {OPTION}")
        folder, _, one_in = draw.rpartition("=")
        left_out = not_drawn(items, seed, config.rootpath / folder, int(one_in))
        config.hook.pytest_deselected(items=left_out)
        items[:] = [test for test in items if test not in set(left_out)]
    if seed is not None:
        items[:] = shuffled(items, seed)


def not_drawn(items: list[pytest.Item], seed: str, folder: Path, one_in: int) -> list[pytest.Item]:
    """Returns which tests of a folder a seed leaves out."""
    tests = [test for test in items if test.path.parent == folder]
    if not tests:
        raise pytest.UsageError(f"there are no tests in {folder}")
    drawn = random.Random(seed).sample(tests, -(-len(tests) // one_in))
    return [test for test in tests if test not in set(drawn)]


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
    seed, draw = (terminalreporter.config.getoption(option) for option in (OPTION, DRAW))
    if seed is not None:
        options = f"{OPTION}={seed}" + (f" {DRAW}={draw}" if draw else "")
        terminalreporter.line(f'shuffled with seed {seed}; to repeat the order: make test ARGS="{options}"')
