"""Tests with the real programs of agents, where GITTICKS_REAL_AGENTS names the folder that holds them; see CONTRIBUTING."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_agents.clients import FOLDER, FOUND, Client
from tests.real_agents.support import RealProject, begin
from tests.support.model_services import ModelServices, model_services

collect_ignore_glob = [] if FOUND else ["test_*.py"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs a test with each client that is there, or with the `CLIENTS` of its module."""
    if "client" in metafunc.fixturenames:
        clients: tuple[Client, ...] = getattr(metafunc.module, "CLIENTS", FOUND)
        metafunc.parametrize("client", [pytest.param(one, id=one.name) for one in clients])


@pytest.fixture
def services() -> Iterator[ModelServices]:
    """Gives a stand-in for the services of models."""
    with model_services() as services:
        yield services


@pytest.fixture
def project(
    client: Client, services: ModelServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[RealProject]:
    """Gives a project whose agent is the client, which is alone on PATH; no process of it may be left at the end."""
    only = tmp_path / "programs"
    only.mkdir()
    (only / client.name).symlink_to(Path(FOLDER).resolve() / client.name)
    monkeypatch.setenv("PATH", f"{only}{os.pathsep}{os.environ['PATH']}")
    for name, value in client.set_up(Path(os.environ["HOME"]), services).items():
        monkeypatch.setenv(name, value)
    yield from begin(tmp_path / "repo", client, services, monkeypatch)
