"""Every test here runs with both backends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gitticks.git.objects import BACKEND_VARIABLE, Objects, open_objects

OpenObjects = Callable[[Path], Objects]


@pytest.fixture(params=["libgit2", "processes"])
def opened(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> OpenObjects:
    """Opens the objects of the repository at a path."""
    monkeypatch.setenv(BACKEND_VARIABLE, request.param)
    return lambda top: open_objects(top / ".git")
