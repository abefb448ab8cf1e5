"""The folders on the way to a checkout's files: each looked at once, and made where it is missing."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from gitticks.errors import GitticksError


class NotPlainError(GitticksError):
    """A path is a folder, a symbolic link or a device, or leads through one that is no folder."""


def not_plain(path: str) -> NotPlainError:
    """Returns the error for a path where something else than a file is, or than a folder on the way to it."""
    return NotPlainError(f"`{path}` is no plain file", hint=f"move `{path}` out of the way")


class Folders:
    """The folders below `root`, remembered as long as this lives, which is one go at a checkout.

    Whoever then finds one gone tells it by `forget`. Looking again for each of thousands of files would take longer
    than writing them.
    """

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._known = {""}

    def lead_to(self, path: str) -> bool:
        """True if the folder of the file at `path` is there; no symbolic link is followed.

        Raises:
            NotPlainError: something else is in the place of it, or of one above it.
        """
        return self._is_there(_above(path), path)

    def make(self, path: str) -> None:
        """Makes the folder of the file at `path`, and those above it, where they are missing.

        Raises:
            NotPlainError: something else is in the place of one.
        """
        if not self.lead_to(path):
            os.makedirs(f"{self._root}/{_above(path)}", exist_ok=True)  # noqa: PTH103 - strings all the way
            self._known.add(_above(path))

    def forget(self) -> None:
        """Looks at every folder anew from now on."""
        self._known = {""}

    def _is_there(self, folder: str, path: str) -> bool:
        unknown: list[str] = []
        while folder not in self._known:
            unknown.append(folder)
            folder = _above(folder)
        for one in reversed(unknown):
            try:
                mode = os.lstat(f"{self._root}/{one}").st_mode
            except FileNotFoundError:
                return False
            if not stat.S_ISDIR(mode):
                raise not_plain(path)
            self._known.add(one)
        return True


def _above(path: str) -> str:
    return path.rpartition("/")[0]
