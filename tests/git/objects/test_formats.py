"""Which format objects are read in, however the configuration that says it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.git.objects import open_objects
from tests.support.repositories import git


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"include.path": "/nowhere/of/mine"},
        {"core.hooksPath": "a folder; with signs"},
        {"core.sshCommand": 'ssh -i "a key"'},
    ],
    ids=["plain", "include", "quoted", "escaped"],
)
def test_sha256_is_seen_beside_settings_that_are_not_plain(tmp_path: Path, settings: dict[str, str]) -> None:
    git("init", "--quiet", "--object-format=sha256", str(tmp_path), at=tmp_path)
    for key, value in settings.items():
        git("config", key, value, at=tmp_path)
    blob = git("hash-object", "-w", "--stdin", at=tmp_path, input="text")
    assert open_objects(tmp_path / ".git", does_much=True).read_blob(blob) == b"text"
