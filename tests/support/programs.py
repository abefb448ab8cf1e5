"""The marker `debian`: what happens to tests whose program is not installed.

A test that needs bubblewrap says so: `@pytest.mark.debian("bubblewrap", program="bwrap")`. Where the program is
missing the test is skipped, and the run ends with the command that installs it. Where GITTICKS_REQUIRE_PROGRAMS is
set, as in CI, the test fails instead: a check that silently stopped running is worse than a red one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass

import pytest

PACKAGES_OPTION = "--debian-packages"
REQUIRED_VARIABLE = "GITTICKS_REQUIRE_PROGRAMS"
PROPERTY = "missing-debian-package"


@dataclass(frozen=True, slots=True)
class Need:
    """A program that a test starts, and the Debian package that holds it."""

    package: str
    program: str

    @property
    def is_missing(self) -> bool:
        """True if the program is not found on PATH."""
        return shutil.which(self.program) is None


def need_of(mark: pytest.Mark) -> Need:
    """Returns what `@pytest.mark.debian(package, program=package)` asks for.

    Raises:
        pytest.UsageError: the marker has other arguments.
    """
    match mark.args, mark.kwargs:
        case [str(package)], {} if not mark.kwargs:
            return Need(package, package)
        case [str(package)], {"program": str(program)} if len(mark.kwargs) == 1:
            return Need(package, program)
    raise pytest.UsageError(f"`debian` takes a package and `program=`, not {mark.args} {mark.kwargs}")


def needs_of(item: pytest.Item) -> list[Need]:
    """Returns the needs of a test, those of its module and class included."""
    return [need_of(mark) for mark in item.iter_markers("debian")]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option that lists the packages and runs nothing."""
    parser.addoption(PACKAGES_OPTION, action="store_true", help="print the Debian packages that tests need")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Checks every marker; under the option, prints the packages, each on a line after `debian: `, and ends."""
    packages = {need.package for item in items for need in needs_of(item)}
    if config.getoption(PACKAGES_OPTION):
        for package in sorted(packages):
            config.get_terminal_writer().line(f"debian: {package}")
        pytest.exit(f"{len(packages)} packages listed, no test run", returncode=0)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips a test whose program is missing, or fails it where programs are required."""
    for need in needs_of(item):
        if not need.is_missing:
            continue
        reason = f"`{need.program}` is not on PATH: apt-get install {need.package}"
        if os.environ.get(REQUIRED_VARIABLE):
            pytest.fail(f"{reason} ({REQUIRED_VARIABLE} is set)", pytrace=False)
        item.user_properties.append((PROPERTY, need.package))
        pytest.skip(reason)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Ends the run by saying how many tests did not run, and which command would change that."""
    packages = [name for report in terminalreporter.getreports("skipped") for name in _missing(report)]
    if packages:
        terminalreporter.section("programs that are missing", yellow=True)
        terminalreporter.line(
            f"{len(packages)} tests did not run; to run them: apt-get install {' '.join(sorted(set(packages)))}"
        )


def _missing(report: pytest.TestReport | pytest.CollectReport) -> Iterable[str]:
    """Returns the packages that a report names; reports of xdist's workers carry them too."""
    properties = report.user_properties if isinstance(report, pytest.TestReport) else []
    return (str(value) for name, value in properties if name == PROPERTY)
