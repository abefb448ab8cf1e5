"""Tests begin with copies of repositories, and make their own only where what a test has set could show in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import prepared


def test_a_usual_test_begins_with_copies(tmp_path: Path) -> None:
    assert prepared.copied(prepared.PROJECT, tmp_path / "project")


def test_a_test_with_an_environment_of_its_own_makes_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DEFAULT_HASH", "sha256")
    assert not prepared.copied(prepared.PROJECT, tmp_path / "project")
