"""Our own folder in the git directory, all of which may be deleted: records, locks, notes, hooks, and what is not ours."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from tests.faults.corruptions.corruption import (
    Corruption,
    Reach,
    dangling,
    device,
    empty,
    fifo,
    folder,
    garbage,
    gone,
    loop,
    put,
    variants,
)
from tests.faults.scene import OTHER, VICTIM, Scene

Damage = Callable[[Path], None]
RECORD: dict[str, object] = {
    "task": VICTIM,
    "role": "worker",
    "round": 1,
    "agent": "claude",
    "pid": 1,
    "start_ticks": 1,
    "boot_id": "another boot",
    "started": "2026-03-04T05:00:00+00:00",
    "workspace": "/nothing/here",
    "is_briefed": True,
}


def _own(scene: Scene, damage: Damage) -> None:
    damage(scene.own)


def _named(scene: Scene, case: tuple[str, Damage]) -> None:
    name, damage = case
    damage(scene.own / name)


def _record(scene: Scene, values: dict[str, object]) -> None:
    put(scene.own / f"sessions/{VICTIM}.json", json.dumps({**RECORD, **values}).encode())


def _record_text(scene: Scene, text: str) -> None:
    put(scene.own / f"sessions/{VICTIM}.json", text.encode("utf-8", "surrogateescape"))


def _record_file(scene: Scene, case: tuple[str, Damage]) -> None:
    name, damage = case
    _record(scene, {})
    damage(scene.own / "sessions" / name)


def _lock_note(scene: Scene, note: bytes) -> None:
    put(scene.own / "lock", note)


def _chain(scene: Scene, note: bytes) -> None:
    put(scene.own / "chain", note.replace(b"{tip}", scene.tip.encode()))


def _hook(scene: Scene, case: tuple[str, Damage]) -> None:
    name, damage = case
    damage(scene.own / "hooks" / name)


def _hook_mode(scene: Scene, mode: int) -> None:
    (scene.own / "hooks/pre-commit").chmod(mode)


def _interpreter(scene: Scene, text: str) -> None:
    put(scene.own / "hooks/interpreter", text.encode())


def _base_move(scene: Scene, text: str) -> None:
    put(scene.own / "base-move.json", text.encode())


def _foreign(scene: Scene, name: str) -> None:
    put(Path(os.fsdecode(os.fsencode(scene.own) + b"/" + os.fsencode(name))), b"foreign\n")


def _mailbox(scene: Scene, case: tuple[str, Damage]) -> None:
    """Damages the mailbox in the workspace of a task that a person took by hand."""
    name, damage = case
    assert scene.gt("start", OTHER).code == 0
    workspace = scene.path / ".gitticks-work" / OTHER
    (workspace / ".gt/outbox").mkdir(parents=True, exist_ok=True)
    damage(workspace / name)


HOOKS = ".gitticks hooks"
RECORDS: tuple[dict[str, object], ...] = (
    {"task": "../../outside"},
    {"task": "K7F2 NO ID"},
    {"task": OTHER},
    {"role": "king"},
    {"round": "many"},
    {"pid": -1},
    {"pid": 10**30},
    {"started": "yesterday"},
    {"started": "2026-03-04T05:00:00"},
    {"workspace": "\0"},
    {"boot_id": None},
    {"is_briefed": "perhaps"},
    {"given": "\0"},
    {"given": "0" * 40},
)
RECORD_TEXTS = ("", "{", "[]", "null", "5", "\udcff", "[" * 100_000, '{"task": {}}')
PLACES = (
    "sessions",
    "held",
    "drafts",
    "transcripts",
    "tmp",
    "rescue",
    "merge",
    "stop-run",
    "pauses.json",
    "workspace-hooks",
    "trust",
)
LOCKS = ("lock", "chain", "hooks.lock", "worktrees.lock", "run.lock", "merge.lock", "base.lock")
NOTES = (
    b"",
    b"garbage\n",
    b"\xff" * 100_000,
    b"{}\nmoving refs/heads/gitticks/state",
    b"{}\nmoving ../../../etc/passwd",
    b"{}\nmoving \0",
    b"[" * 4000,
)
CHAINS = (
    b'{"pid": 1}\n[1, 2, 3]\n',
    b"{}\n" + b"[" * 4000,
    b'{}\n["%s", "{tip}", "s", [1, 1, "b"], [], []]\n' % (b"a" * 40),
    b'{}\n["{tip}", "{tip}", "s", [1, 1, "b"], [], []]\n',
    b'{}\n["{tip}", 5, {}, ["x", [], null], 7, 8]\n',
    b'{}\n["../../x", "{tip}", "s", [1, 1, "b"], ["../../y"], ["\\u0000"]]\n',
)
BASE_MOVES = ("", "{", "[]", "null", "{}", '{"branch": 5}')
MAILBOX = (".gt/TASK.md", ".gt/outbox", ".gt")

CORRUPTIONS: tuple[Corruption, ...] = (
    *variants("own folder", _own, (gone,)),
    *variants(
        "own folder no folder",
        _own,
        (empty, dangling, loop, fifo),
        Reach.READING,
        ".git/gitticks",
        can_be_fixed=False,
    ),
    *variants(
        "own place",
        _named,
        [(name, damage) for name in PLACES for damage in (empty, dangling, loop, fifo)],
        Reach.ANSWERS,
    ),
    *variants("lock file", _named, [(name, damage) for name in LOCKS for damage in (gone, garbage)]),
    *variants(
        "lock no file",
        _named,
        [("lock", damage) for damage in (folder, loop, fifo, device)],
        Reach.READING,
        refusal=".git/gitticks/lock` is not a regular file",
    ),
    *variants(
        "lock no file",
        _named,
        [("run.lock", damage) for damage in (folder, loop, fifo)],
        Reach.ANSWERS,
    ),
    *variants(
        "lock no file",
        _named,
        [("worktrees.lock", folder), ("merge.lock", folder), ("base.lock", folder)],
        Reach.ANSWERS,
    ),
    *variants("lock note", _lock_note, NOTES),
    *variants("chain note", _chain, CHAINS),
    *variants(
        "chain no file",
        _named,
        [("chain", damage) for damage in (folder, loop, fifo, device)],
        Reach.READING,
        refusal=".git/gitticks/chain` is not a regular file",
    ),
    *variants("session record", _record, RECORDS, Reach.ANSWERS),
    *variants("session text", _record_text, RECORD_TEXTS, Reach.ANSWERS),
    *variants(
        "session file",
        _record_file,
        [(f"{VICTIM}.json", damage) for damage in (folder, dangling, loop, fifo, device)],
        Reach.ANSWERS,
    ),
    *variants(
        "session lock",
        _record_file,
        [
            (f"{VICTIM}.{kind}", damage)
            for kind in ("lock", "tree")
            for damage in (folder, dangling, loop, fifo)
        ],
        Reach.ANSWERS,
        can_be_fixed=False,
    ),
    *variants(
        "hook",
        _hook,
        [
            (name, damage)
            for name in ("pre-commit", "chain.sh")
            for damage in (gone, empty, garbage, folder, dangling, fifo)
        ],
        finding="hooks",
    ),
    *variants("hook mode", _hook_mode, (0o000, 0o644), finding="hooks"),
    *variants("hook interpreter", _interpreter, ("", "/nothing/python\n", "\0", "/tmp\n"), finding="hooks"),
    *variants(
        "hooks",
        _named,
        [("hooks", damage) for damage in (gone, empty, dangling, loop, folder)],
        finding="hooks",
    ),
    *variants("base move", _base_move, BASE_MOVES),
    *variants(
        "base move file",
        _named,
        [("base-move.json", damage) for damage in (folder, loop, fifo)],
        Reach.ANSWERS,
    ),
    *variants(
        "foreign name",
        _foreign,
        ("sessions/K7F2.json", "held/NO ID", "held/\udcff", "tmp/board/left", "rescue/x"),
    ),
    *variants(
        "mailbox", _mailbox, [(name, damage) for name in MAILBOX for damage in (gone, empty, dangling, fifo)]
    ),
)
