"""The option `--shuffle`: tests in an order that a seed chooses, so that none leans on what ran before it.

Modules are shuffled, and the tests within each, so that what a module shares is still made once. A run names its seed
at its end, with the command that repeats the order. The seed also chooses a smaller dose: with `--draw N` one in N of
the tests that write files, and one case of each. Those that only compute cost next to nothing.
"""

from __future__ import annotations

import random
import secrets
from itertools import groupby
from typing import Any

import pytest

OPTION, DRAW = "--shuffle", "--draw"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    parser.addoption(OPTION, metavar="SEED", help="shuffle the tests by this seed; `random` draws one")
    parser.addoption(
        DRAW, metavar="N", type=int, help="with --shuffle: run one in N of the tests that write files"
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
    seed, one_in = map(config.getoption, (OPTION, DRAW))
    if seed is None and one_in is not None:
        raise pytest.UsageError(f"{DRAW} draws by the seed of {OPTION}")
    if one_in is not None:
        left_out = set(not_drawn(items, seed, one_in))
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [test for test in items if test not in left_out]
    if seed is not None:
        items[:] = shuffled(items, seed)


def not_drawn(items: list[pytest.Item], seed: str, one_in: int) -> list[pytest.Item]:
    """Returns which of the tests that write files a seed leaves out."""
    chance, by_test = random.Random(seed), dict[str, list[pytest.Item]]()
    for test in items:
        if "tmp_path" in getattr(test, "fixturenames", ()):
            by_test.setdefault(test.nodeid.partition("[")[0], []).append(test)
    drawn = chance.sample(list(by_test.values()), -(-len(by_test) // one_in))
    some = {chance.choice(cases) for cases in drawn}
    return [test for cases in by_test.values() for test in cases if test not in some]


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
    seed, one_in = map(terminalreporter.config.getoption, (OPTION, DRAW))
    if seed is not None:
        given = f"{OPTION}={seed}" if one_in is None else f"{OPTION}={seed} {DRAW}={one_in}"
        terminalreporter.line(f'shuffled with seed {seed}; to repeat the order: make test ARGS="{given}"')
