"""Two clones and a bare remote under hundreds of drawn operations: at the end both have all of it, once and the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.two_clones.playing import play
from tests.support.clones import on_path
from tests.support.doses import LONGEST_TEST_SECONDS, dose

__all__ = ["on_path"]

SEEDS = range(1, 1 + dose(1, 5))


@pytest.mark.timeout(LONGEST_TEST_SECONDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_two_clones_end_with_all_that_was_done(tmp_path: Path, on_path: None, seed: int) -> None:
    play(tmp_path, seed, dose(60, 500))
