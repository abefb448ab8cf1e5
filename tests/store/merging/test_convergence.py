"""Clones that change at random and merge each for itself end with one tree, and everything that was said is in it."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gitticks.document.taskfile import TaskFile
from gitticks.model.ids import TaskId, task_folder, task_path
from gitticks.store.branch import Store
from gitticks.store.merging.commits import merge_commits
from gitticks.store.transaction import read_file
from tests.support.repositories import fsck_problems
from tests.support.tasks import ADA, make_store, write_files
from tests.support.versions import Step, apply_steps, make_base

TASKS = [TaskId(name) for name in ("a2b3", "c4d5", "e6f7")]
ROUNDS = 4
_NAMED_TEXT = re.compile(rb"said-\d+-by-\w+")


@dataclass(slots=True)
class Clone:
    """One side: its commit, and what was said on it."""

    store: Store
    name: str
    tip: str
    said: set[bytes] = field(default_factory=set)

    def read(self, path: str) -> bytes | None:
        objects = self.store.repository.objects
        return read_file(objects, objects.tree_of(self.tip), path)

    def commit(self, files: dict[str, bytes | None], *others: str) -> None:
        made = self.store.objects.write_commit((self.tip, *others), files, author=ADA, message="made\n")
        self.tip = made.id

    def change(self, chance: random.Random, number: int) -> None:
        """Changes a task in one of many ways, and says something in its notes and its history."""
        task_id = chance.choice(TASKS)
        path, history = task_path(task_id), f"{task_folder(task_id)}/history.jsonl"
        word = f"said-{number}-by-{self.name}"
        data = self.read(path)
        assert data is not None
        steps: list[Step] = [chance.choice(_STEPS), ("note", f"said-{number}-by-")]
        changed = apply_steps(data, steps, self.name, number)
        line = f'{{"at":"2026-01-02T{number:06}","word":"{word}"}}\n'.encode()
        self.commit({path: changed, history: (self.read(history) or b"") + line})
        self.said.add(word.encode())


_STEPS: list[Step] = [
    ("title", "Say hello twice"),
    ("priority", 0),
    ("labels", {"one", "three"}),
    ("blocked_by", {"a1"}),
    ("state", 0),
    ("state", 3),
    ("state", 4),
    ("ask", "Why?"),
    ("answer", "Because."),
    ("context", "second"),
    ("section", "Plan"),
    ("key", "mine"),
    ("comment", "# why"),
]


@pytest.mark.parametrize("seed", range(3))
def test_clones_converge(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    store = make_store(tmp_path / "r")
    write_files(store, {task_path(one): make_base().replace(b"k7f2", one.encode()) for one in TASKS})
    clones = [Clone(store, name, store.tip()) for name in ("ours", "theirs")]
    base, number = store.tip(), 0
    for _ in range(ROUNDS):
        for clone in clones:
            for _ in range(chance.randrange(4)):
                number += 1
                clone.change(chance, number)
        one, other = (clone.tip for clone in clones)
        trees = set()
        for parents in ((one, other), (other, one)):
            changes = merge_commits(store.objects, base, *parents).changes
            merged = store.objects.write_commit(parents, changes, author=ADA, message="merged\n")
            trees.add(store.objects.tree_of(merged.id))
        assert len(trees) == 1
        base = merged.id
        for clone in clones:
            clone.tip = base
    assert_nothing_lost(clones)
    assert fsck_problems(tmp_path / "r") == ""


def assert_nothing_lost(clones: list[Clone]) -> None:
    here = clones[0]
    said = clones[0].said | clones[1].said
    noted, logged = set[bytes](), set[bytes]()
    for task_id in TASKS:
        data = here.read(task_path(task_id))
        assert data is not None
        assert TaskFile.parse(data, "f").task.id == task_id
        noted |= set(_NAMED_TEXT.findall(data))
        logged |= set(_NAMED_TEXT.findall(here.read(f"{task_folder(task_id)}/history.jsonl") or b""))
    assert logged == said
    assert noted == said
