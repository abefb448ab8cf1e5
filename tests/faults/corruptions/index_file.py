"""The query index, which is never the truth: whatever becomes of it, every command works as before."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
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
    variants,
    zeros,
)
from tests.faults.scene import Scene

PAGE = 4096
DAMAGED = "index"


def _file(scene: Scene, make: Callable[[Path], None]) -> None:
    make(scene.index)


def _truncate(scene: Scene, size: int) -> None:
    content = scene.index.read_bytes()
    put(scene.index, content[:size])


def _zero_page(scene: Scene, page: int) -> None:
    content = bytearray(scene.index.read_bytes())
    content[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
    put(scene.index, bytes(content))


def _random_bytes(scene: Scene, seed: int) -> None:
    draw = random.Random(seed)
    content = bytearray(scene.index.read_bytes())
    for _ in range(2 ** (seed % 10)):
        content[draw.randrange(len(content))] = draw.randrange(256)
    put(scene.index, bytes(content))


def _statement(scene: Scene, statement: str) -> None:
    with closing(sqlite3.connect(scene.index, isolation_level=None)) as connection:
        for one in statement.split(";"):
            connection.execute(one)


def _journal(scene: Scene, content: bytes) -> None:
    put(scene.index.with_name("index.sqlite3-journal"), content)


def _mode(scene: Scene, mode: int) -> None:
    scene.index.chmod(mode)


def _held(scene: Scene, make: Callable[[Path], None]) -> None:
    make(scene.index.with_name("index.sqlite3-journal"))


OTHER_SCHEMAS = (
    "DROP TABLE task",
    "DROP TABLE state",
    "DROP TABLE fields",
    "DROP TABLE file",
    "DROP TABLE broken",
    "ALTER TABLE task RENAME COLUMN title TO text",
    "ALTER TABLE task DROP COLUMN questions",
    "ALTER TABLE task ADD COLUMN another TEXT",
    "DROP TABLE task; CREATE VIEW task AS SELECT 1 AS id",
    "DROP TABLE state; CREATE TABLE state (only INTEGER, made_by TEXT, commit_id BLOB)",
    "UPDATE state SET made_by = 'another version'",
    "UPDATE state SET commit_id = '0000000000000000000000000000000000000000', made_by = made_by",
    "UPDATE state SET commit_id = x'00ff'",
    "UPDATE state SET commit_id = 'main'",
    "DELETE FROM state",
)
WRONG_ROWS = (
    "UPDATE fields SET json = 'no json'",
    "UPDATE fields SET json = '{}'",
    "UPDATE fields SET json = '[1, 2'",
    "UPDATE fields SET json = x'ff00fe'",
    "UPDATE fields SET json = replace(json, 'pending', 'asleep')",
    "UPDATE fields SET json = '[]' WHERE id = 'q8xy'",
    "UPDATE task SET status = 'asleep'",
    "UPDATE task SET priority = 'high', born = 5",
    "UPDATE task SET is_workable = NULL",
    "UPDATE task SET is_begun = 'x'",
    "UPDATE task SET claimed = 'nonsense'",
    "UPDATE task SET body_start = 100000",
    "UPDATE task SET body_start = 'x', label_list = 5",
    "UPDATE task SET label_list = 'none'",
    "UPDATE task SET questions = 'no json'",
    "UPDATE task SET id = x'00' WHERE id = 'k7f2'",
    "UPDATE file SET data = 'no frontmatter'",
    "UPDATE file SET data = x'ff'",
    "UPDATE file SET history = x'ff0a'",
    "UPDATE task SET title = x'ff'",
    "INSERT INTO broken VALUES (x'ff', 'NO ID', x'ff')",
)

CORRUPTIONS: tuple[Corruption, ...] = (
    *variants("index replaced", _file, (gone, empty, zeros)),
    *variants("index replaced", _file, (garbage, half), finding=DAMAGED),
    *variants("index no file", _file, (folder, dangling, loop, fifo, device), finding=DAMAGED),
    *variants("index truncated", _truncate, (1, 16, 99, 1000, PAGE - 1)),
    *variants("index truncated", _truncate, (PAGE, 2 * PAGE, 3 * PAGE + 7, 6 * PAGE), finding=DAMAGED),
    *variants("index page zeroed", _zero_page, range(13)),
    *variants("index bytes", _random_bytes, range(12)),
    *variants("index schema", _statement, OTHER_SCHEMAS),
    *variants("index rows", _statement, WRONG_ROWS),
    *variants("index journal", _journal, (b"", b"garbage", bytes(5000))),
    *variants("index journal no file", _held, (folder, dangling, fifo)),
    *variants("index mode", _mode, (0o000, 0o444, 0o222)),
)
assert all(one.reach is Reach.ALL for one in CORRUPTIONS)
