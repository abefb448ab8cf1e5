"""Contents that lie aside on the disk already, so that thousands of files can be put in place for one sync."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable
from pathlib import Path

from gitticks.git.disk import sync_files


class PreparedFiles:
    """Files with new content, each to be taken once.

    A process that is killed leaves some of them; whoever comes next sweeps the folder, as after any write.
    """

    def __init__(self) -> None:
        self._files: dict[bytes, list[Path]] = {}

    def add(self, folder: Path, contents: Iterable[bytes]) -> None:
        """Writes a file in `folder` for each content, and waits once until all are on disk.

        Raises:
            OSError: something could not be written; nothing is left of them.
        """
        counter = itertools.count()
        folder.mkdir(parents=True, exist_ok=True)
        try:
            for content in contents:
                path = folder / f"{os.getpid()}-many-{next(counter)}"
                self._files.setdefault(content, []).append(path)
                with path.open("xb") as file:
                    file.write(content)
            sync_files([str(path) for paths in self._files.values() for path in paths], [str(folder)])
        except OSError:
            self.drop()
            raise

    def take(self, content: bytes) -> Path | None:
        """Returns a file that holds the content and is the caller's from now on; None if there is none."""
        paths = self._files.get(content)
        return paths.pop() if paths else None

    def drop(self) -> None:
        """Removes those that nobody took."""
        for paths in self._files.values():
            for path in paths:
                path.unlink(missing_ok=True)
        self._files.clear()
