"""An index kept in memory between changes, since reading a large one takes as long as writing it.

A module of its own, since it cannot do without pygit2, which takes long to load.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pygit2
from pygit2.enums import FileMode
from pygit2.ffi import ffi

if TYPE_CHECKING:
    from gitticks.git.indexfile import IndexEntry


class KeptIndex(pygit2.Index):
    """The index in a file, to be forgotten after an exception."""

    _index = ffi.NULL  # pygit2 frees it even if it could not be opened

    def __init__(self, file: Path) -> None:
        super().__init__(str(file))
        self.file = file

    def change(self, entries: Mapping[str, Sequence[IndexEntry]]) -> bool:
        """Makes these entries all that the file says of each path; False where conflicts are or would be in it.

        It is read again where it does not hold what was written last, and written as libgit2 writes it: aside, and
        renamed.
        """
        self.read(force=False)
        staged = [entry for one in entries.values() for entry in one]
        if any(entry.stage for entry in staged) or not len(self) or self.conflicts is not None:
            return False
        for path in entries:
            if path in self:
                self.remove(path)
        for entry in staged:
            self.add(
                pygit2.IndexEntry(entry.path, pygit2.Oid(hex=entry.object_id), FileMode(int(entry.mode, 8)))
            )
        self.write()
        return True
