"""Files with any bytes on the state branch itself: the commands that meet them end, and other tasks are as before."""

from __future__ import annotations

import random

import pytest

from tests.faults.mutating import mutated
from tests.faults.originals import CONFIGS, HISTORIES, TASKS
from tests.faults.scene import OTHER, VICTIM, Scene, scene_in
from tests.faults.usage import COMMANDS, complaint
from tests.support.doses import dose
from tests.support.repositories import fsck_problems

FOLDER = f"tasks/f2/{VICTIM}"
EVERY = 4
"""Broken settings stop much, so that they come with one file in so many."""


@pytest.fixture
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """Returns the scene as it was."""
    made = scene_in(tmp_path_factory.getbasetemp() / "fuzzed-commits")
    made.restore()
    return made


@pytest.mark.parametrize("seed", range(dose(4, 150)))
def test_commands_end_and_other_tasks_are_as_before(scene: Scene, seed: int) -> None:
    draw = random.Random(seed)
    files: dict[str, bytes | None] = {
        f"{FOLDER}/TASK.md": mutated(draw, TASKS),
        f"{FOLDER}/history.jsonl": mutated(draw, HISTORIES),
    }
    has_config = seed % EVERY == EVERY - 1
    if has_config:
        files["config.yaml"] = mutated(draw, CONFIGS)
    scene.commit_files(files)
    problems = []
    for command in COMMANDS:
        ended = scene.gt(*command.arguments)
        told = complaint(ended)
        if told is None and ended.code != command.code and OTHER in command.arguments and not has_config:
            told = f"`{OTHER}` is hurt"
        problems += [] if told is None else [f"{told}:\n{ended}"]
    assert not problems, "\n\n".join([f"{files!r}"[:3000], *problems])
    assert fsck_problems(scene.path) == ""
