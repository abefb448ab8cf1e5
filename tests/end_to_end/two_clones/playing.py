"""Plays: so many operations, each drawn by dice, in either clone."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from tests.end_to_end.two_clones import by_command, by_git, by_hand, ending
from tests.end_to_end.two_clones.scene import Scene
from tests.support.clones import Clone, make_clones, make_first_clone

Operation = Callable[[Scene, Clone], None]

OPERATIONS: dict[Operation, int] = {
    by_command.create: 3,
    by_command.note: 7,
    by_command.change_a_field: 10,
    by_command.add_label: 4,
    by_command.take_label_away: 2,
    by_command.link: 5,
    by_command.ask: 5,
    by_command.respond: 5,
    by_command.hand_off: 5,
    by_command.decide: 10,
    by_command.configure: 2,
    by_command.look: 4,
    by_command.sync: 5,
    by_command.lose_the_line: 3,
    by_hand.edit: 22,
    by_hand.new_task: 4,
    by_hand.answer: 4,
    by_hand.ask_for_a_state: 3,
    by_hand.open_editor: 3,
    by_hand.save_editor: 6,
    by_git.commit: 2,
    by_git.fetch: 2,
    by_git.push: 3,
    by_git.pull: 4,
    by_git.pull_by_rebase: 4,
    by_git.cherry_pick: 5,
    by_git.revert: 3,
    by_git.amend: 3,
    by_git.stash: 2,
    by_git.forget_the_driver: 3,
}
"""How often each is drawn, against one another."""

_CHANGES_CLONE = 0.15
_MOST_TOLD = 60


def play(folder: Path, seed: int, count: int) -> Scene:
    """Plays `count` operations, ends, and checks; a failure tells the seed and what was done last."""
    dice = random.Random(seed)
    first = make_first_clone(folder)
    scene = Scene([], folder / "remote.git", dice)
    for _ in range(3):
        scene.tasks.append(first.create("The first", "-d", "Summary.\n\n## Context\n\nOne line.\n"))
    scene.clones = make_clones(folder, first, 2)
    try:
        for _ in range(count):
            step(scene)
        ending.end(scene)
        ending.check(scene)
    except BaseException as error:
        told = "\n".join(scene.log[-_MOST_TOLD:])
        error.add_note(f"seed {seed}, after {len(scene.log)} lines:\n{told}")
        raise
    return scene


def step(scene: Scene) -> None:
    """Does one operation in one clone, mostly the one that was busy before."""
    if scene.dice.random() < _CHANGES_CLONE:
        scene.busy = scene.dice.randrange(len(scene.clones))
    clone = scene.clones[scene.busy]
    (operation,) = scene.dice.choices(list(OPERATIONS), weights=list(OPERATIONS.values()))
    scene.say(clone, f"— {operation.__name__}")
    operation(scene, clone)
    scene.pass_time(clone)
    scene.ledger.look(clone.store)
