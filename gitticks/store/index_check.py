"""Compares the index with one that is made anew: a value in which a bit flipped on the disk looks like any other."""

from __future__ import annotations

import contextlib
import sqlite3
from itertools import zip_longest
from typing import TYPE_CHECKING

from gitticks.store.index_database import connect, index_path, indexed_commit
from gitticks.store.tip import state_tip

if TYPE_CHECKING:
    from gitticks.git.repository import Repository

_COMPARED = ("task", "fields", "file", "conflict", "broken")


def differing_row(repository: Repository) -> str | None:
    """Returns the key of the first row of the index file that is not as the state branch has it.

    None if all are, and where there is no file, or it is of another commit than the tip: that one is brought forward.

    Raises:
        sqlite3.Error: the file cannot be read.
    """
    from gitticks.store.indexing import built_in_memory

    path, tip = index_path(repository), state_tip(repository)
    if not path.exists():
        return None
    with contextlib.closing(connect(path)) as held:
        held.execute("BEGIN")
        if indexed_commit(held) != tip:
            return None
        with contextlib.closing(built_in_memory(repository.objects, tip)) as fresh:
            return next((key for table in _COMPARED for key in _differing(table, held, fresh)), None)


def _differing(table: str, held: sqlite3.Connection, fresh: sqlite3.Connection) -> list[str]:
    query = f"SELECT * FROM {table} ORDER BY 1"  # noqa: S608 (our own words)
    for one, other in zip_longest(held.execute(query), fresh.execute(query)):
        if one != other:
            return [str((other or one)[0])]
    return []
