"""Projects whose remote is a forge on this machine, behind the real `gh` or a recorded one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from gitticks.model.notes import Section
from tests.support.forges import PROJECT, StandIn, configure_real, install_recorded, serving
from tests.support.projects import make_reviewing
from tests.support.repositories import git
from tests.support.runs import RunProject

URL = f"https://github.com/{PROJECT}/pull/1"


@pytest.fixture(params=["recorded", pytest.param("real", marks=pytest.mark.debian("gh"))])
def forge(
    request: pytest.FixtureRequest, project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> Iterator[StandIn]:
    """Serves the forge of the project's remote, and lets `gh` find it."""
    with _serve(project, "github.com") as forge:
        if request.param == "real":
            for name, value in configure_real(project.path.parent / "gh", forge.socket).items():
                monkeypatch.setenv(name, value)
        else:
            _use_recorded(project, forge, monkeypatch)
        yield forge


@pytest.fixture
def recorded(project: RunProject, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """Serves the same, behind the recorded `gh` alone."""
    with _serve(project, "github.com") as forge:
        _use_recorded(project, forge, monkeypatch)
        yield forge


@pytest.fixture
def gitlab(project: RunProject, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """Serves a GitLab, behind a recorded `glab`."""
    with _serve(project, "gitlab.com") as forge:
        _use_recorded(project, forge, monkeypatch)
        yield forge


def _use_recorded(project: RunProject, forge: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = install_recorded(project.path.parent / "programs", forge.socket)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")


def _serve(project: RunProject, host: str) -> AbstractContextManager[StandIn]:
    remote = project.path.parent / "remote.git"
    git("init", "-q", "--bare", "-b", "main", str(remote), at=project.path)
    address = f"https://{host}/{PROJECT}.git"
    git("config", f"url.{remote}.insteadOf", address, at=project.path)
    git("remote", "add", "origin", address, at=project.path)
    git("push", "-q", "-u", "origin", "main", at=project.path)
    project.settings("merge: {mode: pull-request}\nreview: none\n")
    return serving(project.path.parent, remote)


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs `gh` in."""
    monkeypatch.setenv("GH_TOKEN", "secret")


def offered(project: RunProject) -> Path:
    """Makes a task whose pull request is open; returns its workspace."""
    workspace = make_reviewing(project, title="Keep the return URL")
    project.ok("approve", "k7f2")
    return workspace


def notes(project: RunProject) -> list[str]:
    """Returns the texts of the task's notes."""
    return [entry.text for entry in project.file("k7f2").entries(Section.NOTES)]
