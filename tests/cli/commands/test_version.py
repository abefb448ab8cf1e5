from __future__ import annotations

import json
import platform
from pathlib import Path

from gitticks import __version__
from tests.cli.support import gt, gt_process


def test_versions_are_reported_anywhere(tmp_path: Path) -> None:
    lines = gt("version", at=tmp_path).out.splitlines()
    assert [line.split()[0] for line in lines] == ["gitticks", "python", "git", "pygit2", "libgit2"]
    assert lines[0] == f"gitticks  {__version__}"


def test_json(tmp_path: Path) -> None:
    found = json.loads(gt("version", "--json", at=tmp_path).out)["versions"]
    assert found["python"] == platform.python_version()
    assert found["git"][0].isdigit()


def test_without_git(tmp_path: Path) -> None:
    ran = gt_process("version", "--json", at=tmp_path, environment={"PATH": str(tmp_path)})
    assert json.loads(ran.out)["versions"]["git"] == "missing"
