"""The option `--shuffle`: tests in an order that a seed chooses, so that none leans on what ran before it.

Modules are shuffled, and the tests within each, so that what a module shares is still made once. A run names its seed
at its end, with the command that repeats the order.
"""

from __future__ import annotations

import random
import secrets
from itertools import groupby
from typing import Any

import pytest

OPTION = "--shuffle"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option."""
    parser.addoption(OPTION, metavar="SEED", help="shuffle the tests by this seed; `random` draws one")


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
    seed = config.getoption(OPTION)
    if seed is not None:
        items[:] = shuffled(items, seed)


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
    seed = terminalreporter.config.getoption(OPTION)
    if seed is not None:
        terminalreporter.line(
            f'shuffled with seed {seed}; to repeat the order: make test ARGS="{OPTION}={seed}"'
        )
