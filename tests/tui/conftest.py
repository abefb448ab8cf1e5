"""The tests here start runs by keys, which are processes of their own: none outlives its test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitticks.runner.liveness import is_run_alive_at
from tests.support.projects import Project
from tests.support.runs import RunProject, project
from tests.support.waiting import until
from tests.tui.terminal import Terminal

__all__ = ["played", "project"]


def end_run(project: Project) -> None:
    """Ends the run that a test has left in a project, if it has."""
    own = project.path / ".git/gitticks"

    def has_ended() -> bool:
        if not is_run_alive_at(str(own)):
            return True
        # Again and again: a run that is starting forgets what it is asked.
        for record in own.glob("sessions/*.json"):
            project.gt("stop", record.stem)
        project.gt("stop")
        return False

    until(has_ended, "the end of the run")


@pytest.fixture
def played(project: RunProject) -> Iterator[RunProject]:
    """Gives a project whose run is ended at the end."""
    yield project
    end_run(project)


@pytest.fixture
def till(tmp_path: Path) -> Iterator[Project]:
    """Gives the place of the demo's project, whose run is ended however the test ends."""
    found = Project(tmp_path / "till")
    yield found
    end_run(found)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    """Gives a terminal, which is closed at the end."""
    found = Terminal()
    yield found
    found.close()
