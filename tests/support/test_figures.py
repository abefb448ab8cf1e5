from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.figures import record


def test_figures_are_lines_of_the_file_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "figures.jsonl"
    monkeypatch.setenv("GITTICKS_FIGURES", str(path))
    monkeypatch.setenv("GITTICKS_DOSE", "full")
    record("kills", kills=500, seconds=1.5)
    record("kills", family="create")
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        {"test": "kills", "dose": "full", "kills": 500, "seconds": 1.5},
        {"test": "kills", "dose": "full", "family": "create"},
    ]


def test_without_a_file_figures_are_only_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GITTICKS_FIGURES", raising=False)
    monkeypatch.delenv("GITTICKS_DOSE", raising=False)
    record("kills", kills=1)
    assert json.loads(capsys.readouterr().out) == {"test": "kills", "dose": "ci", "kills": 1}
