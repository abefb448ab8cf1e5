"""The harness itself, whole: everything of ours is measured, on few tasks and once."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as harness

ROOT = Path(__file__).parents[2]


@pytest.fixture
def gt_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts a `gt` of this very working tree on PATH, installed or not."""
    program = tmp_path / "bin" / "gt"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m gitticks "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.usefixtures("gt_on_path")
def test_a_quick_run_measures_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "README.md"
    page.write_text("<!-- results -->\n<!-- end of results -->\n")
    monkeypatch.setattr(harness, "PAGE", page)
    arguments = ["--quick", "--write", "--without-peers", "--sizes", "90", "--rounds", "1", "--writers", "2"]
    assert harness.main(arguments) == 0
    told = page.read_text()
    assert "failed" not in told
    for heading in (
        "Targets",
        "Start-up",
        "90 tasks",
        "Commits in a running process",
        "Many writers",
        "Watching the board",
    ):
        assert f"### {heading}\n" in told
    ours = [line for line in told.splitlines() if "not measured" in line and "peer" not in line]
    assert all("against ticket" in line or "microbeads" in line for line in ours)
    assert told.partition("<!-- results -->\n")[2].partition("<!-- end")[0] in capsys.readouterr().out
