"""Objects of the state branch that are missing or damaged, with a warm index and without one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

from tests.faults.corruptions.corruption import (
    Corruption,
    Reach,
    empty,
    folder,
    garbage,
    gone,
    half,
    put,
    remove,
    variants,
    zeros,
)
from tests.faults.scene import STATE, VICTIM, Scene

Damage = Callable[[Path], None]
DAMAGES: tuple[Damage, ...] = (gone, empty, garbage, half, zeros, folder)
TASK = f"{STATE}:tasks/f2/{VICTIM}/TASK.md"
HISTORY = f"{STATE}:tasks/f2/{VICTIM}/history.jsonl"
TASK_TREE = f"{STATE}:tasks/f2/{VICTIM}"
SHARD_TREE = f"{STATE}:tasks/f2"
TASKS_TREE = f"{STATE}:tasks"
TOP_TREE = f"{STATE}^{{tree}}"
CONFIG = f"{STATE}:config.yaml"
ATTRIBUTES = f"{STATE}:.gitattributes"
COMMIT = STATE
PARENT = f"{STATE}~1"


def _warm(scene: Scene, case: tuple[str, Damage]) -> None:
    revision, damage = case
    damage(scene.object_file(revision))


def _cold(scene: Scene, case: tuple[str, Damage]) -> None:
    _warm(scene, case)
    remove(scene.index)


def _swapped(scene: Scene, revisions: tuple[str, str]) -> None:
    """Puts a sound object in the place of another, whose name it then belies."""
    one, other = (scene.object_file(revision) for revision in revisions)
    put(one, other.read_bytes())
    remove(scene.index)


def _pack(scene: Scene) -> Path:
    scene.git("repack", "-a", "-d", "-q")
    scene.git("prune-packed")
    remove(scene.index)
    return next((scene.git_dir / "objects/pack").glob("*.pack"))


def _packed(scene: Scene, case: tuple[str, Damage]) -> None:
    suffix, damage = case
    damage(_pack(scene).with_suffix(suffix))


def _pack_byte(scene: Scene, place: float) -> None:
    pack = _pack(scene)
    content = bytearray(pack.read_bytes())
    content[int(place * (len(content) - 1))] ^= 0xFF
    put(pack, bytes(content))


def _alternates(scene: Scene, content: bytes) -> None:
    put(scene.git_dir / "objects/info/alternates", content)


def _crossed(revision: str, damages: tuple[Damage, ...] = DAMAGES) -> list[tuple[str, Damage]]:
    return list(product([revision], damages))


_FEW = (gone, garbage, half)
ANSWERS, OTHERS = Reach.ANSWERS, Reach.OTHERS
NO_OBJECT = "object"

CORRUPTIONS: tuple[Corruption, ...] = (
    *variants("task blob, cold", _cold, _crossed(TASK), OTHERS, f"tasks/f2/{VICTIM}/TASK.md"),
    *variants("task blob, warm", _warm, _crossed(TASK, _FEW), OTHERS, f"tasks/f2/{VICTIM}/TASK.md"),
    *variants("history blob, cold", _cold, _crossed(HISTORY), OTHERS, f"tasks/f2/{VICTIM}/history.jsonl"),
    *variants(
        "history blob, warm", _warm, _crossed(HISTORY, _FEW), OTHERS, f"tasks/f2/{VICTIM}/history.jsonl"
    ),
    *variants("task tree, cold", _cold, _crossed(TASK_TREE), OTHERS, f"tasks/f2/{VICTIM}"),
    *variants("task tree, warm", _warm, _crossed(TASK_TREE, _FEW), OTHERS, f"tasks/f2/{VICTIM}"),
    *variants("shard tree, cold", _cold, _crossed(SHARD_TREE), ANSWERS, "tasks/f2"),
    *variants("shard tree, warm", _warm, _crossed(SHARD_TREE, _FEW), ANSWERS, "tasks/f2"),
    *variants("tasks tree, cold", _cold, _crossed(TASKS_TREE, _FEW), ANSWERS, "tasks"),
    *variants("tasks tree, warm", _warm, _crossed(TASKS_TREE, _FEW), ANSWERS, "tasks"),
    *variants("top tree, cold", _cold, _crossed(TOP_TREE), ANSWERS, NO_OBJECT),
    *variants("top tree, warm", _warm, _crossed(TOP_TREE, _FEW), ANSWERS, NO_OBJECT),
    *variants("commit, cold", _cold, _crossed(COMMIT), ANSWERS, NO_OBJECT),
    *variants("commit, warm", _warm, _crossed(COMMIT, _FEW), ANSWERS, NO_OBJECT),
    *variants("parent commit", _cold, _crossed(PARENT), finding="damaged"),
    *variants("config blob", _cold, _crossed(CONFIG), Reach.READING, "config.yaml"),
    *variants("attributes blob", _cold, _crossed(ATTRIBUTES, _FEW), finding=".gitattributes"),
    *variants(
        "objects swapped",
        _swapped,
        ((TASK, HISTORY), (TASK, COMMIT), (TASK_TREE, SHARD_TREE), (COMMIT, PARENT), (TASK, TASK_TREE)),
        ANSWERS,
    ),
    *variants(
        "pack", _packed, list(product([".pack", ".idx"], DAMAGES)), ANSWERS, NO_OBJECT, can_be_fixed=False
    ),
    *variants("pack byte", _pack_byte, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0), ANSWERS, can_be_fixed=False),
    *variants("alternates", _alternates, (b"/nothing/here\n", b"\0\xff", b"../objects\n")),
)
