"""Commands are killed at random instants: what they had acknowledged stands, and nothing stands half."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path
from random import Random

import pytest

from tests.faults.families import FAMILIES, start_project
from tests.faults.killing import Tally, Target, check_at_the_end, kill_once
from tests.support.doses import LONGEST_TEST_SECONDS, dose

pytestmark = pytest.mark.timeout(LONGEST_TEST_SECONDS)

KILLS = dose(2, 500)
KILLS_A_REPOSITORY = 50


@pytest.mark.parametrize("family", FAMILIES)
def test_a_killed_command_did_all_or_nothing(tmp_path: Path, family: str) -> None:
    random = Random(family)
    tally = Tally()
    targets: dict[int, Target] = {}
    for repository in itertools.count():
        project = start_project(tmp_path / f"repository-{repository}")
        names = itertools.count()
        for number in range(min(KILLS_A_REPOSITORY, KILLS)):
            which = number % len(FAMILIES[family])
            if which not in targets:
                targets[which] = Target.measure(project, FAMILIES[family][which], names, random)
            kill_once(project, targets[which], next(names), tally)
        check_at_the_end(project, tally)
        shutil.rmtree(project.path)
        if tally.kills >= KILLS or tally.ended >= KILLS:
            break
    tally.finish(f"kills: {family}")
