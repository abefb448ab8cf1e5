"""The board: deleted whole or in part, elsewhere, its journal and index damaged, its files no files."""

from __future__ import annotations

import json
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
    half,
    loop,
    put,
    remove,
    variants,
    zeros,
)
from tests.faults.scene import OTHER, VICTIM, Scene
from tests.support.repositories import git

Damage = Callable[[Path], None]


def _board(scene: Scene, damage: Damage) -> None:
    damage(scene.board)


def _inside(scene: Scene, path: str) -> None:
    remove(scene.board / path)


def _pointer(scene: Scene, damage: Damage) -> None:
    damage(scene.board / ".git")


def _pointer_text(scene: Scene, text: str) -> None:
    put(scene.board / ".git", text.format(path=scene.path).encode())


def _admin(scene: Scene, damage: Damage) -> None:
    damage(scene.board_git_dir)


def _admin_file(scene: Scene, case: tuple[str, Damage]) -> None:
    name, damage = case
    damage(scene.board_git_dir / name)


def _head(scene: Scene, text: str) -> None:
    put(scene.board_git_dir / "HEAD", text.format(tip=scene.tip).encode())


def _switched(scene: Scene, options: tuple[str, ...]) -> None:
    git("switch", "--quiet", *options, at=scene.board)


def _journal(scene: Scene, text: str) -> None:
    put(scene.own / "board.json", text.encode("utf-8", "surrogateescape"))


def _journal_file(scene: Scene, damage: Damage) -> None:
    damage(scene.own / "board.json")


def _journal_value(scene: Scene, values: dict[str, object]) -> None:
    before = json.loads((scene.own / "board.json").read_bytes())
    put(scene.own / "board.json", json.dumps({**before, **values}).encode())


def _file(scene: Scene, damage: Damage) -> None:
    damage(scene.board_file())


def _other_file(scene: Scene, damage: Damage) -> None:
    damage(scene.board_file(OTHER))


def _task_folder(scene: Scene, damage: Damage) -> None:
    damage(scene.board_file().parent)


def _saved(scene: Scene, content: bytes) -> None:
    put(scene.board_file(), content)


def _untracked(scene: Scene, path: str) -> None:
    put(scene.board / path, b"mine\n")


def _rebasing(scene: Scene, name: str) -> None:
    put(scene.board_git_dir / name, (scene.tip + "\n").encode())


NO_BOARD = ".gitticks"
OFF = "checked out"
NOTHING = "0123456789" * 4
ADMIN_FILES = ("HEAD", "gitdir", "commondir", "index", "config.worktree")
HEADS = (
    "",
    "garbage\n",
    "{tip}\n",
    "ref: refs/heads/main\n",
    "ref: refs/heads/nothing\n",
    "ref: ../../x\n",
    f"{NOTHING}\n",
)
JOURNALS = (
    "",
    "{",
    "[]",
    "null",
    "1",
    '"text"',
    "{}",
    '{"base": 5, "pending": [], "index": 1, "stale": 2}',
    "\udcff\udcfe",
    "[" * 5000,
)
JOURNAL_VALUES: tuple[dict[str, object], ...] = (
    {"base": NOTHING},
    {"base": "not an id"},
    {"base": 5},
    {"base": None},
    {"pending": {"../../outside": ["deferred", None, None]}},
    {"pending": {"/etc/passwd": ["deferred", None, None]}},
    {"pending": {f"tasks/f2/{VICTIM}/TASK.md": ["deferred", NOTHING, NOTHING]}},
    {"pending": {f"tasks/f2/{VICTIM}/TASK.md": ["conflict", "no id", 7]}},
    {"pending": {f"tasks/f2/{VICTIM}/TASK.md": ["unknown", None, None]}},
    {"pending": {f"tasks/f2/{VICTIM}/TASK.md": ["deferred"]}},
    {"pending": {"": ["deferred", None, None]}},
    {"pending": {"a\0b": ["deferred", None, None]}},
    {"pending": {"tasks": ["deferred", None, None]}},
)
SAVED = (
    b"",
    b"\xff\xfe",
    b"no frontmatter\n",
    b"<<<<<<< HEAD\n---\nid: k7f2\n",
    b"\0" * 100,
    b"x" * 10_000_000,
)

CORRUPTIONS: tuple[Corruption, ...] = (
    *variants("board replaced", _board, (gone,), finding=NO_BOARD),
    *variants("board replaced", _board, (empty, folder, dangling, loop, fifo), finding=NO_BOARD),
    *variants(
        "board half deleted",
        _inside,
        ("tasks", "tasks/f2", "config.yaml", ".gitattributes"),
        finding=NO_BOARD,
    ),
    *variants("board pointer", _pointer, (gone, empty, garbage, folder, dangling, fifo), finding=NO_BOARD),
    *variants(
        "board pointer text",
        _pointer_text,
        ("gitdir: /nothing\n", "gitdir: {path}/.git\n", "gitdir: \n"),
        finding=NO_BOARD,
    ),
    *variants("board git dir", _admin, (gone, empty, folder, dangling), finding=NO_BOARD),
    *variants(
        "board git dir file",
        _admin_file,
        [(name, damage) for name in ADMIN_FILES for damage in (gone, empty, garbage, folder, fifo)],
        Reach.ANSWERS,
    ),
    *variants(
        "board index",
        _admin_file,
        [("index", half), ("index", zeros), ("index.lock", empty), ("index.lock", folder)],
    ),
    *variants("board HEAD", _head, HEADS, finding=OFF),
    *variants(
        "board switched", _switched, (("--detach",), ("--create", "mine"), ("--detach", "main")), finding=OFF
    ),
    *variants("board journal", _journal, JOURNALS),
    *variants("board journal file", _journal_file, (gone, zeros, half, folder, dangling, loop, fifo, device)),
    *variants("board journal value", _journal_value, JOURNAL_VALUES),
    *variants("board file", _file, (gone, dangling, loop, folder, fifo, device), finding=f"{VICTIM}/TASK.md"),
    *variants(
        "board file of another",
        _other_file,
        (gone, dangling, folder, fifo),
        Reach.ANSWERS,
        f"{OTHER}/TASK.md",
    ),
    *variants("board task folder", _task_folder, (gone, empty, dangling, fifo, loop), finding=VICTIM),
    *variants("board saved", _saved, SAVED, finding=f"{VICTIM}/TASK.md"),
    *variants("board untracked", _untracked, ("notes.txt", "tasks/zz/TASK.md", "tasks/f2/new1/TASK.md")),
    *variants(
        "board in a merge", _rebasing, ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge/head")
    ),
)
