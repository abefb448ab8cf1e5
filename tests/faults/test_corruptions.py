"""Whatever is broken, every command ends soon and with an answer, and what git can still read can be worked on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.corruptions import CORRUPTIONS, dosed
from tests.faults.corruptions.corruption import Corruption, Reach
from tests.faults.forked import Ended
from tests.faults.scene import ALL, NEIGHBOUR, VICTIM, Scene, scene_in
from tests.faults.usage import COMMANDS, Command, complaint
from tests.support.figures import record

LEAST_IN_FULL_DOSE = 300


@pytest.fixture
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """Returns the scene as it was."""
    made = scene_in(tmp_path_factory.getbasetemp() / "corruptions")
    made.restore()
    return made


def wrongs(corruption: Corruption, command: Command, ended: Ended) -> Iterator[str]:
    """Yields what is wrong with how a command ended under a corruption."""
    told = complaint(ended)
    if told is not None:
        yield told
    is_reached = corruption.reach is Reach.ALL or (corruption.reach is Reach.READING and command.reads)
    if corruption.reach is Reach.OTHERS:
        is_reached = not command.is_about_victim
        if command.is_about_victim and ended.code != 0 and VICTIM not in ended.err:
            yield f"it does not name `{VICTIM}`"
    if is_reached and ended.code != command.code:
        yield f"it should end with {command.code}"
    if is_reached and command.lists:
        hidden = {VICTIM} if corruption.reach is Reach.OTHERS else set()
        missing = [task for task in ALL if task not in ended.out and task not in hidden]
        if missing:
            yield f"it does not list {missing}"


@pytest.mark.parametrize("corruption", dosed(one_in=3), ids=lambda one: one.name)
def test_every_command_ends_with_an_answer(scene: Scene, corruption: Corruption) -> None:
    corruption.make(scene)
    problems, slowest, told = [], 0.0, ""
    for command in COMMANDS:
        ended = scene.gt(*command.arguments)
        slowest = max(slowest, ended.seconds)
        told += ended.err
        problems += [f"{wrong}:\n{ended}" for wrong in wrongs(corruption, command, ended)]
    record("corruption", name=corruption.name, slowest_seconds=round(slowest, 2), problems=len(problems))
    assert not problems, "\n\n".join(problems)
    assert corruption.refusal in told


def test_the_table_is_long_and_its_names_are_unique() -> None:
    names = [one.name for one in CORRUPTIONS]
    assert len(names) >= LEAST_IN_FULL_DOSE
    assert len(set(names)) == len(names)
    assert NEIGHBOUR in ALL
