"""The tests here start runs by keys, which are processes of their own: none outlives its test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gitticks.runner.liveness import is_run_alive_at
from tests.support.runs import RunProject, project
from tests.support.waiting import until
from tests.tui.terminal import Terminal

__all__ = ["played", "project"]


@pytest.fixture
def played(project: RunProject) -> Iterator[RunProject]:
    """Gives a project, and ends the run that a test has left in it."""
    yield project
    own = project.path / ".git/gitticks"
    if is_run_alive_at(str(own)):
        for record in own.glob("sessions/*.json"):
            project.gt("stop", record.stem)
        project.gt("stop")
        until(lambda: not is_run_alive_at(str(own)), "the end of the run")


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    """Gives a terminal, which is closed at the end."""
    found = Terminal()
    yield found
    found.close()
