"""Two clones and a bare remote under hundreds of drawn operations: at the end both have all of it, once and the same."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.end_to_end.two_clones.playing import play
from tests.support.doses import LONGEST_SECONDS, dose

SEEDS = range(1, 1 + dose(1, 5))


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts a `gt` on PATH, as an installation does."""
    program = tmp_path / "bin" / "gt"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gitticks "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.timeout(LONGEST_SECONDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_two_clones_end_with_all_that_was_done(tmp_path: Path, on_path: None, seed: int) -> None:
    play(tmp_path, seed, dose(60, 500))
