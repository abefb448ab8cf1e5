from __future__ import annotations

import re

import pytest

from gitticks.git import versions


def test_versions_have_numbers() -> None:
    found = versions.versions_of_git()
    assert list(found) == ["git", "pygit2", "libgit2"]
    assert all(re.match(r"\d+\.\d+", version) for version in found.values())


def test_an_old_git_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert versions.is_git_new_enough()
    monkeypatch.setattr(versions, "OLDEST_GIT", (99, 0))
    assert not versions.is_git_new_enough()
