"""Contents that lie aside on the disk already, so that thousands of files can be put in place for one sync."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from gitticks.git.disk import load_exchange, sync_files, write_all


class PreparedFiles:
    """Files with new content, each to be taken once.

    A process that is killed leaves some of them; whoever comes next sweeps the folder, as after any write.
    """

    def __init__(self) -> None:
        self._files: dict[bytes, list[Path]] = {}

    def add(self, folder: Path, contents: Iterable[bytes]) -> None:
        """Writes a file in `folder` for each content, and waits once until all are on disk and can be put in place.

        Raises:
            OSError: something could not be written; nothing is left of them.
        """
        folder.mkdir(parents=True, exist_ok=True)
        try:
            for number, content in enumerate(contents):
                path = folder / f"{os.getpid()}-many-{number}"
                self._files.setdefault(content, []).append(path)
                _write(path, content)
            sync_files([str(path) for paths in self._files.values() for path in paths], [str(folder)])
            load_exchange()
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


def _write(path: Path, content: bytes) -> None:
    """Writes a new file; opening it as Python does asks of each whether it is a terminal, and where it begins."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        write_all(descriptor, content)
    finally:
        os.close(descriptor)
